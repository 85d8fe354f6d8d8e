"""Running asset checks on what is built; which there are stands in ``guarantees``.

The looking is done by a ``find_`` function in the ``verify`` module of the stage; here it is given the right
files. The graph and the command line run the same table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

from mixle_assets import storage
from mixle_assets.engine import Engine, SerialEngine
from mixle_assets.errors import InputError, MixleError
from mixle_assets.manifest import Manifest, digest_of
from mixle_assets.pipeline.asking import ask_all
from mixle_assets.pipeline.asset_check import SHOWN_VIOLATIONS, Check, CheckOutcome
from mixle_assets.pipeline.guarantees import CHECKS
from mixle_assets.pipeline.load import LoadedRecipe
from mixle_assets.pipeline.run import OnProgress, ignore_progress
from mixle_assets.pipeline.stages import STAGES
from mixle_assets.pipeline.work import Work, read_manifest
from mixle_assets.records import Violation


def checks_of(loaded: LoadedRecipe) -> list[Check]:
    """Return the checks of what a recipe has."""
    return [check for check in CHECKS if STAGES[check.stage].is_in(loaded) and check.applies(loaded)]


def find_built(
    loaded: LoadedRecipe, stage_name: str, keys: Iterable[str] | None = None
) -> dict[str, Sequence[Work]]:
    """Return the work of each partition of a stage whose outputs all have a manifest.

    Args:
        loaded: The recipe.
        stage_name: The stage.
        keys: Partitions to look at; None looks at all.
    """
    return {key: built.works for key, built in _find_built(loaded, stage_name, keys).items()}


@dataclass(frozen=True)
class _Built:
    """A partition that is whole: its work, and the manifests of all outputs of it."""

    works: Sequence[Work]
    manifests: Sequence[Manifest]


def _find_built(
    loaded: LoadedRecipe, stage_name: str, keys: Iterable[str] | None = None
) -> dict[str, _Built]:
    stage = STAGES[stage_name]
    if stage.partitions == "shard" and not loaded.is_planned:
        return {}
    wanted = None if keys is None else set(keys)
    asked = [key for key in stage.keys(loaded) if wanted is None or key in wanted]

    def look(key: str) -> _Built | None:
        try:
            works = stage.find_work(loaded, key)
        except MixleError:
            return None  # an input is not built, so this partition is not either
        manifests = []
        for output in (output for work in works for output in work.outputs):
            manifest = read_manifest(output.path)
            if manifest is None:
                return None
            manifests.append(manifest)
        return _Built(works, manifests)

    found = zip(asked, ask_all(loaded, look, asked), strict=True)
    return {key: built for key, built in found if built is not None}


def run_check(
    loaded: LoadedRecipe,
    check: Check,
    *,
    keys: Iterable[str] | None = None,
    engine: Engine | None = None,
    skip_verified: bool = False,
) -> CheckOutcome:
    """Run one check on built partitions.

    Args:
        loaded: The recipe.
        check: Which.
        keys: Partitions to look at; None looks at all that are built. One that is not built is passed over.
        engine: Where to look; None looks in this process.
        skip_verified: Pass over partitions that passed before in the same content.

    Raises:
        MixleError: A bug in the check; broken data is a violation.
    """
    if check.scope == "whole":
        every = _find_built(loaded, check.stage).values()
        works = [work for one in every for work in one.works]
        built = {"": _Built(works, [manifest for one in every for manifest in one.manifests])}
    else:
        built = _find_built(loaded, check.stage, keys)
    chosen = list(built)
    digests = {
        key: digest_of_contents([content_of(manifest) for manifest in one.manifests])
        for key, one in built.items()
    }
    ledger = _Ledger(loaded, check)
    to_do = [key for key in chosen if not (skip_verified and ledger.passed.get(key) == digests[key])]
    first = STAGES[check.stage].keys(loaded)[:1] if to_do and check.one_in > 1 else ()
    looked_at = [key for key in to_do if check.samples(key) or key in first]
    ledger.passed |= {key: digests[key] for key in set(to_do).difference(looked_at)}
    num_violations = 0
    shown: list[Violation] = []
    # The plan stays here: with it each of n looks would carry n shards to its worker.
    without_plan = replace(loaded)
    looks = [_Look(without_plan, check.stage, check.name, built[key].works) for key in looked_at]
    for ended in (engine or SerialEngine()).run(_look, looks):
        key = looked_at[ended.index]
        if isinstance(ended.error, InputError):
            found = [
                Violation(
                    where=f"{check.stage} {key}", expected="data that can be read", found=str(ended.error)
                )
            ]
            number = 1
        elif ended.error is not None:
            raise ended.error
        else:
            number, found = cast(tuple[int, list[Violation]], ended.result)
        if number == 0:
            ledger.passed[key] = digests[key]
        else:
            ledger.passed.pop(key, None)
        num_violations += number
        shown += found
    ledger.write()
    shown.sort(key=lambda violation: violation.where)
    return CheckOutcome(
        check.name,
        check.stage,
        check.severity,
        tuple(to_do),
        len(chosen) - len(to_do),
        num_violations,
        tuple(shown[:SHOWN_VIOLATIONS]),
    )


def run_checks(
    loaded: LoadedRecipe,
    *,
    engine: Engine | None = None,
    skip_verified: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> list[CheckOutcome]:
    """Run all checks of a recipe on all that is built."""
    checks = checks_of(loaded)
    outcomes = []
    on_progress("checks", 0, len(checks))
    for number, check in enumerate(checks, start=1):
        outcomes.append(run_check(loaded, check, engine=engine, skip_verified=skip_verified))
        on_progress("checks", number, len(checks))
    return outcomes


@dataclass(frozen=True)
class _Look:
    loaded: LoadedRecipe
    stage: str
    check: str
    works: Sequence[Work]


def _look(look: _Look) -> tuple[int, list[Violation]]:
    """Run one check on one partition; in a worker. Returns the number of violations and the first of them."""
    check = next(
        check for check in checks_of(look.loaded) if (check.stage, check.name) == (look.stage, look.check)
    )
    violations = iter(check.find(look.loaded, look.works))
    shown = list(itertools.islice(violations, SHOWN_VIOLATIONS))
    return len(shown) + sum(1 for _ in violations), shown


def content_of(manifest: Manifest) -> list[Any]:
    """Return what a check depends on in one output: what it holds, and what it was made from and by."""
    return [
        manifest.content_digest,
        manifest.file_hash,
        manifest.fingerprint,
        sorted(_digests(manifest.inputs)),
    ]


def digest_of_contents(contents: Sequence[list[Any]]) -> str:
    """Return the digest of a partition's outputs, by which its check is remembered."""
    return digest_of(list(contents))


def passed_before(loaded: LoadedRecipe, check: Check) -> dict[str, str]:
    """Return the partitions that passed a check, each with the digest of what was looked at."""
    return _Ledger(loaded, check).passed


def _digests(inputs: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, stamp in inputs.items():
        yield [name, stamp.digest]


class _Ledger:
    """Which partitions passed a check in which content, so that a build that rebuilds nothing is quick."""

    def __init__(self, loaded: LoadedRecipe, check: Check) -> None:
        self._path = storage.join(
            loaded.layout.folder, "checks", f"{check.stage}.{check.name}-{check.version}.json"
        )
        self.passed: dict[str, str] = {}
        if storage.exists(self._path):
            self.passed = orjson.loads(storage.read_bytes(self._path))
        self._before = dict(self.passed)

    def write(self) -> None:
        """Write the ledger if it changed."""
        if self.passed != self._before:
            with storage.write_whole(self._path) as file:
                file.write(orjson.dumps(self.passed, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2))
