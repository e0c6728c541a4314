"""The checks that call a candidate again, each on an execution whose calls give what a cheat would give."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest
from kengine.engine import integrity
from kengine.engine.integrity import calls, knockouts
from kengine.engine.integrity.order import find_empty
from kengine.errors import CandidateFault
from kengine.model import Case, CaseView, Comparison, Launch, Mode, Task, TaskSpec, TensorSpec
from kengine.provenance import Facts, OperatorUse, OutputOrigin

RIGHT, WRONG = Comparison("c", True), Comparison("c", False, "3 of 4 elements are wrong")
LAUNCHES = (Launch("k", (1,)),)
OTHERS = (Case("a"), Case("b", {"n": 3}), Case("c", {"n": 4}, values="large"))
"""Cases of which none has the form of the first one."""
RETURNING = (Case("a"), Case("b", values="outlier"), Case("c", {"n": 3}))
"""The second one has, and is called last."""


class Execution:
    """Answers each call from a script; `asked` is what was asked for.

    answers: (comparison, launches) by phase, or by phase and case, RIGHT with a launch where nothing is said. near:
    what is appended to a phase for one that is nearly the same, by number of the case or for all. moved: the memory is
    another one by now. empty: cases whose answer has no elements. others: those of other forms that are followed.
    """

    def __init__(
        self,
        answers=None,
        near="~pair",
        older=False,
        again=None,
        call_ns=10**9,
        allow=(),
        cases=OTHERS,
        moved=False,
        empty=(),
        others=(),
    ):
        self.answers = answers or {}
        self.asked = []
        endings = near if isinstance(near, dict) else dict.fromkeys(range(len(cases)), near)
        self.judge = SimpleNamespace(near=lambda task, case, phase: endings[case] and phase + endings[case])
        views = tuple(CaseView(n, (TensorSpec("float32", (0 if n in empty else 3, 4)),)) for n in range(len(cases)))
        self.task = SimpleNamespace(cases=cases, views=views)
        self.places = {n: (0, case.params) for n, case in enumerate(cases)}
        self.moved = moved
        self.job = SimpleNamespace(task=Task("t", "function", "", spec=TaskSpec(allow=allow)))
        self.call_ns = call_ns
        self.held, self.compared, self.launched, self.followed = [], [], [], []
        self.facts = [Facts(outputs=(OutputOrigin(True, True, False, "k", older),))]
        self.traced = [0]
        self.others = frozenset(others)
        self.runner = SimpleNamespace(ended=False)
        self.again = list(again or [])

    def _answer(self, phase, case=0):
        answer = self.answers.get((phase, case), self.answers.get(phase, (RIGHT, LAUNCHES)))
        if isinstance(answer, Exception):
            raise answer
        return answer

    def trace(self, case, phase):
        self.lent = False
        self.asked.append(("trace", case, phase))
        return self._answer(phase)

    def check(self, case, phase, mode=Mode.normal, elsewhere=False):
        self.lent = False
        self.asked.append((mode, case, phase))
        return (*self._answer(phase, case), {})

    def withhold(self, case, phase, before):
        self.asked.append((Mode.noop, case, phase))
        assert before == "check"
        comparison, parts = self._answer(phase, case)
        return comparison.ok, parts or ""

    def sequence(self, cases, phases, at=None, again=0):
        if at is not None and self.moved:
            return False
        assert at is None or at == self.places[cases[0]]
        self.asked.append(("sequence", tuple(cases), tuple(phases)))
        self.held, self.lent = list(zip(cases, phases)), True
        answers = [self._answer(phase) for phase in phases]
        self.compared = [comparison for comparison, _ in answers]
        self.launched = [launches for _, launches in answers]
        self.followed = [phase == "check" for phase in phases]
        return True

    def look_again(self):
        assert self.lent, "another loan has taken its place"
        self.asked.append("look again")
        wrong = self.again.pop(0) if self.again else ()
        return [WRONG if n in wrong else RIGHT for n in range(len(self.held))]


def outcome(check):
    return check.ran, check.ok


def fresh(execution):
    return calls.fresh(execution, calls.Seen())


def near(execution):
    return calls.near(execution, calls.Seen(fresh=True))


def sequence(execution):
    return calls.sequence(execution, calls.Seen())


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
    execution = Execution(near="~changed")
    assert "a few elements changed" in near(execution).evidence
    assert execution.asked == [(Mode.normal, 0, "fresh~changed")]
    assert "a few elements swapped" in near(Execution(near="~swapped")).evidence
    execution = Execution(near="")
    assert outcome(near(execution)) == (False, True) and execution.asked == []


def test_a_case_in_the_memory_of_the_first_one_is_other_contents_there():
    execution = Execution(cases=RETURNING)
    found = fresh(execution)
    assert (outcome(found), execution.asked) == ((True, True), [])
    assert found.evidence == "right on b in the memory of a"
    execution = Execution(cases=RETURNING)
    execution.places[1] = (256, {})
    assert outcome(fresh(execution)) == (True, True) and execution.asked == [("trace", 0, "fresh")]


WITH_CALLS = ("fresh contents", "near contents", "sequence", "repeat", "held outputs", "unfollowed calls")


def in_a_row(execution):
    """The checks that make or look at calls, in their order, and what they say, by name."""
    seen = calls.Seen()
    checks = [check for name, _, check in integrity._CHECKS if name in WITH_CALLS]
    course = SimpleNamespace(execution=execution, seen=seen)
    return {found.name: outcome(found) for found in (check(course) for check in checks)}


def test_near_contents_of_the_last_case_are_the_first_of_the_sequence():
    execution = Execution(cases=RETURNING)
    assert set(in_a_row(execution).values()) == {(True, True)}
    # The third case has shown new contents elsewhere in memory.
    assert execution.asked == [("sequence", (1, 0, 0), ("check~pair", "check", "check~same")), "look again"]
    execution = Execution(cases=RETURNING[:2])
    assert set(in_a_row(execution).values()) == {(True, True)}
    wanted = ("sequence", (1, 0, 0, 0), ("check~pair", "sequence/0", "check", "check~same"))
    assert execution.asked == [wanted, "look again"]


def test_quick_calls_are_more_in_a_row():
    lengths = set()
    for _ in range(60):
        execution = Execution(cases=RETURNING, call_ns=1)
        assert set(in_a_row(execution).values()) == {(True, True)}
        (_, cases, phases), _ = execution.asked
        assert cases[:2] == (1, 0) and phases[:2] == ("check~pair", "sequence/0")
        assert cases[-2:] == (0, 0) and phases[-2:] == ("check", "check~same")
        assert len(set(zip(cases, phases))) == len(cases)
        lengths.add(len(cases))
    assert lengths == {5, 6, 7}


@pytest.mark.parametrize("how", [{"moved": True}, {"near": {0: "~changed", 1: "", 2: ""}}])
def test_where_they_cannot_be_the_first_calls_are_made_for_them(how):
    execution = Execution(cases=RETURNING, **how)
    assert set(in_a_row(execution).values()) == {(True, True)}
    near = "fresh~changed" if "near" in how else "fresh~pair"
    assert execution.asked == [
        ("trace", 0, "fresh"),
        (Mode.normal, 0, near),
        ("sequence", (0, 0, 0), ("sequence/0", "check", "check~same")),
        "look again",
    ]
    wrong = Execution({"fresh": (WRONG, LAUNCHES)}, cases=RETURNING, **how)
    assert in_a_row(wrong)["near contents"] == (True, False)


@pytest.mark.parametrize(
    ("phase", "answer", "name"),
    [
        ("check~pair", (WRONG, LAUNCHES), "near contents"),
        ("check~pair", (RIGHT, ()), "near contents"),
        ("check~same", (RIGHT, ()), "sequence"),
        ("sequence/0", (WRONG, LAUNCHES), "sequence"),
    ],
)
def test_what_is_wrong_in_the_common_sequence(phase, answer, name):
    assert in_a_row(Execution({phase: answer}, cases=RETURNING[:2]))[name] == (True, False)


def test_other_launches_in_the_common_sequence_are_looked_into():
    other = (RIGHT, (Launch("other", (1,)),))
    execution = Execution({"check~same": other}, cases=RETURNING)
    assert in_a_row(execution)["unfollowed calls"] == (True, True), (
        "`other` in both sorts of calls on the same contents"
    )
    assert Counter(execution.asked[2:]) == {
        (Mode.normal, 0, "check~same"): calls.AGAIN,
        ("trace", 0, "check~same"): calls.AGAIN,
    }


def test_a_sequence_ends_with_the_first_inputs_twice_and_begins_with_two_of_a_shape():
    lengths = set()
    for _ in range(40):
        execution = Execution(call_ns=1)
        seen = calls.Seen(fresh=True)
        assert outcome(calls.sequence(execution, seen)) == (True, True)
        ((_, cases, phases),) = execution.asked
        assert phases[-2:] == ("check", "check~same") and cases[-2:] == (0, 0)
        assert sorted(phases[:2]) == ["fresh", "sequence/0"], "one is new, the other is known"
        assert cases[:2] == (0, 0) and set(cases) <= {0, 1, 2}
        assert len(set(zip(cases, phases))) == len(cases), "every loan has a name of its own"
        known = {0: "fresh~same", 1: "check", 2: "check"}
        assert all(phase.startswith(known[case]) for case, phase in zip(cases[2:-2], phases[2:-2]))
        lengths.add(len(cases) - 2)
    assert lengths == {2, 3, 4}, "nobody outside knows how many"
    execution = Execution(call_ns=calls.CHEAP_NS)
    sequence(execution)
    assert len(execution.asked[0][1]) == 3, "slow calls are few"


def test_every_call_of_a_sequence_must_be_right_and_launch():
    found = sequence(Execution({"sequence/0": (WRONG, LAUNCHES)}))
    assert outcome(found) == (True, False) and found.evidence.startswith("call 1 of 3 in a row is wrong")
    found = sequence(Execution({"sequence/1": (WRONG, LAUNCHES)}, call_ns=1))
    assert outcome(found) == (True, False) and found.evidence.startswith(("call 1 of ", "call 2 of "))
    for phase, number in (("sequence/0", 1), ("check", 2), ("check~same", 3)):
        found = sequence(Execution({phase: (RIGHT, ())}))
        assert outcome(found) == (True, False)
        assert found.evidence == f"{calls.IDLE} in call {number} of 3 in a row"


@pytest.mark.parametrize("phase", ["check", "check~same"])
def test_the_first_inputs_once_more_and_twice(phase):
    execution = Execution({phase: (WRONG, LAUNCHES)})
    assert outcome(calls.repeat(execution)) == (False, True)
    assert outcome(sequence(execution)) == (True, True), "a matter of the check `repeat`"
    found = calls.repeat(execution)
    assert outcome(found) == (True, False) and "wrong on the same inputs later" in found.evidence


def test_results_are_looked_at_again_after_later_calls():
    execution = Execution()
    assert outcome(calls.held(execution)) == (False, True)
    sequence(execution)
    assert outcome(calls.held(execution)) == (True, True)
    assert execution.asked[1:] == ["look again"]
    execution = Execution(again=[{1}])
    sequence(execution)
    found = calls.held(execution)
    assert outcome(found) == (True, False) and found.evidence.startswith("what call 2 returned was right")


def test_where_a_result_lies_in_older_memory_more_of_them_are_held():
    execution = Execution(older=True, again=[(), {7}])
    sequence(execution)
    found = calls.held(execution)
    assert execution.asked[1:] == [
        "look again",
        ("sequence", (0,) * calls.LONG, tuple(f"held/{n}" for n in range(calls.LONG))),
        "look again",
    ]
    assert outcome(found) == (True, False) and found.evidence.startswith("what call 8 returned")


def test_a_task_may_allow_one_buffer():
    execution = Execution(again=[{0}], allow=("reused-output",))
    sequence(execution)
    assert outcome(calls.held(execution)) == (False, True)


def test_every_case_must_have_launched():
    assert outcome(knockouts.launched([LAUNCHES, LAUNCHES])) == (True, True)
    found = knockouts.launched([LAUNCHES, (), ()])
    assert outcome(found) == (True, False) and found.evidence == "no kernel was launched in 2 of 3 cases"


def test_a_case_whose_answer_has_no_elements_needs_no_launch():
    assert outcome(knockouts.launched([LAUNCHES, ()], frozenset({1}))) == (True, True)
    found = knockouts.launched([LAUNCHES, (), ()], frozenset({1}))
    assert outcome(found) == (True, False) and found.evidence == "no kernel was launched in 1 of 3 cases"
    found = knockouts.launched([(), ()], frozenset({0, 1}))
    assert outcome(found) == (True, False) and found.evidence == "no kernel was launched in 2 of 2 cases"


@pytest.mark.parametrize(("empty", "ok"), [((1, 2), True), ((), False)])
def test_nor_does_it_in_a_sequence(empty, ok):
    execution = Execution(empty=empty)
    execution.held, execution.compared = [(0, "a"), (1, "b"), (0, "c"), (0, "d")], [RIGHT] * 4
    execution.launched = [LAUNCHES, (), LAUNCHES, LAUNCHES]
    assert outcome(calls.sequence(execution, calls.Seen())) == (True, ok)


def test_empty_cases_are_those_without_any_element():
    def view(n, *shapes):
        return CaseView(n, tuple(TensorSpec("float32", shape) for shape in shapes))

    views = [view(0, (2, 3)), view(1, (0, 3), (0,)), view(2, (0, 3), (1,)), view(3), view(4, ())]
    assert find_empty(views) == {1}


KNOCKOUTS = [(knockouts.do_nothing, Mode.noop, "without"), (knockouts.refuse, Mode.raises, "without")]


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


PARTS = "70 of 350 elements (whole rows: row 4)"


def test_no_part_of_the_answer_may_be_right_without_its_kernel():
    found = knockouts.do_nothing(Execution({"without": (WRONG, PARTS)}))
    assert outcome(found) == (True, False)
    assert found.evidence == f"{PARTS} are right although no kernel ran: something else computes them"


@pytest.mark.parametrize(
    ("allow", "operator", "ok"),
    [((), "aten::tanh", False), (("aten::tanh",), "aten::tanh", True), (("aten::tanh",), "aten::mul", False)],
)
def test_but_for_what_operators_compute_that_the_task_allows(allow, operator, ok):
    execution = Execution({"without": (WRONG, PARTS)}, allow=allow)
    execution.facts = [Facts(operators=(OperatorUse(operator, "elementwise", 1, 100),))]
    assert outcome(knockouts.do_nothing(execution)) == (True, ok)
    execution.traced = [1]
    assert outcome(knockouts.do_nothing(execution)) == (True, False), "the operators of another case"


def in_another_form(answer, *seen):
    """The check without kernels of one that is right on the first case only with them, and answers so on the second."""
    execution = Execution({"without": (WRONG, ()), ("without", 1): answer}, others=(1,))
    execution.facts += seen
    execution.traced += [1] * len(seen)
    return execution, knockouts.do_nothing(execution)


SOFTMAX = Facts(operators=(OperatorUse("aten::_softmax", "softmax", 1, 100),))


def test_another_form_may_be_answered_in_another_way():
    execution, found = in_another_form((WRONG, ()), SOFTMAX)
    assert outcome(found) == (True, True)
    assert execution.asked == [(Mode.noop, 0, "without"), (Mode.noop, 1, "without")]
    _, found = in_another_form((RIGHT, ()), SOFTMAX)
    assert outcome(found) == (True, False)
    assert found.evidence.startswith(f"{OTHERS[1].name}: the answer is right although no kernel ran")
    _, found = in_another_form((WRONG, PARTS), SOFTMAX)
    assert outcome(found) == (True, False) and found.evidence.startswith(f"{OTHERS[1].name}: {PARTS} are right")
    _, found = in_another_form(CandidateFault("launch_failed", "no"), SOFTMAX)
    assert outcome(found) == (True, True)


@pytest.mark.parametrize("left", ["exported_bytes", "array_bytes", "foreign_bytes"])
def test_a_form_whose_answer_is_an_input_has_nothing_to_do(left):
    _, found = in_another_form((RIGHT, ()), Facts())
    assert outcome(found) == (True, True), "in place on a copy, say a sum over one element"
    _, found = in_another_form((RIGHT, ()), Facts(**{left: 4}))
    assert outcome(found) == (True, False)
    _, found = in_another_form((RIGHT, ()))
    assert outcome(found) == (True, False), "a call that was not followed says nothing in its favour"
    _, found = in_another_form((RIGHT, ()), Facts(followed=False))
    assert outcome(found) == (True, False)


def test_a_runner_that_has_ended_is_asked_no_more():
    execution = Execution({"without": CandidateFault("crashed", "no")}, others=(1,))
    execution.runner.ended = True
    assert outcome(knockouts.do_nothing(execution)) == (True, True) and len(execution.asked) == 1


def test_where_a_call_takes_long_another_form_is_asked_for_twice():
    execution = Execution(cases=RETURNING, others=(2,))
    assert set(in_a_row(execution).values()) == {(True, True)}
    assert execution.asked == [("sequence", (1, 2, 2), ("check~pair", "check", "check~same")), "look again"]
    execution = Execution(cases=RETURNING, others=(2,), call_ns=1)
    in_a_row(execution)
    assert execution.asked[0][1][-2:] == (0, 0), "there is time for the first one"
