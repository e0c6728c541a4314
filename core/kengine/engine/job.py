"""One candidate on its way: what is known so far, and how it becomes a verdict."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kengine import __version__
from kengine.model import (
    Artifact,
    Candidate,
    Capability,
    Environment,
    Stages,
    Status,
    Target,
    TargetInfo,
    Task,
    TaskView,
    Verdict,
)

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.errors import CandidateFault
    from kengine.plugins.backend import Backend


@dataclass
class Job:
    """The state of one candidate's run; stages write to it in turn and none goes back.

    until: moment of `time.monotonic` at which the caller stops waiting.
    """

    candidate: Candidate
    task: Task
    info: TargetInfo
    backend: Backend
    plan: Plan
    salt: str
    compile_for: tuple[Target, ...] = ()
    stages: Stages = field(default_factory=Stages)
    sandbox: tuple[str, ...] = ()
    durations_ns: dict[str, int] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    faults: list[tuple[str, CandidateFault]] = field(default_factory=list)
    artifact: Artifact | None = None
    until: float | None = None

    @property
    def view(self) -> TaskView:
        """All that a runner may know of the task."""
        spec = self.task.spec
        timeout_s = spec.timeout_s or self.plan.launch_timeout_s
        return TaskView(
            self.task.form, self.candidate.entry, spec.writes, spec.allow, self.plan.sanitize, float(timeout_s)
        )

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the wall time of a stage."""
        begun = time.perf_counter_ns()
        try:
            yield
        finally:
            self.durations_ns[name] = self.durations_ns.get(name, 0) + time.perf_counter_ns() - begun

    def record(self, **records: Any) -> None:
        """Add the record of one stage and tell the observers."""
        self.stages = replace(self.stages, **records)
        for name, record in records.items():
            self.backend.stage_finished(name, record)

    def fail(self, stage: str, fault: CandidateFault) -> None:
        """Note that the candidate failed in a stage; the first failure decides."""
        self.faults.append((stage, fault))

    @property
    def failed(self) -> bool:
        """Whether any stage has failed."""
        return bool(self.faults)

    def verdict(self, passed_message: str) -> Verdict:
        """Fold everything into the answer."""
        stage, fault = self.faults[0] if self.faults else ("", None)
        time_record = self.stages.time
        return Verdict(
            status=Status(fault.status) if fault else Status.passed,
            message=fault.message if fault else passed_message,
            target=self.info.target,
            emulated=self.info.emulated,
            self_referenced=self.task.self_referenced,
            task=self.task,
            candidate=self.candidate,
            stages=self.stages,
            environment=Environment(
                kengine=__version__,
                python=sys.version.split()[0],
                platform=platform.platform(),
                device=self.info.note if Capability.launch in self.info.capabilities else "",
                versions=self.info.versions,
                sandbox=self.sandbox,
            ),
            speedup=time_record.speedup if time_record else None,
            stage=stage,
            line=fault.line if fault else 0,
            log=fault.log if fault else "",
            salt=self.salt,
            plan=_freeze({**self.plan.to_json(), "compile_for": [str(t) for t in self.compile_for]}),
            durations_ns=dict(self.durations_ns),
            digests={"candidate": self.candidate.digest, "task": self.task.digest, **self.digests},
        )


def _freeze(value: Any) -> Any:
    """JSON with tuples for lists, as it is read back: a verdict from the store equals the one that went in."""
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return tuple(map(_freeze, value)) if isinstance(value, (list, tuple)) else value
