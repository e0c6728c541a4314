"""A task looked at from all sides: what refuses it, and what a wrong kernel may leave out of it unseen."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from kengine.errors import TaskError
from kengine.judge import binding, screening, suitability, trial
from kengine.judge.session import Session
from kengine.model import TaskFinding

if TYPE_CHECKING:
    from kengine.judge.operators import Operator

MAX_OPERATORS = 64
"""Operators of a reference that are altered one after the other."""
BUDGET_S = 30.0
"""Time after which no further operator or parameter is altered."""
Look = Callable[[Session], Iterator[TaskFinding]]


def survey(session: Session, budget_s: float = BUDGET_S) -> Iterator[TaskFinding]:
    """Yield everything that is found about an open task, errors first; what the task names in `allow` is left out."""
    allowed = session.task.spec.allow
    deadline = time.monotonic() + budget_s
    looks: tuple[Look, ...] = (
        screening.errors,
        suitability.find,
        lambda s: binding.find(s, deadline),
        lambda s: find_dead_operators(s, deadline),
    )
    for look in looks:
        ended = False
        for found in _guarded(session, look):
            # A copy passes for a reason that the operators tell; under other errors all else follows from them.
            ended = ended or (found.severity == "error" and found.check != "copy")
            if found.check not in allowed:
                yield found
        if ended:
            return


def _guarded(session: Session, look: Look) -> Iterator[TaskFinding]:
    try:
        yield from look(session)
    except TaskError as error:
        yield broken(session.task.name, str(error))


def broken(task: str, message: str) -> TaskFinding:
    """The finding for a task whose own code fails; the message says what to do after its last semicolon."""
    what, _, fix = message.rpartition("; ")
    what = (what or message).removeprefix(f"task {task!r}: ")
    return TaskFinding("broken", "error", what, fix if what != fix else "")


def find_dead_operators(session: Session, deadline: float) -> Iterator[TaskFinding]:
    """Operators whose result does not matter, and operators that may be left out, in every case of the task."""
    if "torch" not in sys.modules:
        fix = "nothing to do; write the reference with torch to have its operators tried"
        yield TaskFinding("untraced", "note", "a numpy reference cannot be traced: operators were not altered", fix)
        return
    from kengine.judge.operators import Alteration, Tracer, Way

    tracer = Tracer(session.module.filename)
    if trial.run(session, session.cases[0], tracer) is None:
        return
    if not tracer.seen:
        return
    dead: list[Operator] = []
    idle: list[Operator] = []
    tried = 0

    def passes(operator: Operator, way: Way, choice: int = 0) -> bool:
        for case in session.cases:
            alteration = Alteration(operator, way, choice)
            answer = trial.run(session, case, alteration)
            # A case in which the reference takes another way says nothing about this operator.
            if not alteration.done or not trial.passes(session, case, answer):
                return False
        return True

    for operator in tracer.seen[:MAX_OPERATORS]:
        if time.monotonic() > deadline:
            break
        tried += 1
        if passes(operator, "disturb"):
            dead.append(operator)
        elif any(passes(operator, "skip", n) for n in range(operator.skips)):
            idle.append(operator)
    if dead:
        yield _dead(dead)
    for inert in (True, False):
        if some := [operator for operator in idle if operator.inert is inert]:
            yield _idle(some, inert)
    if tried < len(tracer.seen):
        what = f"{tried} of {len(tracer.seen)} operators of the reference were altered"
        yield TaskFinding("untraced", "note", what, "screen a smaller case to have the rest tried")


def _dead(found: Sequence[Operator]) -> TaskFinding:
    what = f"the answer does not depend on {_list(found)}: a kernel without it passes"
    fix = "take it out of the reference, or return what depends on it"
    return TaskFinding("dead-operator", "warning", what, fix, line=found[0].line)


def _idle(found: Sequence[Operator], inert: bool) -> TaskFinding:
    """Operators that may be left out. One that changes its operand, but by less than shows (the epsilon of a norm, the
    maximum that a softmax subtracts), may stand there for inputs that no case has: no more than a note."""
    if inert:
        what = f"{_list(found)} does nothing in any case: a kernel that leaves it out passes"
        fix = "draw inputs on which it matters (a clamp that binds, a mask with both values, a gain that is not 1)"
        return TaskFinding("idle-operator", "warning", what, fix, line=found[0].line)
    what = f"{_list(found)} changes no answer by more than the tolerance: a kernel that leaves it out passes"
    fix = 'add cases on which it matters (values = ["drawn", "large", "tiny", "zeros"])'
    return TaskFinding("faint-operator", "note", what, fix, line=found[0].line)


def _list(found: Sequence[Operator]) -> str:
    names = list(dict.fromkeys(map(str, found)))
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return ", ".join(names[:4]) + more
