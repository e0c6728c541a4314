"""Verdicts as a device or an emulator would give them, with everything that a reward looks at set by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kengine.model import (
    Artifact,
    Candidate,
    CaseTiming,
    Check,
    CompareRecord,
    Comparison,
    CompileRecord,
    Environment,
    IntegrityRecord,
    Launch,
    LaunchRecord,
    LintRecord,
    SourceFile,
    Stages,
    Status,
    Target,
    Task,
    TimeRecord,
    Verdict,
)

DEVICE = Target("triton", "sm_90")
STAGE_OF = {
    "lint_rejected": "lint", "compile_failed": "compile", "launch_failed": "launch", "crashed": "launch",
    "timed_out": "launch", "wrong_result": "compare", "nondeterministic": "integrity", "sham": "integrity",
    "too_slow": "time", "tampered": "launch", "unsupported": "compile", "passed": "",
}  # fmt: skip
"""The stage in which each status usually arises."""
REACHED = {"": 6, "time": 6, "integrity": 5, "compare": 4, "launch": 2, "compile": 1, "lint": 1}


def timing(label: str, speedup: float) -> TimeRecord:
    """One case with a candidate of 1000 ns."""
    case = CaseTiming(
        "n=64", (1000, 1000, 1000), (int(1000 * speedup) or 1,) * 3, "event", speedup, speedup, speedup,
        label, 9000,
    )  # fmt: skip
    return TimeRecord((case,), speedup, label, "eager")


def build(
    status: str = "passed", speedup: float | None = None, *, label: str = "faster", stage: str | None = None,
    emulated: bool = False, self_referenced: bool = False, coverage: object = None, task: str = "add",
    path: str = "add.py", plan: dict[str, object] | None = None,
) -> Verdict:  # fmt: skip
    """A verdict whose records go as far as its status says."""
    stage = STAGE_OF[status] if stage is None else stage
    reached = REACHED[stage]
    right = status in ("passed", "too_slow", "sham", "nondeterministic") or reached >= 5
    checks = (Check("launched", True), Check("repeat", True, status != "nondeterministic"))
    if status != "nondeterministic":
        checks += (Check("launches do nothing", True, status != "sham"),)
    details = {"coverage": coverage} if coverage is not None else {}
    seen = (Launch("add_kernel", (4,)),)
    stages = Stages(
        LintRecord(rules=20),
        CompileRecord((Artifact(DEVICE),)) if reached >= 2 else None,
        LaunchRecord((seen,), details) if reached >= 4 else None,
        CompareRecord((Comparison("n=64", right, error_ratio=0.5, wrong=0 if right else 3, total=64),))
        if reached >= 4
        else None,
        IntegrityRecord(checks) if reached >= 5 else None,
        timing(label, speedup) if speedup is not None and reached >= 6 else None,
    )
    source = "import triton\n\n\ndef candidate(x, y):\n    return add(x, y)\n"
    return Verdict(
        status=Status(status),
        message="",
        target=Target("triton", "interpret") if emulated else DEVICE,
        emulated=emulated,
        self_referenced=self_referenced,
        task=Task(task, "function", f"# {task}"),
        candidate=Candidate((SourceFile(path, source),), "candidate"),
        stages=stages,
        environment=Environment("0", "3.11", "Linux"),
        speedup=speedup if reached >= 6 else None,
        stage=stage,
        plan=plan or {},
    )


@pytest.fixture
def verdict():
    """Build verdicts: `verdict("passed", 1.5)`."""
    return build


@pytest.fixture
def unclear(verdict):
    """Right, and the clock says 1.5 without being sure of anything."""
    return verdict("passed", 1.5, label="unclear")


@pytest.fixture
def change():
    """`dataclasses.replace`, for verdicts that contradict themselves."""
    return replace
