"""Every record that kengine reads or writes: frozen, plain, identified by content.

Records hold only str, int, finite float, bool, None, enums, targets, tuples, string-keyed mappings and other records,
so that `kengine.codec` can write any of them as strict JSON. Times are integer nanoseconds, sizes are bytes.
"""

from __future__ import annotations

from kengine.model.opinion import Opinion
from kengine.model.screening import TaskFinding, TaskReport
from kengine.model.stage import (
    Artifact,
    CaseTiming,
    Check,
    CompareRecord,
    Comparison,
    CompileRecord,
    Element,
    Finding,
    IntegrityRecord,
    KernelResources,
    Launch,
    LaunchRecord,
    LintRecord,
    TargetInfo,
    TimeRecord,
    Timing,
    TimingPlan,
)
from kengine.model.status import (
    Capability,
    JsonValue,
    Mode,
    Status,
)
from kengine.model.task import (
    Candidate,
    Case,
    CaseView,
    Layout,
    SourceFile,
    Task,
    TaskSpec,
    TaskView,
    TensorSpec,
    Tolerance,
    ValueClass,
)
from kengine.model.verdict import (
    Environment,
    Stages,
    Verdict,
)
from kengine.target import Target

__all__ = [
    "Artifact",
    "Candidate",
    "Capability",
    "Case",
    "CaseTiming",
    "CaseView",
    "Check",
    "CompareRecord",
    "Comparison",
    "CompileRecord",
    "Element",
    "Environment",
    "Finding",
    "IntegrityRecord",
    "JsonValue",
    "KernelResources",
    "Launch",
    "LaunchRecord",
    "Layout",
    "LintRecord",
    "Mode",
    "Opinion",
    "SourceFile",
    "Stages",
    "Status",
    "Target",
    "TargetInfo",
    "Task",
    "TaskFinding",
    "TaskReport",
    "TaskSpec",
    "TaskView",
    "TensorSpec",
    "TimeRecord",
    "Timing",
    "TimingPlan",
    "Tolerance",
    "ValueClass",
    "Verdict",
]
