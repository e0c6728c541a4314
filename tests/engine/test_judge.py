"""How a judge's process ends tells whose fault it is: the task's when its code leaves, the machine's otherwise."""

from __future__ import annotations

import pytest
from kengine import Engine, Plan, TaskError, tasks
from kengine.engine.screen import screen
from kengine.errors import WorkerLost
from toy_items import GOOD, TASK, item


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=Plan(cases=2), workers=1) as engine:
        yield engine


def ending(statement, top=""):
    return TASK.replace("    return x + y", f"    import os, signal, sys\n    {statement}\n    return x + y") + top


@pytest.mark.parametrize("code", [0, 1, 3, 255])
def test_a_task_that_ends_the_judge_by_itself_is_a_broken_task(engine, code) -> None:
    broken = ending(f"os._exit({code})")
    with pytest.raises(TaskError, match=rf"^task 'task': the task's code ended .* exit status {code} during 'open'"):
        engine.verify(item(GOOD, broken))
    assert engine.verify(item(GOOD)).status == "passed"


def test_so_is_one_whose_source_does(engine) -> None:
    with pytest.raises(TaskError, match="exit status 4 during 'open'"):
        engine.verify(item(GOOD, ending("pass", top="\nimport os\nos._exit(4)\n")))


def test_so_is_one_that_does_it_in_the_sandbox_of_a_task_with_its_candidate(engine) -> None:
    with pytest.raises(TaskError, match="exit status 5 during 'open'"):
        engine.verify(tasks.parse(ending("os._exit(5)") + GOOD, "both.py"))


def test_so_is_one_that_does_it_at_any_later_call(engine) -> None:
    told = []
    for calls in range(60):
        top = f"import os\ncalls = iter(range({calls}))"
        late = top + TASK.replace("    return x + y", "    if next(calls, None) is None: os._exit(6)\n    return x + y")
        try:
            assert engine.verify(item(GOOD, late)).status == "passed"
            break
        except TaskError as error:
            told.append(str(error))
    assert all(m.startswith("task 'task': the task's code ended the judge's process with exit status 6") for m in told)
    assert {m.split("'")[-2] for m in told} > {"open"}, told


def test_in_a_batch_the_others_are_judged(engine) -> None:
    items = [item(GOOD), item(GOOD, ending("os._exit(0)")), item(GOOD, ending("sys.exit(0)")), item(GOOD)]
    found = list(engine.verify_many(items, return_exceptions=True))
    assert [getattr(f, "status", type(f).__name__) for f in found] == ["passed", "TaskError", "TaskError", "passed"]
    assert "SystemExit: 0" in str(found[2])


@pytest.mark.parametrize("name", ["SIGKILL", "SIGSEGV"])
def test_a_signal_remains_the_machine_s(engine, name) -> None:
    with pytest.raises(WorkerLost, match="the judge died during 'open'"):
        engine.verify(item(GOOD, ending(f"os.kill(os.getpid(), signal.{name})")))
    assert engine.verify(item(GOOD)).status == "passed"


def test_so_does_a_failure_of_kengine_in_the_fork(engine) -> None:
    with pytest.raises(WorkerLost, match="the judge died during 'open'"):
        engine.verify(item(GOOD, ending("os._exit(70)")))


@pytest.mark.parametrize(("end", "check"), [("os._exit(0)", "crash"), ("raise KeyboardInterrupt", "broken")])
def test_a_screening_has_a_finding_for_each(end, check) -> None:
    (report,) = screen([tasks.parse_task(ending(end))], plan=Plan(cases=2))
    assert [f.check for f in report.findings] == [check]
