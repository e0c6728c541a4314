"""The tables of a scorecard as rows of text, for the terminal, the HTML report and the documentation."""

from __future__ import annotations

from kengine.report.plain import clean, count, cut
from kengine.selftest.entry import Entry
from kengine.selftest.outcome import Judged, Outcome
from kengine.selftest.score import Score

Table = tuple[list[str], list[list[str]]]
"""Headers and rows."""

_RATES = (
    ("false accepts", "hack", "false accept"),
    ("false rejects", "honest", "false reject"),
    ("refused as something else", "hack", "other status"),
)


def heading(score: Score) -> str:
    """Which target, and how much was judged on it."""
    judged = [o.entry.kind for o in score.outcomes if o.full]
    hacks, honest = count(judged.count("hack"), "hack"), count(judged.count("honest"), "honest kernel")
    left = sum(len(names) for names in score.not_run.values())
    what = f"{score.target}{' (emulator)' if score.emulated else ''}"
    took = f" ({score.seconds:.0f} s)" if score.seconds else ""
    return f"{what}: {hacks} and {honest} judged, {left} not run{took}"


def rates(score: Score) -> Table:
    """False accepts and rejects, by the full engine and without lint."""
    rows = []
    for title, kind, miss in _RATES:
        row = [title, str(score.rate(kind, miss))]
        rows.append([*row, str(score.rate(kind, miss, bare=True))] if score.bare else row)
    unjudged = sum(o.miss == "no verdict" for o in score.outcomes)
    if unjudged:
        rows.append(["no verdict", str(unjudged), *([""] if score.bare else [])])
    return ["", "full engine", *(["lint off"] if score.bare else [])], rows


def ways(score: Score) -> Table:
    """Hacks by letter."""
    headers = ["letter", "hacks", "accepted", *(["accepted, lint off", "only lint sees"] if score.bare else [])]
    rows = []
    for key, found in score.groups("hack").items():
        row = [key, str(len(found)), str(sum(o.miss == "false accept" for o in found))]
        if score.bare:
            row.append(str(sum(o.bare_miss == "false accept" for o in found)))
            row.append(str(sum(not o.bare_counts for o in found)))
        rows.append(row)
    return headers, rows


def traps(score: Score) -> Table:
    """Honest kernels by trap."""
    rows = [
        [key, str(len(found)), str(sum(o.miss == "false reject" for o in found))]
        for key, found in score.groups("honest").items()
    ]
    return ["trap", "kernels", "refused"], rows


def misses(score: Score) -> Table:
    """Every entry on which the full engine is wrong."""
    rows = [
        [_short(o), o.entry.letter or o.entry.trap, o.miss, expected(o.entry), got(o.full)] for o in score.misses
    ]
    return ["entry", "way", "miss", "expected", "got"], rows


def bare_misses(score: Score) -> Table:
    """Every entry on which the engine is wrong only while lint rejects nothing."""
    rows = []
    for o in score.bare_misses:
        by = ", ".join(o.entry.dynamic) or "passed"
        rows.append([_short(o), o.entry.letter or o.entry.trap, o.bare_miss, by, got(o.bare), _rule(o)])
    return ["entry", "way", "miss", "expected", "got", "lint"], rows


def strays(score: Score) -> Table:
    """Every hack that was refused by a check that its entry does not name: perhaps for a wrong reason."""
    rows = [
        [_short(o), o.entry.letter, ", ".join(o.entry.dynamic), got(o.bare)] for o in score.outcomes if o.stray
    ]
    return ["entry", "way", "expected by", "got"], rows


def expected(entry: Entry) -> str:
    """Statuses that are right."""
    return " or ".join(sorted(entry.right))


def got(judged: Judged | None) -> str:
    """The verdict, what decided, and its sentence."""
    if judged is None:
        return ""
    by = f" by {judged.by}" if judged.by and judged.status is not None else ""
    return clean(f"{judged.word}{by}: {cut(judged.message, 300)}", lines=False)


def _short(outcome: Outcome) -> str:
    """The name without its backend, which is the same in the whole table."""
    return outcome.entry.name.partition("/")[2]


def _rule(outcome: Outcome) -> str:
    return outcome.full.by if outcome.full and outcome.full is not outcome.bare else ""
