"""Every filter case that was run through dolma 1.2.1: same outcome, or a difference we chose."""

from __future__ import annotations

from collections import Counter

import pytest
from dolma_probes import DIFFERENCES, FAILS, FAMILIES, REFUSED, read_probes

from mixle_assets.errors import EvaluationError, ExpressionError
from mixle_assets.mixing.filters import compile_rules

PROBES = read_probes()


def outcome(probe):
    try:
        rules = compile_rules(probe.include, probe.exclude, syntax=probe.syntax)
        return rules.judge(probe.document).keep
    except ExpressionError:
        return REFUSED
    except EvaluationError:
        return FAILS


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_the_outcome_is_dolmas_or_a_difference_we_chose(probe):
    ours = outcome(probe)
    chosen = DIFFERENCES.get(probe.name)

    if chosen is not None:
        assert ours == chosen.outcome
        # a difference that is none would hide a later change
        assert (ours if isinstance(ours, bool) else None) != probe.dolma or probe.dolma is None
    elif probe.dolma is None:
        assert ours in (REFUSED, FAILS)
    else:
        assert ours is probe.dolma


def test_no_case_is_left_out_and_every_difference_is_a_case():
    counts = Counter(
        next(family for family in reversed(FAMILIES) if probe.name.startswith(family)) for probe in PROBES
    )

    assert counts == {"jp_": 144, "jpr_": 76, "ie_": 16, "jq_": 197, "x_jq_": 10, "recipe_": 109}
    assert sum(counts.values()) == 552
    assert set(DIFFERENCES) <= {probe.name for probe in PROBES}
    assert len(DIFFERENCES) == 57
