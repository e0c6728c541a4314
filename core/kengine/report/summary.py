"""One line for each stage of a verdict: the same words in the table, the text and the page."""

from __future__ import annotations

from dataclasses import dataclass

from kengine.model import CaseTiming, Comparison, Verdict
from kengine.report.plain import count, duration, ratio

STAGES = ("lint", "compile", "launch", "compare", "integrity", "time")
"""Names of the stages in the order in which they run."""


@dataclass(frozen=True)
class StageLine:
    """How one stage went. state: ok, failed or "not run"; took_ns is None when nothing was measured."""

    stage: str
    state: str
    text: str
    took_ns: int | None = None


def stage_lines(verdict: Verdict) -> tuple[StageLine, ...]:
    """One line for each of the six stages."""
    return tuple(_line(verdict, stage) for stage in STAGES)


def worst(verdict: Verdict) -> Comparison | None:
    """The comparison with the largest error: wrong ones first, unmeasurable ones before all."""
    record = verdict.stages.compare
    if record is None or not record.comparisons:
        return None
    return max(record.comparisons, key=lambda c: (not c.ok, c.error_ratio is None and not c.ok, c.error_ratio or 0.0))


def error_text(comparison: Comparison | None) -> str:
    """Largest error over the allowed one, or why there is no such number."""
    if comparison is None:
        return "-"
    if comparison.error_ratio is None:
        return "exact" if comparison.ok else "no number"
    return ratio(comparison.error_ratio)


def speed_text(verdict: Verdict) -> str:
    """Speed-up with its label: `1.43x faster`, or a dash when nothing was timed."""
    speedup = verdict.speedup
    record = verdict.stages.time
    if speedup is None and record is not None:
        speedup = record.speedup
    if speedup is None:
        return "-"
    label = record.label[:12] if record is not None else ""
    return f"{ratio(speedup)}x {label}".rstrip()


def interval_text(timing: CaseTiming) -> str:
    """`1.43x (1.40 to 1.46) faster` for one case."""
    return f"{ratio(timing.speedup)}x ({ratio(timing.low)} to {ratio(timing.high)}) {timing.label}"


def median(values: tuple[int, ...]) -> float:
    """Middle value of some samples, 0.0 for none."""
    if not values:
        return 0.0
    ordered = sorted(values)
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _line(verdict: Verdict, stage: str) -> StageLine:
    took = verdict.durations_ns.get(stage)
    failed = verdict.stage == stage and not verdict.passed
    text = _text(verdict, stage)
    if text is None:
        if failed:
            return StageLine(stage, "failed", str(verdict.status), took)
        return StageLine(stage, "not run", "")
    return StageLine(stage, "failed" if failed else "ok", text, took)


def _text(verdict: Verdict, stage: str) -> str | None:
    stages = verdict.stages
    if stage == "lint" and stages.lint is not None:
        rejects = sum(f.severity == "reject" for f in stages.lint.findings)
        warnings = len(stages.lint.findings) - rejects
        return f"{count(stages.lint.rules, 'rule')}, {count(rejects, 'rejection')}, {count(warnings, 'warning')}"
    if stage == "compile" and stages.compile is not None:
        artifacts = stages.compile.artifacts
        kernels = sum(len(a.kernels) for a in artifacts)
        targets = ", ".join(str(a.target) for a in artifacts)
        cached = " (from the build cache)" if stages.compile.cached else ""
        return f"{count(kernels, 'kernel')} for {targets or 'no target'}{cached}"
    if stage == "launch" and stages.launch is not None:
        seen = sum(launch.count for case in stages.launch.launches for launch in case)
        launches = count(seen, "kernel launch", "kernel launches")
        return f"{count(len(stages.launch.launches), 'case')}, {launches}"
    if stage == "compare" and stages.compare is not None:
        done = stages.compare.comparisons
        right = sum(c.ok for c in done)
        text = f"{right} of {count(len(done), 'case')} right"
        top = worst(verdict)
        if top is not None and top.error_ratio is not None:
            text += f", largest error {ratio(top.error_ratio)} of what is allowed"
        skipped = len(stages.compare.skipped)
        return f"{text}, {skipped} skipped" if skipped else text
    if stage == "integrity" and stages.integrity is not None:
        ran = [c for c in stages.integrity.checks if c.ran]
        held = sum(c.ok for c in ran)
        text = f"{held} of {count(len(ran), 'check')} held"
        left = len(stages.integrity.checks) - len(ran)
        return f"{text}, {left} not run" if left else text
    if stage == "time" and stages.time is not None:
        cases = stages.time.cases
        took = sum(median(c.candidate_ns) for c in cases)
        against = stages.time.baseline or "the baseline"
        return f"{speed_text(verdict)} against {against}, {duration(took)} over {count(len(cases), 'case')}"
    return None
