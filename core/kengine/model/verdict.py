"""The answer on one candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kengine.model.stage import CompareRecord, CompileRecord, IntegrityRecord, LaunchRecord, LintRecord, TimeRecord
from kengine.model.status import JsonValue, Status
from kengine.model.task import Candidate, Task
from kengine.target import Target


@dataclass(frozen=True)
class Stages:
    """One record for each stage that was reached; None for those that were not."""

    lint: LintRecord | None = None
    compile: CompileRecord | None = None
    launch: LaunchRecord | None = None
    compare: CompareRecord | None = None
    integrity: IntegrityRecord | None = None
    time: TimeRecord | None = None


@dataclass(frozen=True)
class Environment:
    """Where a verdict was reached: versions, device, and the sandbox measures that were in force."""

    kengine: str
    python: str
    platform: str
    device: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The answer on one candidate for one task on one target; holds all that a replay needs.

    salt: the secret of the run from which every seed follows, published now that the candidate is dead.
    durations_ns: wall time of each stage, and "candidate"/"reference": their own share of it.
    line: line of the candidate that the message is about, 0 when there is none.
    """

    status: Status
    message: str
    target: Target
    emulated: bool
    self_referenced: bool
    task: Task
    candidate: Candidate
    stages: Stages
    environment: Environment
    speedup: float | None = None
    stage: str = ""
    line: int = 0
    log: str = ""
    salt: str = ""
    plan: Mapping[str, JsonValue] = field(default_factory=dict)
    durations_ns: Mapping[str, int] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the candidate passed every stage of its plan."""
        return self.status is Status.passed
