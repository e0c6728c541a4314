"""Screening without a candidate: tasks in, reports out. A reference is executed by a judge process only."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal, cast

from kengine import codec
from kengine.config import Plan
from kengine.engine.crew import Crew
from kengine.engine.judge import Overrun
from kengine.errors import TargetUnavailable, TaskError, WorkerLost
from kengine.model import Case, Target, TargetInfo, Task, TaskFinding, TaskReport

if TYPE_CHECKING:
    from kengine.engine.judge import Judge
    from kengine.plugins.backend import Backend

PATIENCE = 4
"""A screening runs the reference many times: so many times the time that opening the task may take."""


class _Unaided:
    """The part of a backend that a judge asks for, of no backend: no plugin compares in the core's place."""

    def comparers(self) -> tuple[tuple[str, str], ...]:
        return ()


def screen(
    tasks: Iterable[Task], device: Literal["cpu", "cuda", ""] = "", plan: Plan | None = None
) -> Iterator[TaskReport]:
    """Screen tasks one after the other and yield a report of each.

    device: "" takes what the task names, else the processor. A task that came with a candidate is run in a sandboxed
    judge of its own, as when it is judged. A device that only the task names and that is missing is a finding. Raises
    TargetUnavailable where `device` is missing, InfraError when the machine fails.
    """
    plan = plan or Plan()
    salt = plan.salt or secrets.token_hex(16)
    crew = Crew(plan, standbys=0)
    try:
        for task in tasks:
            try:
                yield _report(crew, plan, salt, task, device or ("cuda" if task.spec.device == "cuda" else "cpu"))
            except TargetUnavailable as error:
                if device:
                    raise
                fix = 'screen it where there is one, or take device = "cuda" out of its block'
                yield TaskReport(task.name, task.path, "cuda", (TaskFinding("unscreened", "warning", str(error), fix),))
    finally:
        crew.close()


def _report(crew: Crew, plan: Plan, salt: str, task: Task, device: Literal["cpu", "cuda"]) -> TaskReport:
    info = TargetInfo(Target("screen", device), False, (), device=device)
    backend = cast("Backend", _Unaided())
    begun = time.perf_counter_ns()
    answer: dict[str, Any]
    with ExitStack() as stack:
        if task.self_referenced:
            judge = stack.enter_context(crew.own_judge(info, task, backend))
        else:
            judge = crew.judge(info, task, backend)
        answer = _ask(judge, plan, salt, task, device)
    return TaskReport(
        task.name,
        task.path,
        device,
        tuple(codec.from_json(f, TaskFinding) for f in answer["findings"]),
        tuple(codec.from_json(c, Case).name for c in answer.get("cases", ())),
        {str(k): str(v) for k, v in answer.get("skipped", {}).items()},
        time.perf_counter_ns() - begun,
    )


def _ask(judge: Judge, plan: Plan, salt: str, task: Task, device: str) -> dict[str, Any]:
    """The judge's answer; a reference that does not end or takes its process along is a finding about the task."""
    body = {"task": codec.to_json(task), "salt": salt, "device": device, "cases": plan.cases}
    timeout_s = PATIENCE * (task.spec.timeout_s or plan.task_timeout_s)
    try:
        return judge.call("screen", body, timeout_s)[0]
    except TaskError as error:
        found = TaskFinding("broken", "error", str(error), "run the reference alone to see the error")
    except Overrun as error:
        at = f"{error.where}: " if error.where else ""
        message = f"{at}its reference and inputs were not done within {timeout_s:g} s"
        fix = "make the cases smaller, or raise timeout_s in its block or the plan's task_timeout_s"
        line = re.search(r":(\d+) in ", error.where)
        found = TaskFinding("slow", "error", message, fix, line=int(line[1]) if line else 0)
    except WorkerLost as error:
        found = TaskFinding("crash", "error", str(error), "run the reference alone: it ends its whole process")
    return {"findings": [codec.to_json(found)]}
