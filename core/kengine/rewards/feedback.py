"""What a model is told about its last attempt: enough to mend it, and never a value that was expected.

The text is put together from the records. The fields `message` and `problem` of a verdict hold expected values, hence
are not used, except where they come from a process that knows none: a compiler, a linter, the candidate itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.errors import UsageError
from kengine.model import Finding, Status, Verdict
from kengine.report.plain import clean, count, cut, duration
from kengine.report.summary import median
from kengine.rewards.mistakes import mistakes
from kengine.rewards.outcome import Judged

MIN_CHARS = 40
"""Least length that can be asked for; the longest status stands in it."""
_SOURCE = 160
_MESSAGE = 600
_LOG = 1200
_SPOKEN = frozenset({Status.compile_failed, Status.launch_failed, Status.crashed, Status.timed_out, Status.unsupported})
"""Statuses whose message is a compiler's, the system's or the candidate's own, when they arise before comparing."""
_HELD_BACK = {
    "launched": "No kernel was launched: something else computes the answer.",
    "launches do nothing": "The answer is right although the kernel did not run: something else computes it.",
    "launches raise": "The answer is right although every launch failed: something else computes it.",
    "opinion": "A reader of the code finds that the kernel does not do the work that it claims to do.",
}


def write_feedback(judged: Judged, *, max_chars: int = 2000) -> str:
    """Text for the next turn about one candidate, at most `max_chars` characters long.

    The first line is the status with stage and target, the last one the status again, so that a trainer that cuts the
    middle or the end loses neither; what matters most stands first in between and is cut last. A sample without a
    verdict gives a text that says so. Raises UsageError for a max_chars below MIN_CHARS.
    """
    if isinstance(max_chars, bool) or not isinstance(max_chars, int) or max_chars < MIN_CHARS:
        raise UsageError(f"max_chars: want a whole number of at least {MIN_CHARS}, got {max_chars!r}")
    if not isinstance(judged, Verdict):
        return "Not judged: the machine failed. Nothing is said about the candidate."[:max_chars]
    stage = f" ({judged.stage} stage)" if judged.stage else ""
    first = f"Status: {judged.status}{stage} on {judged.target}"
    last = f"Status: {judged.status}"
    return _fit(clean(first, lines=False), [clean(line) for line in _lines(judged) if line], last, max_chars)


def _fit(first: str, lines: list[str], last: str, size: int) -> str:
    if len(first) + len(last) + 1 > size:
        return last[:size]
    room = size - len(first) - len(last) - 2
    body = "\n".join(lines)
    if not body or room < 8:
        return f"{first}\n{last}"
    if len(body) > room:
        body = body[: room - 6].rstrip() + "\n[...]"
    return f"{first}\n{body}\n{last}"


def _lines(verdict: Verdict) -> Iterator[str]:
    status = verdict.status
    if status is Status.lint_rejected:
        yield from _findings(verdict, "reject")
    elif status is Status.wrong_result:
        yield from mistakes(verdict)
    elif status is Status.nondeterministic:
        yield from _race(verdict, "It is right at first and wrong on the same inputs later")
    elif status is Status.sham:
        yield from _sham(verdict)
    elif status is Status.tampered:
        yield "What came back is not an honest answer: the channel of results, or the times, were interfered with."
    elif status in (Status.passed, Status.too_slow):
        yield from _success(verdict)
    elif status in _SPOKEN:
        yield from _spoken(verdict)
    yield from _findings(verdict, "warn")
    if status in _SPOKEN and verdict.stage != "compare" and not _races(verdict):
        yield from _log(verdict)


def _findings(verdict: Verdict, severity: str) -> Iterator[str]:
    record = verdict.stages.lint
    for finding in record.findings if record else ():
        if finding.severity == severity:
            yield _finding(finding, verdict)


def _finding(finding: Finding, verdict: Verdict) -> str:
    kind = "" if finding.severity == "reject" else "Warning "
    where = f" at line {finding.line}" if finding.line else ""
    return f"{kind}{finding.code}{where}: {cut(finding.message, _MESSAGE)}{_source(verdict, finding.line)}"


def _source(verdict: Verdict, line: int) -> str:
    files = verdict.candidate.files
    lines = files[0].text.splitlines() if files else []
    return f"\n  {line} | {cut(lines[line - 1].strip(), _SOURCE)}" if 0 < line <= len(lines) else ""


