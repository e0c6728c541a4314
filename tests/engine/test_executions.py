"""What a runner says about its calls is read as data; whatever no runner sends is the candidate's tampering."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from kengine import codec
from kengine.config import Plan
from kengine.engine.device import Device
from kengine.engine.executions import Execution
from kengine.errors import CandidateFault
from kengine.model import (
    Artifact,
    Candidate,
    Case,
    CaseView,
    Comparison,
    Launch,
    Mode,
    SourceFile,
    Target,
    Task,
    TaskView,
    TensorSpec,
)
from kengine.provenance import Facts

TARGET = Target("toy", "cpu")
HONEST = {
    "load": {},
    "compile": {"artifact": codec.to_json(Artifact(TARGET))},
    "launch": {
        "outputs": ["o"], "launches": [codec.to_json(Launch("k", (1,)))], "details": {"a": 1}, "elapsed_ns": 5,
        "facts": codec.to_json(Facts()),
    },
    "sequence": {
        "outputs": [["o"], ["p"]], "launches": [[codec.to_json(Launch("k", (1,)))], []],
        "facts": [codec.to_json(Facts())], "elapsed_ns": 5,
    },
    "held": {"outputs": [["o"], ["p"]]},
}  # fmt: skip


class Judge:
    """Lends nothing and finds everything right; `compared` is what it was shown."""

    def __init__(self):
        self.compared = []

    def lend(self, task, cases, phase, holder, elsewhere=False, room=(0, 0)):
        return [{"args": [{"at": 256 * (n + elsewhere)}]} for n, _ in enumerate(cases)], []

    def compare(self, task, case, phase, holder, outputs, brief, **how):
        self.compared.append((case, phase, outputs, brief))
        return Comparison("c", True), f"digest of {phase}"

    def compare_withheld(self, task, case, phase, holder, outputs, before):
        self.compared.append((case, phase, outputs, before))
        return False, "a row"


@pytest.fixture
def make():
    """A function from replies (over the honest ones) to an execution; `execution.asked` holds the requests."""

    def build(device="cpu", **replies):
        asked, turns = [], []

        def request(op, body, timeout_s, fds=(), turn=None):
            asked.append((op, body))
            turns.append(turn)
            honest = HONEST[op]
            if op == "sequence":
                honest = {**honest, "facts": [codec.to_json(Facts())] * body["modes"].count("traced")}
            return {**honest, **replies.get(op, {})}

        job = SimpleNamespace(
            plan=Plan(), task=Task("t", "function", ""), durations_ns={}, digests={}, artifact=None,
            candidate=Candidate((SourceFile("a.py", ""),), "f"), view=TaskView("function", "f"),
            stage=lambda name: nullcontext(), info=SimpleNamespace(target=TARGET, device=device),
        )  # fmt: skip
        view = CaseView(0, (TensorSpec("float32", (2,)),))
        task = SimpleNamespace(cases=(Case("a"), Case("b")), views=(view, CaseView(1, view.outputs)))
        runner = SimpleNamespace(request=request, holder="r1", pid=2**22 + 1)
        execution = Execution(job, Judge(), task, runner, Device())
        execution.asked, execution.turns = asked, turns
        return execution

    return build


def sequence(execution):
    execution.sequence([0, 1], ["one", "two"])


def test_honest_replies(make):
    execution = make()
    assert execution.compile(TARGET) == Artifact(TARGET)
    comparison, launches, details = execution.check(0, "check")
    assert (comparison.ok, launches, details) == (True, (Launch("k", (1,)),), {"a": 1})
    assert execution.trace(0, "fresh") == (Comparison("c", True), (Launch("k", (1,)),))
    sequence(execution)
    assert execution.launched == [(Launch("k", (1,)),), ()] and execution.facts == [Facts()] * len(execution.traced)
    assert execution.traced == [0] * (1 + execution.followed[0])
    assert execution.look_again() == [Comparison("c", True)] * 2
    assert execution.job.digests == {"check/a": "digest of check"}
    modes = [body["mode"] for op, body in execution.asked if op == "launch"]
    assert modes == [Mode.normal.value, Mode.traced.value]


def test_a_compile_asks_for_the_device_by_itself_where_there_is_one(make):
    execution = make()
    execution.compile(TARGET)
    assert execution.turns == [None, None]
    execution = make(device="cuda")
    execution.compile(TARGET)
    assert execution.turns == [None, execution.device.shared]
    execution.check(0, "check")
    assert execution.turns[2:] == [None], "a launch holds the device from its beginning"


def test_a_compile_for_another_chip_needs_no_device(make):
    other = Target("toy", "chip")
    execution = make(device="cuda", compile={"artifact": codec.to_json(Artifact(other))})
    execution.compile(other)
    assert execution.turns == [None, None]


def test_only_where_the_answer_is_meant_to_be_wrong_nobody_asks_in_what_way(make):
    execution = make()
    for mode in (Mode.normal, Mode.noop, Mode.raises):
        execution.check(0, "p", mode)
    assert [brief for *_, brief in execution.judge.compared] == [False, True, True]
    assert execution.job.digests == {"p/a": "digest of p"}


def test_without_launches_it_is_asked_which_parts_are_right(make):
    execution = make()
    assert execution.withhold(0, "p", "check") == (False, "a row")
    ((op, body),) = execution.asked
    assert (op, body["mode"]) == ("launch", Mode.noop.value) and execution.stage == "compare"
    assert execution.judge.compared == [(0, "p", ["o"], "check")] and execution.job.digests == {}


def test_each_call_of_a_sequence_is_compared_on_its_own_inputs(make):
    execution = make()
    sequence(execution)
    assert execution.judge.compared == [(0, "one", ["o"], False), (1, "two", ["p"], False)]
    execution.look_again()
    assert execution.judge.compared[2:] == execution.judge.compared[:2]


def test_nobody_knows_which_call_of_a_sequence_is_followed(make):
    seen = set()
    for _ in range(60):
        execution = make()
        sequence(execution)
        ((_, body),) = execution.asked
        seen.add(tuple(body["modes"]))
    assert seen == {("normal", "normal"), ("traced", "normal")}, "the second case has another reference"


def test_of_a_sequence_at_a_given_place_one_call_is_followed_and_one_is_not(make):
    seen = set()
    for _ in range(60):
        execution = make()
        execution.check(0, "check")
        assert execution.sequence([0, 0], ["one", "two"], execution.places[0]) is True
        seen.add(tuple(execution.followed))
        assert execution.asked[-1][1]["modes"] == [("normal", "traced")[each] for each in execution.followed]
    assert seen == {(True, False), (False, True)}


def test_of_a_sequence_that_asks_for_another_form_twice_the_first_call_is_followed_too(make):
    seen = set()
    for _ in range(60):
        execution = make(sequence={"outputs": [["o"]] * 3, "launches": [[], [], []]})
        execution.check(0, "check")
        assert execution.sequence([0, 1, 1], ["one", "two", "three"], execution.places[0], 1) is True
        seen.add(tuple(execution.followed))
        assert execution.traced == [0, 1]
    assert seen == {(True, True, False), (True, False, True)}


def test_a_sequence_that_would_begin_at_another_place_is_not_called(make):
    execution = make()
    execution.check(0, "check", elsewhere=True)
    assert execution.sequence([0, 1], ["one", "two"], execution.places[0]) is False
    assert [op for op, _ in execution.asked] == ["launch"] and execution.compared == []


@pytest.mark.parametrize(
    ("op", "reply", "act"),
    [
        ("compile", {"artifact": None}, lambda e: e.compile(TARGET)),
        ("compile", {"artifact": {"target": "toy:cpu", "more": 1}}, lambda e: e.compile(TARGET)),
        ("compile", {"artifact": {"target": "toy:other"}}, lambda e: e.compile(TARGET)),
        ("launch", {"launches": None}, lambda e: e.check(0, "p")),
        ("launch", {"launches": {"k": 1}}, lambda e: e.check(0, "p")),
        ("launch", {"launches": ["k"]}, lambda e: e.check(0, "p")),
        ("launch", {"launches": [{"grid": [1]}]}, lambda e: e.check(0, "p")),
        ("launch", {"launches": [HONEST["launch"]["launches"][0]] * 100_001}, lambda e: e.check(0, "p")),
        ("launch", {"facts": None}, lambda e: e.trace(0, "p")),
        ("launch", {"facts": {"kernels": 3}}, lambda e: e.trace(0, "p")),
        ("sequence", {"launches": None}, sequence),
        ("sequence", {"launches": [[]]}, sequence),
        ("sequence", {"launches": [[], [], []]}, sequence),
        ("sequence", {"launches": [[], 1]}, sequence),
        ("sequence", {"launches": [[], ["k"]]}, sequence),
        ("sequence", {"launches": [[], {"k": 1}]}, sequence),
        ("sequence", {"facts": None}, sequence),
        ("sequence", {"facts": [codec.to_json(Facts())] * 3}, sequence),
        ("sequence", {"facts": [7]}, sequence),
        ("sequence", {"outputs": None}, sequence),
        ("sequence", {"outputs": [["o"]]}, sequence),
        ("sequence", {"outputs": [["o"]] * 3}, sequence),
        ("held", {"outputs": [["o"]]}, lambda e: (sequence(e), e.look_again())),
        ("held", {"outputs": []}, lambda e: (sequence(e), e.look_again())),
    ],
)
def test_what_no_runner_sends_is_tampering(make, op, reply, act):
    with pytest.raises(CandidateFault) as caught:
        act(make(**{op: reply}))
    assert caught.value.status == "tampered", caught.value


@pytest.mark.parametrize(
    ("details", "read"),
    [
        (None, {}),
        ([1], {}),
        ({"a": 1, "b": [1], "c": {"d": 1}, "e": None, "f": "x", "g": True, "h": 0.5},
         {"a": 1, "f": "x", "g": True, "h": 0.5}),
        ({f"k{n}": n for n in range(500)}, {f"k{n}": n for n in range(100)}),
    ],
)  # fmt: skip
def test_details_are_plain_and_few(make, details, read):
    assert make(launch={"details": details}).check(0, "p")[2] == read


@pytest.mark.parametrize(("elapsed", "believed"), [(5, 5), (0, 0), (-1, 0), (10**18, 0), ("5", 0), (None, 0), (2.5, 0)])
def test_a_time_that_cannot_be_true_is_not_believed(make, elapsed, believed):
    execution = make(launch={"elapsed_ns": elapsed})
    execution.check(0, "p")
    assert execution.job.durations_ns.get("candidate", 0) == believed
    assert execution.call_ns == believed


def test_kernels_that_a_call_left_in_streams_are_remembered(make):
    execution = make(launch={"unjoined": ["spin"]}, sequence={"unjoined": ["k" * 300, "spin"]})
    execution.launch(0, "check", Mode.normal)
    execution.sequence([0, 0], ["a", "b"])
    assert execution.unjoined == {"spin", "k" * 200}


@pytest.mark.parametrize("names", ["spin", [1], [["spin"]], None, ["k"] * 1001])
def test_names_of_kernels_that_are_none(make, names):
    with pytest.raises(CandidateFault, match="names of kernels that are none") as caught:
        make(launch={"unjoined": names}).launch(0, "check", Mode.normal)
    assert caught.value.status == "tampered"
