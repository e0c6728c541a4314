"""The checks that call a candidate again, each on an execution whose calls give what a cheat would give."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.engine.integrity import calls, knockouts
from kengine.errors import CandidateFault
from kengine.model import Comparison, Launch, Mode, Task, TaskSpec
from kengine.provenance import Facts, OutputOrigin

RIGHT, WRONG = Comparison("c", True), Comparison("c", False, "3 of 4 elements are wrong")
LAUNCHES = (Launch("k", (1,)),)


class Execution:
    """Answers each call from a script; `asked` is what was asked for.

    answers: (comparison, launches) by phase, RIGHT with a launch where nothing is said.
    """

    def __init__(self, answers=None, near="fresh~pair", older=False, again=None, call_ns=10**9, allow=()):
        self.answers = answers or {}
        self.asked = []
        self.judge = SimpleNamespace(near=lambda task, case, phase: near)
        self.task = SimpleNamespace(cases=("a", "b", "c"))
        self.job = SimpleNamespace(task=Task("t", "function", "", spec=TaskSpec(allow=allow)))
        self.call_ns = call_ns
        self.held, self.compared, self.launches = [], [], []
        self.facts = [Facts(outputs=(OutputOrigin(True, True, False, "k", older),))]
        self.again = list(again or [])

    def _answer(self, phase):
        answer = self.answers.get(phase, (RIGHT, LAUNCHES))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def trace(self, case, phase):
        self.asked.append(("trace", case, phase))
        return self._answer(phase)

    def check(self, case, phase, mode=Mode.normal):
        self.asked.append((mode, case, phase))
        return (*self._answer(phase), {})

    def sequence(self, cases, phases):
        self.asked.append(("sequence", tuple(cases), tuple(phases)))
        self.held = list(zip(cases, phases))
        answers = [self._answer(phase) for phase in phases]
        self.compared = [comparison for comparison, _ in answers]
        self.launches = [len(launches) for _, launches in answers]

    def look_again(self):
        self.asked.append("look again")
        wrong = self.again.pop(0) if self.again else ()
        return [WRONG if n in wrong else RIGHT for n in range(len(self.held))]


def outcome(check):
    return check.ran, check.ok


def fresh(execution):
    return calls.fresh(execution, {})


def near(execution):
    return calls.near(execution, {})


def test_fresh_contents_are_followed_and_compared():
    execution = Execution()
    assert outcome(fresh(execution)) == (True, True)
    assert execution.asked == [("trace", 0, "fresh")]


@pytest.mark.parametrize("check", [fresh, near])
def test_a_wrong_answer_to_other_contents(check):
    found = check(Execution({"fresh": (WRONG, LAUNCHES), "fresh~pair": (WRONG, LAUNCHES)}))
    assert outcome(found) == (True, False)
    assert found.evidence.startswith("right when checked, wrong on ") and WRONG.problem in found.evidence


@pytest.mark.parametrize("check", [fresh, near])
def test_a_right_answer_without_a_launch(check):
    found = check(Execution({"fresh": (RIGHT, ()), "fresh~pair": (RIGHT, ())}))
    assert outcome(found) == (True, False) and found.evidence.startswith(calls.IDLE)


def test_near_contents_are_those_that_the_judge_chooses():
    execution = Execution(near="fresh~changed")
    assert "a few elements changed" in near(execution).evidence
    assert execution.asked == [(Mode.normal, 0, "fresh~changed")]
    assert "a few elements swapped" in near(Execution(near="fresh~swapped")).evidence
    execution = Execution(near="")
    assert outcome(near(execution)) == (False, True) and execution.asked == []


def test_a_sequence_ends_with_the_first_inputs_twice_and_begins_with_two_of_a_shape():
    lengths = set()
    for _ in range(40):
        execution = Execution(call_ns=1)
        assert outcome(calls.sequence(execution)) == (True, True)
        ((_, cases, phases),) = execution.asked
        assert phases[-2:] == ("check", "check~same") and cases[-2:] == (0, 0)
        assert phases[:-2] == tuple(f"sequence/{n}" for n in range(len(cases) - 2))
        assert cases[:2] == (0, 0) and set(cases) <= {0, 1, 2}
        lengths.add(len(cases) - 2)
    assert lengths == {2, 3, 4}, "nobody outside knows how many"
    execution = Execution(call_ns=calls.CHEAP_NS)
    calls.sequence(execution)
    assert len(execution.asked[0][1]) == 3, "slow calls are few"


def test_every_call_of_a_sequence_must_be_right_and_launch():
    found = calls.sequence(Execution({"sequence/1": (WRONG, LAUNCHES)}, call_ns=1))
    assert outcome(found) == (True, False) and found.evidence.startswith("call 2 of ")
    for phase, number in (("sequence/0", 1), ("check", 3), ("check~same", 4)):
        execution = Execution({phase: (RIGHT, ())}, call_ns=1)
        while (found := calls.sequence(execution)) and len(execution.asked[-1][1]) != 4:
            pass
        assert outcome(found) == (True, False)
        assert found.evidence == f"{calls.IDLE} in call {number} of 4 in a row"


@pytest.mark.parametrize("phase", ["check", "check~same"])
def test_the_first_inputs_once_more_and_twice(phase):
    execution = Execution({phase: (WRONG, LAUNCHES)})
    assert outcome(calls.repeat(execution)) == (False, True)
    assert outcome(calls.sequence(execution)) == (True, True), "a matter of the check `repeat`"
    found = calls.repeat(execution)
    assert outcome(found) == (True, False) and "wrong on the same inputs later" in found.evidence


def test_results_are_looked_at_again_after_later_calls():
    execution = Execution()
    assert outcome(calls.held(execution)) == (False, True)
    calls.sequence(execution)
    assert outcome(calls.held(execution)) == (True, True)
    assert execution.asked[1:] == ["look again"]
    execution = Execution(again=[{1}])
    calls.sequence(execution)
    found = calls.held(execution)
    assert outcome(found) == (True, False) and found.evidence.startswith("what call 2 returned was right")


def test_where_a_result_lies_in_older_memory_more_of_them_are_held():
    execution = Execution(older=True, again=[(), {7}])
    calls.sequence(execution)
    found = calls.held(execution)
    assert execution.asked[1:] == [
        "look again",
        ("sequence", (0,) * calls.LONG, tuple(f"held/{n}" for n in range(calls.LONG))),
        "look again",
    ]
    assert outcome(found) == (True, False) and found.evidence.startswith("what call 8 returned")


def test_a_task_may_allow_one_buffer():
    execution = Execution(again=[{0}], allow=("reused-output",))
    calls.sequence(execution)
    assert outcome(calls.held(execution)) == (False, True)


def test_every_case_must_have_launched():
    assert outcome(knockouts.launched([LAUNCHES, LAUNCHES])) == (True, True)
    found = knockouts.launched([LAUNCHES, (), ()])
    assert outcome(found) == (True, False) and found.evidence == "no kernel was launched in 2 of 3 cases"


KNOCKOUTS = [(knockouts.do_nothing, Mode.noop, "without"), (knockouts.refuse, Mode.raises, "raising")]


@pytest.mark.parametrize(("check", "mode", "phase"), KNOCKOUTS, ids=["noop", "raises"])
def test_without_its_kernel_the_answer_must_be_wrong_or_none(check, mode, phase):
    execution = Execution({phase: (WRONG, ())})
    assert outcome(check(execution)) == (True, True)
    assert execution.asked == [(mode, 0, phase)]
    found = check(Execution({phase: (RIGHT, ())}))
    assert outcome(found) == (True, False) and "although no kernel ran" in found.evidence


@pytest.mark.parametrize(("check", "mode", "phase"), KNOCKOUTS, ids=["noop", "raises"])
@pytest.mark.parametrize(
    ("status", "ok"),
    [("launch_failed", True), ("crashed", True), ("timed_out", True), ("tampered", False)],
)
def test_how_a_candidate_may_end_without_its_kernel(check, mode, phase, status, ok):
    found = check(Execution({phase: CandidateFault(status, "a message")}))
    assert outcome(found) == (True, ok)
    assert (status if ok else "a message") in found.evidence
