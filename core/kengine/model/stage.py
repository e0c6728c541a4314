"""What each stage leaves behind: one record a stage, none of them ever changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kengine.model.status import Capability, JsonValue
from kengine.target import Target


@dataclass(frozen=True)
class TargetInfo:
    """What one target can do here, and if not, why not; absence is data, never an exception.

    reasons: for each capability that is missing, one sentence with what would be needed.
    environ: variables that the runner's zygote must start with. preload: modules it imports before it forks.
    device: "cpu" or "cuda" (also for ROCm): where inputs live. companions: architectures of this backend that an
    emulated verdict is compiled for beside the launch, to catch what the emulator accepts and a chip refuses.
    chip_error: relative error that the chip makes and its emulator does not; it is taken off a task's own rtol.
    """

    target: Target
    emulated: bool
    capabilities: tuple[Capability, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)
    device: Literal["cpu", "cuda"] = "cpu"
    environ: Mapping[str, str] = field(default_factory=dict)
    preload: tuple[str, ...] = ()
    companions: tuple[Target, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    chip_error: float = 0.0


@dataclass(frozen=True)
class Finding:
    """One thing that a lint rule found: code, where, how bad, and one sentence that a person can act on."""

    code: str
    severity: Literal["reject", "warn"]
    message: str
    path: str = ""
    line: int = 0
    column: int = 0


@dataclass(frozen=True)
class LintRecord:
    """All findings, and the rules that were selected or ignored by the task or the caller."""

    findings: tuple[Finding, ...] = ()
    rules: int = 0
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class KernelResources:
    """What one compiled kernel takes of the chip; None where the toolchain does not say. Spills and sizes in bytes.

    occupancy: resident warps or wavefronts over the most that fit on one multiprocessor or SIMD, in (0, 1].
    details: the backend's own figures (sgpr, agpr, scratch, num_warps, ...).
    """

    name: str
    registers: int | None = None
    spills: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Artifact:
    """What compiling a candidate for one target gave. `build` names a folder inside the runner, "" when none."""

    target: Target
    kernels: tuple[KernelResources, ...] = ()
    log: str = ""
    build: str = ""
    note: str = ""
    details: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True)
class CompileRecord:
    """One artifact for each target that was compiled for, the launch target first."""

    artifacts: tuple[Artifact, ...] = ()
    cached: bool = False


@dataclass(frozen=True)
class Launch:
    """One completed kernel launch: name, grid, and how often it was seen in a row."""

    kernel: str
    grid: tuple[int, ...] = ()
    count: int = 1


@dataclass(frozen=True)
class LaunchRecord:
    """Kernel launches of each case, in order of the cases, and the text that the candidate printed (cut)."""

    launches: tuple[tuple[Launch, ...], ...] = ()
    details: Mapping[str, JsonValue] = field(default_factory=dict)
    output: str = ""


@dataclass(frozen=True)
class Element:
    """One element of one output: index, what was expected and what came, as text (exact, "nan" and "inf" included)."""

    output: int
    index: tuple[int, ...]
    expected: str
    got: str


@dataclass(frozen=True)
class Comparison:
    """How one case compares: right or not, the worst element, how many are wrong and where they cluster.

    max_abs_err, allowed: in units of the output; None when there is no finite number. error_ratio: the largest
    error over what was allowed there (right means at most 1). nonfinite: places where non-finite values differ.
    by: who compared (the core or a plugin). problem: "" or the sentence that says what is wrong.
    """

    case: str
    ok: bool
    problem: str = ""
    error_ratio: float | None = None
    max_abs_err: float | None = None
    allowed: float | None = None
    wrong: int = 0
    total: int = 0
    nonfinite: int = 0
    worst: Element | None = None
    where: str = ""
    mutated: tuple[str, ...] = ()
    by: str = "kengine"


@dataclass(frozen=True)
class CompareRecord:
    """One comparison for each case that was launched, the cases that were left out with the reason, and notes of the
    judge on how it compared."""

    comparisons: tuple[Comparison, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Check:
    """One integrity check: whether it ran (if not, why), whether it held, and the evidence.

    severity: `reject` fails a candidate for which it does not hold, `warn` only records that.
    """

    name: str
    ran: bool
    ok: bool = True
    evidence: str = ""
    severity: Literal["reject", "warn"] = "reject"

    @property
    def failed(self) -> bool:
        """Whether it fails the candidate."""
        return self.ran and not self.ok and self.severity == "reject"


@dataclass(frozen=True)
class IntegrityRecord:
    """Every integrity check of the plan, run or not."""

    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class TimingPlan:
    """What the judge asks the runner to time: calls in a batch, warm-up calls, and the method that it may use."""

    calls: int
    warmup: int
    method: Literal["activity", "event", "wall"] = "activity"


@dataclass(frozen=True)
class Timing:
    """One batch of timed calls: nanoseconds of each, how they were measured, and how many launches were seen.

    failed: why they could not be measured by that method; there are no samples then.
    """

    samples_ns: tuple[int, ...]
    method: Literal["activity", "event", "wall"]
    launches: int = 0
    failed: str = ""


@dataclass(frozen=True)
class CaseTiming:
    """Raw samples of candidate and baseline for one case, interleaved, and what follows from them.

    speedup: baseline over candidate, medians; low and high: its 95 % interval by bootstrap.
    label: faster, same, slower or unclear. wall_ns: the judge's own clock over all candidate batches.
    """

    case: str
    candidate_ns: tuple[int, ...]
    baseline_ns: tuple[int, ...]
    method: str
    speedup: float
    low: float
    high: float
    label: Literal["faster", "same", "slower", "unclear"]
    wall_ns: int
    floor_ns: int | None = None


@dataclass(frozen=True)
class TimeRecord:
    """Timings of each case, the geometric mean of their speed-ups, and the state of the device."""

    cases: tuple[CaseTiming, ...] = ()
    speedup: float | None = None
    label: str = ""
    baseline: str = ""
    device: Mapping[str, JsonValue] = field(default_factory=dict)
