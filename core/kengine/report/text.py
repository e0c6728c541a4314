"""One verdict in full, for a person."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from kengine.model import Comparison, Launch, Verdict
from kengine.report.plain import clean, cut, duration, name, place, ratio
from kengine.report.summary import interval_text, median, stage_lines
from kengine.report.table import cell, status_text

_LOG = 6000
_ROWS = 12


def verdict_text(verdict: Verdict) -> RenderableType:
    """Everything that a verdict says: stages, findings, kernels, wrong cases, checks, times, log, environment."""
    return Group(*_parts(verdict))


def _parts(verdict: Verdict) -> Iterator[RenderableType]:
    emulator = " (emulator)" if verdict.emulated else ""
    own = ", self-referenced" if verdict.self_referenced else ""
    yield Text.assemble(
        status_text(verdict.status), "  ", Text(place(verdict), style="bold"), f"  on {verdict.target}{emulator}{own}"
    )
    if verdict.message:
        yield Padding(cell(verdict.message), (0, 0, 0, 2))
    yield from _source_line(verdict)
    yield _section("stages", _stages(verdict))
    for title, part in (
        ("findings", _findings(verdict)),
        ("compiled kernels", _kernels(verdict)),
        ("cases", _cases(verdict)),
        ("integrity", _checks(verdict)),
        ("times", _times(verdict)),
    ):
        if part is not None:
            yield _section(title, part)
    yield from _logs(verdict)
    yield Text("")
    yield Text(environment_line(verdict), style="dim")


def environment_line(verdict: Verdict) -> str:
    """Versions, device and sandbox in one line; the kernel's release is in the record only."""
    env = verdict.environment
    parts = [f"kengine {env.kengine}", f"Python {env.python}", env.platform.split("-")[0]]
    if env.device:
        parts.append(env.device)
    parts += [f"{key} {value}" for key, value in env.versions.items()]
    parts.append("sandbox: " + (", ".join(env.sandbox) or "none"))
    return clean("; ".join(parts), lines=False)


def _section(title: str, body: RenderableType) -> RenderableType:
    return Group(Text(""), Text(title, style="bold"), Padding(body, (0, 0, 0, 2)))


