"""A task whose own code has no end, or no measure, is a broken task: told within its time, with the place, and nothing
of it is left."""

from __future__ import annotations

import time

import pytest
from kengine import Engine, Limits, Plan, TaskError, tasks
from kengine.engine.screen import PATIENCE, screen
from toy_items import GOOD, TASK, descendants, item, settled

SECONDS = 3.0
PLAN = Plan(
    cases=2,
    task_timeout_s=SECONDS,
    task_memory_bytes=1 << 29,
    ignore=("K",),
    limits=Limits(memory_bytes=1 << 28, processes=64),
)
ENDLESS = {
    "a loop": "while True: pass",
    "a sleep": "__import__('time').sleep(10**6)",
    "a loop of a library": "__import__('re').match('(a+)+$', 'a' * 64 + 'b')",
    "a process": "__import__('subprocess').run(['sleep', '1000'])",
    "a process that has left": "__import__('subprocess').run(['setsid', 'sleep', '1000'])",
    "printing": "while True: print('x' * 10**6)",
}
MODULE = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        while True: pass
    def forward(self, x):
        return x + x
def get_inputs():
    return [torch.randn(8)]
def get_init_inputs():
    return []
"""


def broken(where: str, statement: str) -> str:
    """The toy task with a statement in front of its draw or its answer, or in its source."""
    if where == "import":
        return f"{TASK}\n{statement}\n"
    front = {"make_inputs": "    draw = np", "reference": "    return x + y"}[where]
    return TASK.replace(front, f"    {statement}\n{front}")


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=PLAN, workers=1) as engine:
        yield engine


@pytest.fixture
def told(engine):
    """What is said of an item within its time; afterwards nothing is left of it, and a good one is judged."""
    for good in (item(GOOD), tasks.parse(TASK + GOOD, "both.py")):
        assert engine.verify(good).passed
    before = len(descendants())

    def tell(one) -> str:
        begun = time.monotonic()
        with pytest.raises(TaskError) as raised:
            engine.verify(one)
        assert time.monotonic() - begun < SECONDS + 5
        assert engine.verify(item(GOOD)).passed
        assert settled(before), f"left running: {len(descendants()) - before}"
        return str(raised.value)

    return tell


LIMIT = f"its reference and inputs were not done within {SECONDS:g} s; make the cases smaller, or raise timeout_s in"


@pytest.mark.parametrize("what", list(ENDLESS))
def test_a_reference_without_end(told, what) -> None:
    assert told(item(GOOD, broken("reference", ENDLESS[what]))).startswith(
        f"task 'task' (task.py:5 in reference): {LIMIT}"
    )


@pytest.mark.parametrize(("where", "place"), [("make_inputs", "8 in make_inputs"), ("import", "11 in <module>")])
def test_or_something_else_of_it(told, where, place) -> None:
    assert f"(task.py:{place}): {LIMIT}" in told(item(GOOD, broken(where, "while True: pass")))


@pytest.mark.parametrize("where", ["make_inputs", "reference"])
@pytest.mark.parametrize("what", ["a loop", "a loop of a library", "a process that has left"])
def test_in_the_sandbox_of_a_task_that_came_with_its_candidate(told, where, what) -> None:
    message = told(tasks.parse(broken(where, ENDLESS[what]) + GOOD, "both.py"))
    assert message.startswith("task 'both' (both.py:") and f" in {where}): {LIMIT}" in message


def test_a_model_that_is_never_built(engine, request) -> None:
    pytest.importorskip("torch")
    with pytest.raises(TaskError):  # starts what tasks with torch need
        engine.verify(item(GOOD, "import torch\n" + broken("import", "1 / 0")))
    told = request.getfixturevalue("told")
    model = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return x + x\n"
    assert f"(task.py:6 in __init__): {LIMIT}" in told(tasks.parse(model, "candidate.py", task_text=MODULE))


def test_a_task_s_own_time_takes_the_place_of_the_plan_s(told) -> None:
    block = "# /// kengine\n# timeout_s = 0.5\n# ///\n"
    message = told(item(GOOD, block + broken("reference", "while True: pass")))
    assert "not done within 0.5 s" in message and "task.py:8 in reference" in message


def test_a_second_request_that_has_no_end(told) -> None:
    count = "import itertools\ncalls = itertools.count()\n"
    for calls in range(12, 40, 4):
        text = count + broken("reference", f"while next(calls) >= {calls}: calls = itertools.repeat({calls})")
        text = text.replace("def reference(x, y):\n", "def reference(x, y):\n    global calls\n")
        assert f" in reference): {LIMIT}" in told(item(GOOD, text))


@pytest.mark.parametrize(
    "statement",
    [
        "np.ones(1 << 38)",
        "kept = [b'x' * (1 << 24) for _ in range(256)]",
    ],
)
@pytest.mark.parametrize("where", ["make_inputs", "reference"])
def test_more_memory_than_there_is(told, statement, where) -> None:
    message = told(item(GOOD, broken(where, statement)))
    assert message == (
        "task 'task': its code, or what the judge computes with it, wants more memory than there is (0.5 GiB, the "
        "plan's task_memory_bytes); make its cases smaller"
    )
    message = told(tasks.parse(broken(where, statement) + GOOD, "both.py"))
    assert message.startswith("task 'both': ") and "limits.memory_bytes" in message


def test_beside_other_tasks_it_is_tried_alone_first(engine) -> None:
    """What a judge keeps for other tasks may be in the way: only one that is alone is to blame."""
    for n in range(3):
        assert engine.verify(item(GOOD, TASK + f"\nother = {n}\n")).passed
    with pytest.raises(TaskError, match="wants more memory than there is"):
        engine.verify(item(GOOD, broken("reference", "np.ones(1 << 38)")))


BOMB = """
import os, time
def burst():
    for _ in range(90):
        if os.fork() == 0:
            if os.fork() == 0: os.setsid()
            time.sleep(1000)
"""


@pytest.mark.parametrize(
    ("then", "said"), [("while True: pass", "not done within"), ("pass", "90 processes running, and 64 may be")]
)
def test_many_processes(told, then, said) -> None:
    message = told(item(GOOD, BOMB + broken("import", f"burst()\n{then}")))
    assert message.startswith("task 'task'") and said in message


def test_many_processes_in_a_sandbox(told) -> None:
    text = BOMB + broken("make_inputs", "burst()\n    while True: pass") + GOOD
    assert told(tasks.parse(text, "both.py")).startswith("task 'both'")


def test_much_output_is_no_fault_and_is_not_kept(engine) -> None:
    text = TASK + "\nfor _ in range(100): print('x' * (1 << 20))\n"
    verdict = engine.verify(item(GOOD, text))
    assert verdict.passed and "xxxx" not in verdict.log


def test_a_screening_has_a_finding_with_the_place_and_goes_on() -> None:
    plan = Plan(cases=1, task_timeout_s=0.5, task_memory_bytes=1 << 30)
    texts = [broken("reference", "while True: pass"), broken("make_inputs", "np.ones(1 << 38)"), TASK]
    before = len(descendants())
    slow, large, good = screen([tasks.parse_task(text) for text in texts], plan=plan)
    (found,) = slow.findings
    assert (found.check, found.severity, found.line) == ("slow", "error", 5)
    assert f"5 in reference: its reference and inputs were not done within {PATIENCE * 0.5:g} s" in found.message
    assert [f.check for f in large.findings] == ["broken"] and "task_memory_bytes" in large.findings[0].message
    assert not good.refused
    assert settled(before)
