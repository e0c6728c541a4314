"""The HTML report: one self-contained file, readable without scripts, in dark and in light."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from xml.etree.ElementTree import Element

from kengine.model import Status, Verdict
from kengine.report.element import Content, element, extend, render, table
from kengine.report.plain import clean, count, cut, duration, name, place, ratio, shared_folder
from kengine.report.plot import error_plot, time_plot
from kengine.report.source import source_view
from kengine.report.summary import error_text, interval_text, median, speed_text, stage_lines, worst
from kengine.report.table import first_line
from kengine.report.text import comparison_text, environment_line, launch_text

_LOG = 60_000
_CASES = 200


def write_page(path: Path, verdicts: Sequence[Verdict], errors: Sequence[tuple[str, str, str]] = ()) -> None:
    """Write the report. Raises OSError when the file cannot be written."""
    path.write_text(page(verdicts, errors), encoding="utf-8")


def page(verdicts: Sequence[Verdict], errors: Sequence[tuple[str, str, str]] = ()) -> str:
    """The whole report as text: first the table, then each verdict in full.

    errors: (file, kind, message) of files that got no verdict.
    """
    passed = sum(v.passed for v in verdicts)
    title = f"kengine: {passed} of {count(len(verdicts), 'candidate')} passed"
    parts = [element("h1", title), element("p", _where(verdicts), class_="soft"), _overview(verdicts, errors)]
    parts += [_verdict(i, v) for i, v in enumerate(verdicts)]
    body = "\n".join(render(part) for part in parts)
    template = Template(files("kengine.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(title=escape(clean(title)), body=body)


def _where(verdicts: Sequence[Verdict]) -> str:
    targets = sorted({f"{v.target}{' (emulator)' if v.emulated else ''}" for v in verdicts})
    versions = sorted({v.environment.kengine for v in verdicts})
    return f"{', '.join(targets) or 'no target'}; kengine {', '.join(versions)}" if verdicts else "no verdict"


def _status(status: Status) -> Element:
    return element("span", str(status), class_=f"status {status}")


def _overview(verdicts: Sequence[Verdict], errors: Sequence[tuple[str, str, str]]) -> Element:
    rows: list[list[Content]] = []
    places = [place(v) for v in verdicts]
    files = [clean(file, lines=False) for file, _, _ in errors]
    cut_off = len(shared_folder([*places, *files]))
    for i, v in enumerate(verdicts):
        link = element("a", places[i][cut_off:], href=f"#v{i}")
        rows.append(
            [link, str(v.target), _status(v.status), error_text(worst(v)), speed_text(v), first_line(v.message)]
        )
    for file, (_, kind, message) in zip(files, errors):
        rows.append([file[cut_off:], "-", element("span", kind, class_="status warn"), "-", "-", first_line(message)])
    headers = ["candidate", "target", "status", "error/tol", "speed", "message"]
    return table(headers, rows, right=(3,), wide=(5,), names=(0,))


def _verdict(number: int, v: Verdict) -> Element:
    node = element("section", class_="verdict", id=f"v{number}")
    marks = [t for t, on in (("emulator", v.emulated), ("self-referenced", v.self_referenced)) if on]
    about = f"{v.target}{' (' + ', '.join(marks) + ')' if marks else ''}; task {v.task.name or v.task.digest[:12]}"
    head = element(
        "div", element("h2", place(v)), _status(v.status), element("span", about, class_="soft"), class_="head"
    )
    extend(node, head, element("p", cut(v.message, _LOG), class_="message") if v.message else None)
    extend(node, *_body(v))
    return node


def _body(v: Verdict) -> Iterator[Element]:
    yield element("h3", "Stages")
    rows: list[list[Content]] = []
    for line in stage_lines(v):
        took = duration(line.took_ns) if line.took_ns is not None else ""
        rows.append([line.stage, element("span", line.state, class_=line.state.replace(" ", "-")), took, line.text])
    yield table(["stage", "", "took", ""], rows, right=(2,), wide=(3,))
    yield from _findings(v)
    yield from _kernels(v)
    yield from _cases(v)
    yield from _checks(v)
    yield from _times(v)
    if v.log.strip():
        yield element("h3", "Compiler and runtime log")
        yield element("pre", cut(v.log.strip("\n"), _LOG))
    output = v.stages.launch.output if v.stages.launch else ""
    if output.strip():
        yield element("h3", "What the candidate printed")
        yield element("pre", cut(output.strip("\n"), _LOG))
    for file in v.candidate.files:
        own = file is v.candidate.files[0]
        findings = v.stages.lint.findings if v.stages.lint else ()
        mine = [f for f in findings if f.path == file.path or (own and not f.path)]
        view = element(
            "details", element("summary", f"Source: {file.path or name(v)}"), source_view(file, mine, v, own)
        )
        if own and (mine or v.line):
            view.set("open", "open")
        yield view
    yield element("p", environment_line(v), class_="soft")


def _findings(v: Verdict) -> Iterator[Element]:
    findings = v.stages.lint.findings if v.stages.lint else ()
    if not findings:
        return
    yield element("h3", "Findings")
    rows: list[list[Content]] = [
        [
            f.code,
            element("span", f.severity, class_=f.severity),
            f"{f.path or name(v)}:{f.line}" if f.line else f.path,
            f.message,
        ]
        for f in findings
    ]
    yield table(["rule", "", "where", "what"], rows, wide=(3,), names=(2,))


def _kernels(v: Verdict) -> Iterator[Element]:
    artifacts = v.stages.compile.artifacts if v.stages.compile else ()
    rows: list[list[Content]] = []
    for a in artifacts:
        for k in a.kernels:
            more = " ".join(f"{key}={value}" for key, value in k.details.items())
            numbers = [str(x) if x is not None else "-" for x in (k.registers, k.spills, k.shared_bytes)]
            occupancy = f"{k.occupancy:.0%}" if k.occupancy is not None else "-"
            rows.append([str(a.target), k.name, *numbers, occupancy, more])
        if not a.kernels and a.note:
            rows.append([str(a.target), "-", "", "", "", "", a.note])
    if rows:
        yield element("h3", "Compiled kernels")
        headers = ["target", "kernel", "registers", "spills (B)", "shared (B)", "occupancy", "more"]
        yield table(headers, rows, right=(2, 3, 4, 5), wide=(6,), names=(1,))


def _cases(v: Verdict) -> Iterator[Element]:
    record = v.stages.compare
    if record is None:
        return
    yield element("h3", "Cases")
    plot = error_plot(record.comparisons)
    if plot is not None:
        yield plot
    launches = v.stages.launch.launches if v.stages.launch else ()
    rows: list[list[Content]] = []
    for i, c in enumerate(record.comparisons[:_CASES]):
        seen = launch_text(launches[i]) if i < len(launches) else ""
        word = "right" if c.ok else "wrong"
        state = element("span", word, class_=word)
        rows.append([c.case, state, ratio(c.error_ratio), f"{c.wrong} of {c.total}", seen])
    yield table(["case", "", "error/tol", "wrong", "launches"], rows, right=(2, 3), wide=(4,), names=(0,))
    for case, reason in record.skipped.items():
        yield element("p", f"skipped {case}: {reason}", class_="soft")
    wrong = [c for c in record.comparisons if not c.ok]
    if wrong:
        yield element("pre", "\n\n".join(comparison_text(c, v.message) for c in wrong[:8]))


def _checks(v: Verdict) -> Iterator[Element]:
    checks = v.stages.integrity.checks if v.stages.integrity else ()
    if not checks:
        return
    yield element("h3", "Integrity")
    rows: list[list[Content]] = []
    for c in checks:
        word = "not run" if not c.ran else "held" if c.ok else "failed" if c.failed else "warned"
        rows.append([c.name, element("span", word, class_=word.replace(" ", "-")), c.evidence])
    yield table(["check", "", "evidence"], rows, wide=(2,), names=(0,))


def _times(v: Verdict) -> Iterator[Element]:
    record = v.stages.time
    if record is None:
        return
    yield element("h3", "Times")
    plot = time_plot(record.cases, record.baseline)
    if plot is not None:
        yield plot
    rows: list[list[Content]] = [
        [
            t.case,
            duration(median(t.candidate_ns)),
            duration(median(t.baseline_ns)),
            interval_text(t),
            t.method,
            str(len(t.candidate_ns)),
        ]
        for t in record.cases
    ]
    headers = ["case", "candidate", record.baseline or "baseline", "speed-up (95 % interval)", "by", "samples"]
    yield table(headers, rows, right=(1, 2, 5), names=(0, 4))
