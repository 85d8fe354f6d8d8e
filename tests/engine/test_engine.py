import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mixle_assets.engine import Engine, ProcessEngine, SerialEngine, open_engine
from mixle_assets.errors import InputError, ShardError

ENGINES = [SerialEngine(), ProcessEngine(1), ProcessEngine(3)]


def square(number: int) -> int:
    return number * number


def fail_on_three(number: int) -> int:
    if number == 3:
        raise InputError("bad row", path="a.jsonl", line=7, document_id="x")
    if number == 4:
        raise ZeroDivisionError("a fault of ours")
    return number


def die_on_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_once(path: str) -> str:
    if not Path(path).exists():
        Path(path).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def sleep_and_touch(path: str) -> None:
    Path(path).with_suffix(".started").touch()
    time.sleep(2)
    Path(path).touch()


@pytest.mark.parametrize("engine", ENGINES)
def test_every_item_is_run_once(engine: Engine) -> None:
    outcomes = list(engine.run(square, range(20)))

    assert sorted((o.index, o.result) for o in outcomes) == [(n, n * n) for n in range(20)]


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_comes_back_whole_and_the_others_go_on(engine: Engine) -> None:
    outcomes = {o.index: o for o in engine.run(fail_on_three, range(6))}

    assert [outcomes[n].result for n in (0, 1, 2, 5)] == [0, 1, 2, 5]
    assert str(outcomes[3].error) == "a.jsonl:7: document 'x': bad row"
    assert isinstance(outcomes[3].error, InputError)
    assert "unexpected ZeroDivisionError: a fault of ours" in str(outcomes[4].error)
    assert "fail_on_three" in str(outcomes[4].error)


def test_a_killed_worker_costs_only_its_item() -> None:
    outcomes = {o.index: o for o in ProcessEngine(2).run(die_on_two, range(6))}

    assert [outcomes[n].result for n in (0, 1, 3, 4, 5)] == [0, 1, 3, 4, 5]
    assert isinstance(outcomes[2].error, ShardError)
    assert "was killed by SIGKILL, 2 times" in str(outcomes[2].error)


def test_an_item_whose_worker_was_killed_once_is_tried_again(tmp_path: Path) -> None:
    (outcome,) = ProcessEngine(1).run(die_once, [str(tmp_path / "seen")])

    assert outcome.result == "done"


def test_closing_the_iterator_stops_the_workers(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{n}.done") for n in range(2)]
    running = ProcessEngine(3).run(_touch_or_sleep, [str(tmp_path / "quick"), *paths])
    next(running)
    running.close()  # type: ignore[attr-defined]

    time.sleep(2.5)
    assert not any(Path(path).exists() for path in paths)


def _touch_or_sleep(path: str) -> None:
    if path.endswith("quick"):
        while len(list(Path(path).parent.glob("*.started"))) < 2:
            time.sleep(0.01)
    else:
        sleep_and_touch(path)


def own_process(number: int) -> int:
    return os.getpid()


def test_an_open_engine_keeps_its_workers_until_it_is_closed() -> None:
    engine = ProcessEngine(2)
    with engine:
        first = {o.result for o in engine.run(own_process, range(8))}
        second = {o.result for o in engine.run(own_process, range(8))}
    assert second <= first
    assert len(first) <= 2
    for pid in first:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert {o.result for o in engine.run(own_process, range(2))}.isdisjoint(first)


def test_workers_end_with_a_killed_parent(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_engine import sleep_and_touch\n"
        "from mixle_assets.engine import ProcessEngine\n"
        "list(ProcessEngine(1).run(sleep_and_touch, [sys.argv[2]]))\n"
    )
    path = tmp_path / "item.done"
    parent = subprocess.Popen([sys.executable, "-c", program, str(Path(__file__).parent), str(path)])
    while not path.with_suffix(".started").exists():
        time.sleep(0.02)
    parent.kill()
    parent.wait()

    time.sleep(2.5)
    assert not path.exists()


def test_an_unknown_engine_and_no_workers_are_refused() -> None:
    with pytest.raises(ValueError, match="got 'spark'"):
        open_engine("spark")
    with pytest.raises(ValueError, match="workers must be positive, got 0"):
        open_engine("processes", 0)
