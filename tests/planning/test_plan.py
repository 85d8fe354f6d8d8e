from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixle_assets.errors import InputError
from mixle_assets.planning import (
    InputFile,
    Layout,
    ShardPlan,
    extend_plan,
    plan_exists,
    plan_shards,
    read_plan,
    write_plan,
)


def files(**sizes: int) -> list[InputFile]:
    return [
        InputFile(path=f"/in/documents/{name}.gz", size_in_bytes=size, modified=0)
        for name, size in sizes.items()
    ]


def members(plan: ShardPlan) -> dict[str, list[str]]:
    return {shard.key: [file.name for file in shard.files] for shard in plan.shards}


def test_a_shard_closes_when_the_next_file_would_exceed_the_limit() -> None:
    plan = plan_shards({"s": files(a=4, b=6, c=1, d=20, e=1)}, max_size_in_bytes={"s": 10})

    assert members(plan) == {
        "s/0000": ["a.gz", "b.gz"],  # equal fits
        "s/0001": ["c.gz"],
        "s/0002": ["d.gz"],  # above the limit: alone
        "s/0003": ["e.gz"],
    }


def test_empty_files_are_planned_like_others() -> None:
    plan = plan_shards({"s": files(a=0, b=0, c=3)}, max_size_in_bytes={"s": 10})

    assert members(plan) == {"s/0000": ["a.gz", "b.gz", "c.gz"]}


def test_one_shard_per_file_on_request() -> None:
    plan = plan_shards({"s": files(a=0, b=2)}, max_size_in_bytes={"s": 10}, one_per_file=True)

    assert members(plan) == {"s/0000": ["a.gz"], "s/0001": ["b.gz"]}


def test_new_files_come_after_all_old_shards_which_stay_as_they_are() -> None:
    limits = {"s": 10, "t": 10}
    plan = plan_shards({"s": files(b=2), "t": files(x=1)}, max_size_in_bytes=limits)
    grown = extend_plan(plan, {"s": files(a=1, b=2), "t": files(x=1)}, max_size_in_bytes=limits)

    assert grown.shards[:2] == plan.shards
    assert members(grown) == {"s/0000": ["b.gz"], "t/0000": ["x.gz"], "s/0001": ["a.gz"]}
    assert extend_plan(grown, {"s": files(a=1, b=2), "t": files(x=1)}, max_size_in_bytes=limits) == grown


def test_a_planned_file_that_is_gone_is_an_error() -> None:
    plan = plan_shards({"s": files(a=1, b=2)}, max_size_in_bytes={"s": 10})

    with pytest.raises(InputError, match=r"/in/documents/a\.gz: was planned for stream 's' but is gone"):
        extend_plan(plan, {"s": files(b=2)}, max_size_in_bytes={"s": 10})


def test_provenance_names_are_paths_below_documents_and_never_equal() -> None:
    paths = [
        "/x/en/0000.gz",
        "/x/fr/0000.gz",
        "/d/documents/a/documents/wiki/1.gz",
        "/d/documents/wiki/1.gz",
        "/y/z.gz",
    ]
    inputs = {"s": [InputFile(path=path, size_in_bytes=1, modified=0) for path in paths]}
    plan = plan_shards(inputs, max_size_in_bytes={"s": 100})

    assert [file.name for file in plan.shards[0].files] == [
        "en/0000.gz",
        "fr/0000.gz",
        "a/documents/wiki/1.gz",
        "d/documents/wiki/1.gz",
        "z.gz",
    ]


def test_one_file_in_two_streams_keeps_one_name_and_gets_two_attribute_files() -> None:
    plan = plan_shards({"s": files(a=1), "t": files(a=1)}, max_size_in_bytes={"s": 10, "t": 10})
    layout = Layout(root="/r", slug="x")
    (s, t) = plan.shards

    assert s.files[0].name == t.files[0].name == "a.gz"
    assert layout.attributes("q", "s", s.files[0]) == "/r/x/attributes/q/s/a.gz"
    assert layout.attributes("q", "t", t.files[0]) == "/r/x/attributes/q/t/a.gz"


def test_sourced_documents_have_dolmas_attribute_layout() -> None:
    inputs = {"prose": [InputFile(path="/r/x/documents/prose/0000.jsonl.gz", size_in_bytes=1, modified=0)]}
    plan = plan_shards(inputs, max_size_in_bytes={"prose": 10})
    (file,) = plan.shards[0].files

    assert file.name == "prose/0000.jsonl.gz"
    assert Layout("/r", "x").attributes("q", "prose", file) == "/r/x/attributes/q/prose/0000.jsonl.gz"


def test_a_plan_survives_a_move_of_root_and_recipe(tmp_path: Path) -> None:
    layout = Layout(root=str(tmp_path / "corpora"), slug="x")
    inputs = {
        "made": [InputFile(path=f"{layout.folder}/documents/made/0.gz", size_in_bytes=1, modified=2)],
        "given": [InputFile(path=str(tmp_path / "recipes/in/documents/1.gz"), size_in_bytes=1, modified=2)],
        "remote": [InputFile(path="s3://bucket/documents/2.gz", size_in_bytes=1, modified="etag")],
    }
    plan = plan_shards(inputs, max_size_in_bytes=dict.fromkeys(inputs, 10))
    assert not plan_exists(layout)
    write_plan(layout, plan, recipe_folder=str(tmp_path / "recipes"))
    assert plan_exists(layout)
    assert read_plan(layout, recipe_folder=str(tmp_path / "recipes")) == plan

    (tmp_path / "corpora").rename(tmp_path / "elsewhere")
    moved = read_plan(Layout(str(tmp_path / "elsewhere"), "x"), recipe_folder="/r")
    assert [file.path for shard in moved.shards for file in shard.files] == [
        f"{tmp_path}/elsewhere/x/documents/made/0.gz",
        "/r/in/documents/1.gz",
        "s3://bucket/documents/2.gz",
    ]


def test_a_damaged_plan_is_refused_by_name(tmp_path: Path) -> None:
    layout = Layout(root=str(tmp_path), slug="x")
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "plan.json").write_text('{"version": 1, "shards": [{')

    with pytest.raises(InputError, match=r"plan\.json: is not a plan"):
        read_plan(layout, recipe_folder="")


sizes = st.lists(st.integers(0, 30), max_size=12)


@given(first=sizes, later=sizes, limit=st.integers(0, 40))
@settings(deadline=None)
def test_a_plan_keeps_every_file_once_in_order_and_only_grows(
    first: list[int], later: list[int], limit: int
) -> None:
    old = [
        InputFile(path=f"/documents/{i:03d}", size_in_bytes=size, modified=0) for i, size in enumerate(first)
    ]
    new = [
        InputFile(path=f"/documents/{i:03d}x", size_in_bytes=size, modified=0) for i, size in enumerate(later)
    ]
    plan = plan_shards({"s": old}, max_size_in_bytes={"s": limit})
    grown = extend_plan(plan, {"s": sorted(old + new, key=lambda f: f.path)}, max_size_in_bytes={"s": limit})

    assert [file.path for shard in plan.shards for file in shard.files] == [file.path for file in old]
    assert [file.path for shard in grown.shards for file in shard.files] == [f.path for f in [*old, *new]]
    assert grown.shards[: len(plan.shards)] == plan.shards
    for shard in grown.shards:
        assert len(shard.files) == 1 or sum(file.size_in_bytes for file in shard.files) <= limit