def _spoken(verdict: Verdict) -> Iterator[str]:
    if verdict.stage == "compare":
        yield "What came back could not be compared."
        return
    if _races(verdict):
        yield from _race(verdict, "The emulator saw a race")
        return
    where = f"Line {verdict.line}: " if verdict.line else ""
    yield f"{where}{cut(verdict.message, _MESSAGE)}{_source(verdict, verdict.line)}"
    if verdict.status is Status.timed_out:
        yield from _slow_stages(verdict)


def _races(verdict: Verdict) -> bool:
    return verdict.message.startswith(("race", "nki: race")) or "race_" in verdict.message[:200]


def _race(verdict: Verdict, what: str) -> Iterator[str]:
    # The message of a race may hold the values of both orders, of which one is the right one.
    message = verdict.message
    memory = (
        " in shared memory" if "race_shared" in message else " in global memory" if "race_global" in message else ""
    )
    yield (
        f"{what}{memory}: look for programs or threads that write the same place, a missing barrier, memory that is "
        "read before it is written, and state kept between calls."
    )
    if verdict.line:
        yield f"Line {verdict.line}:{_source(verdict, verdict.line)}"
    launched = verdict.stages.launch.launches if verdict.stages.launch else ()
    names = sorted({launch.kernel for launches in launched for launch in launches})
    if names:
        yield f"Kernels launched: {cut(', '.join(names), _SOURCE)}"


def _sham(verdict: Verdict) -> Iterator[str]:
    record = verdict.stages.integrity
    failed = [c.name for c in record.checks if c.failed] if record else []
    said = [_HELD_BACK[name] for name in failed if name in _HELD_BACK]
    yield from said or ["The answer is right without the kernel: something else computes it."]
    yield "Write a kernel that does the whole work, and return what it wrote."


def _success(verdict: Verdict) -> Iterator[str]:
    compare = verdict.stages.compare
    if compare is None:
        yield "It compiles; nothing was launched."
        return
    yield f"Right on {count(len(compare.comparisons), 'case')}."
    if verdict.stages.time is None:
        yield "Not timed" + (f": {verdict.target} is an emulator." if verdict.emulated else ".")
        return
    yield from _times(verdict)


def _times(verdict: Verdict) -> Iterator[str]:
    record = verdict.stages.time
    assert record is not None
    against = {"compile": "torch.compile", "eager": "the reference"}.get(
        record.baseline, record.baseline or "the baseline"
    )
    if record.speedup is not None:
        unclear = " (unclear: the times vary too much to tell)" if record.label == "unclear" else f" ({record.label})"
        yield f"Speed-up over {against}: {record.speedup:.3g}x{unclear if record.label else ''}."
    wanted = verdict.plan.get("min_speedup")
    if verdict.status is Status.too_slow and isinstance(wanted, (int, float)):
        yield f"Asked for: {wanted:g}x."
    for case in sorted(record.cases, key=lambda c: c.speedup)[:3]:
        yield (
            f"Case {case.case}: {duration(median(case.candidate_ns))} against {duration(median(case.baseline_ns))} "
            f"({case.speedup:.3g}x)."
        )
    launch = verdict.stages.launch
    share = launch.details.get("coverage") if launch else None
    if isinstance(share, (int, float)) and 0 <= share <= 1:
        yield f"Your kernels take {share:.0%} of the device time; the rest is spent elsewhere."
    yield from _resources(verdict)


def _resources(verdict: Verdict) -> Iterator[str]:
    record = verdict.stages.compile
    for artifact in (record.artifacts if record else ())[:1]:
        for kernel in artifact.kernels[:4]:
            parts = [f"{kernel.registers} registers"] if kernel.registers is not None else []
            parts += [f"{kernel.spills} B spilled"] if kernel.spills else []
            parts += [f"{kernel.shared_bytes} B shared memory"] if kernel.shared_bytes is not None else []
            parts += [f"occupancy {kernel.occupancy:.0%}"] if kernel.occupancy is not None else []
            if parts:
                yield f"Kernel {cut(kernel.name, _SOURCE)}: {', '.join(parts)}."


def _slow_stages(verdict: Verdict) -> Iterator[str]:
    stages = {k: v for k, v in verdict.durations_ns.items() if k in ("compile", "launch", "time")}
    if stages:
        slowest = max(stages, key=lambda k: stages[k])
        yield f"The slow stage is {slowest}: {duration(stages[slowest])}."


def _log(verdict: Verdict) -> Iterator[str]:
    text = verdict.log.strip()
    if text and text not in verdict.message:
        yield f"Log:\n{cut(text, _LOG)}"