def _grid(*headers: str, right: tuple[int, ...] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for i, header in enumerate(headers):
        table.add_column(cell(header, lines=False), justify="right" if i in right else "left", overflow="fold")
    return table


def _source_line(verdict: Verdict) -> Iterator[RenderableType]:
    lines = verdict.candidate.main.text.splitlines() if verdict.candidate.files else []
    if 0 < verdict.line <= len(lines):
        line = clean(cut(lines[verdict.line - 1], 300), lines=False).rstrip()
        yield Padding(cell(f"{verdict.line:>5} | {line}", "cyan"), (0, 0, 0, 2))


def _stages(verdict: Verdict) -> Table:
    table = _grid("stage", "", "took", "", right=(2,))
    colours = {"ok": "green", "failed": "bold red", "not run": "dim"}
    for line in stage_lines(verdict):
        took = duration(line.took_ns) if line.took_ns is not None else ""
        table.add_row(line.stage, Text(line.state, style=colours[line.state]), took, cell(line.text))
    return table


def _findings(verdict: Verdict) -> Table | None:
    record = verdict.stages.lint
    if record is None or not record.findings:
        return None
    table = _grid("rule", "", "where", "what")
    for f in record.findings:
        where = f"{f.path or name(verdict)}:{f.line}" if f.line else f.path
        style = "bold red" if f.severity == "reject" else "yellow"
        table.add_row(
            cell(f.code, lines=False), Text(f.severity, style=style), cell(where, lines=False), cell(f.message)
        )
    return table


def _kernels(verdict: Verdict) -> Table | None:
    record = verdict.stages.compile
    artifacts = record.artifacts if record else ()
    if not any(a.kernels or a.note for a in artifacts):
        return None
    table = _grid("target", "kernel", "registers", "spills", "shared", "occupancy", "more", right=(2, 3, 4, 5))
    for artifact in artifacts:
        for k in artifact.kernels:
            more = " ".join(f"{key}={value}" for key, value in k.details.items())
            table.add_row(
                str(artifact.target), cell(k.name, lines=False), _number(k.registers), _bytes(k.spills),
                _bytes(k.shared_bytes), f"{k.occupancy:.0%}" if k.occupancy is not None else "-", cell(more),
            )  # fmt: skip
        if not artifact.kernels and artifact.note:
            table.add_row(str(artifact.target), "-", *[""] * 4, cell(artifact.note, "dim"))
    return table


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _bytes(value: int | None) -> str:
    return "-" if value is None else f"{value} B"


def _cases(verdict: Verdict) -> RenderableType | None:
    record = verdict.stages.compare
    if record is None:
        return None
    launches = verdict.stages.launch.launches if verdict.stages.launch else ()
    table = _grid("case", "", "error/tol", "wrong", "launches", right=(2, 3))
    ranked = sorted(range(len(record.comparisons)), key=lambda i: record.comparisons[i].ok)
    for i in ranked[:_ROWS]:
        c = record.comparisons[i]
        state = Text("right", style="green") if c.ok else Text("wrong", style="bold red")
        seen = launch_text(launches[i]) if i < len(launches) else ""
        table.add_row(cell(c.case), state, ratio(c.error_ratio), f"{c.wrong} of {c.total}", cell(seen))
    parts: list[RenderableType] = [table]
    if len(ranked) > _ROWS:
        parts.append(Text(f"... and {len(ranked) - _ROWS} more", style="dim"))
    for case, reason in record.skipped.items():
        parts.append(cell(f"skipped {case}: {reason}", "dim", lines=False))
    for c in record.comparisons:
        if not c.ok:
            parts += [Text(""), cell(comparison_text(c, verdict.message))]
            break
    return Group(*parts)


def launch_text(launches: tuple[Launch, ...]) -> str:
    """`kernel[8, 1] x2, ...` for the launches of one case."""
    parts = [f"{x.kernel}{list(x.grid)}" + (f" x{x.count}" if x.count > 1 else "") for x in launches[:3]]
    if len(launches) > 3:
        parts.append(f"and {len(launches) - 3} more")
    return clean(", ".join(parts), lines=False)


def comparison_text(c: Comparison, said: str = "") -> str:
    """Why one case is wrong: worst element, how many, where, and what was allowed; without what was `said` before."""
    lines = [f"{c.case}: {c.problem}" if c.problem and c.problem not in said else f"{c.case}:"]
    if c.worst is not None:
        at = f"output {c.worst.output}, element {list(c.worst.index)}"
        lines.append(f"  {at}: expected {c.worst.expected}, got {c.worst.got}")
    if c.max_abs_err is not None:
        allowed = f", allowed {c.allowed:.3g}" if c.allowed is not None else ""
        lines.append(f"  largest error {c.max_abs_err:.3g}{allowed}")
    if c.wrong:
        lines.append(f"  {c.wrong} of {c.total} elements are wrong" + (f"; {c.where}" if c.where else ""))
    if c.nonfinite:
        lines.append(f"  {c.nonfinite} non-finite values are not where the reference has them")
    if c.mutated:
        lines.append(f"  changed its inputs: {', '.join(c.mutated)}")
    return "\n".join(lines)


def _checks(verdict: Verdict) -> Table | None:
    record = verdict.stages.integrity
    if record is None or not record.checks:
        return None
    table = _grid("check", "", "evidence")
    for check in record.checks:
        state = Text("not run", style="dim") if not check.ran else Text("held", style="green")
        if check.ran and not check.ok:
            state = Text("failed", style="bold red") if check.failed else Text("warned", style="yellow")
        table.add_row(cell(check.name), state, cell(check.evidence))
    return table


def _times(verdict: Verdict) -> Table | None:
    record = verdict.stages.time
    if record is None:
        return None
    table = _grid(
        "case", "candidate", record.baseline or "baseline", "speed-up (95 % interval)", "by", "samples", right=(1, 2, 5)
    )
    for t in record.cases:
        table.add_row(
            cell(t.case), duration(median(t.candidate_ns)), duration(median(t.baseline_ns)), cell(interval_text(t)),
            cell(t.method, lines=False), str(len(t.candidate_ns)),
        )  # fmt: skip
    return table


def _logs(verdict: Verdict) -> Iterator[RenderableType]:
    if verdict.log.strip():
        yield _section("log", cell(cut(verdict.log.strip("\n"), _LOG)))
    output = verdict.stages.launch.output if verdict.stages.launch else ""
    if output.strip():
        yield _section("what the candidate printed", cell(cut(output.strip("\n"), _LOG // 3)))
