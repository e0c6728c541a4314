"""Wrong answers in words: where, how many, and of what kind, without a single expected value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf, isnan

from kengine.model import Comparison, Element, Verdict

CASES = 3
"""Wrong cases that are described; the rest is counted."""

_OUTPUT = r"(?:the output|output \d+)(?:\[(?:\d+|'[\w .-]{0,40}')\])*"
_NAME = r"(?:an? [\w. ]{1,60}|an array \w{1,20}\[[\d, ]*\]|the dtype [\w.]{1,40}|None)"
_KIND = r"(?:an? (?:plain )?[\w.]{1,60}(?: \w{1,20}\[[\d, ]*\]| of \d+)?|a dict)"
_FORMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\d+ outputs? came back, expected \d+ outputs?",
        rf"{_OUTPUT} is {_NAME}, expected {_KIND}",
        rf"{_OUTPUT} is a \w+ of \d+, expected \d+",
        rf"{_OUTPUT} has shape \[[\d, ]*\], expected \[[\d, ]*\]",
        rf"{_OUTPUT} has dtype \w{{1,20}}, expected \w{{1,20}}",
        rf"{_OUTPUT} lives on [\w:]{{1,20}}, expected \w{{1,20}}",
        rf"{_OUTPUT} has strides \[[-\d, ]*\], expected \[[-\d, ]*\]",
        rf"{_OUTPUT} is expanded \(strides \[[-\d, ]*\]\): several elements are one place in memory",
        r"an output's bytes did not fit into the memory for them",
    )
)
"""Every sentence of the judge about the form of an answer; what is none of them may hold a value."""
_PLACES = tuple(
    re.compile(pattern)
    for pattern in (
        r"every element|the only element|one tile: [\w ,()]+",
        r"first wrong row (?:\d+|\[[\d, ]*\])",
        r"(?:whole rows: |in every row: )?(?:only |all |every )?[\w ,()]*(?:row|column|element)s?[\w ,()]*",
        r"scattered[\w ,]*",
        r"all of it is NaN, as if nothing had been written|all of it is zero",
        r"it is the expected answer (?:times -?[\d.]+(?:e[-+]?\d+)?|transposed|shifted by -?\d along dimension \d+)",
    )
)
_CONSTANT = re.compile(r"all of it is .*")


def mistakes(verdict: Verdict) -> Iterator[str]:
    """Describe the wrong cases of a verdict, worst first, one or two lines each."""
    record = verdict.stages.compare
    wrong = [c for c in record.comparisons if not c.ok] if record else []
    if not wrong or record is None:
        when = "when it was timed" if verdict.stage == "time" else "later"
        yield (
            f"It was right when it was checked and wrong {when}, on other inputs of the same form: look for a race, "
            "for memory that is read before it is written, and for state kept between calls."
        )
        return
    if len(record.comparisons) > 1:
        are = "is" if len(wrong) == 1 else "are"
        yield f"{len(wrong)} of {len(record.comparisons)} cases that were tried {are} wrong."
    for comparison in sorted(wrong, key=_badness, reverse=True)[:CASES]:
        yield from describe(comparison)
    if len(wrong) > CASES:
        yield f"... and {len(wrong) - CASES} more."


def describe(comparison: Comparison) -> Iterator[str]:
    """Describe one wrong case: its size and place, the kind of its worst element, and inputs that were changed."""
    own = comparison.by == "kengine"
    if comparison.worst is None:
        if comparison.mutated and comparison.wrong == 0:
            yield f"Case {comparison.case}: the answer is right."
        else:
            form = comparison.problem if own and any(f.fullmatch(comparison.problem) for f in _FORMS) else ""
            yield f"Case {comparison.case}: {form or 'the answer is not of the form that the reference has'}."
    else:
        share = f"{comparison.wrong} of {comparison.total} elements are wrong"
        yield f"Case {comparison.case}: {share}; {_worst(comparison, comparison.worst)}."
        where = _where(comparison)
        if where:
            yield f"  Wrong are: {where}."
    if comparison.mutated:
        yield f"  It wrote to {', '.join(comparison.mutated)}, which it may only read."


def _badness(comparison: Comparison) -> tuple[bool, float]:
    ratio = comparison.error_ratio
    return comparison.worst is None or comparison.nonfinite > 0, float("inf") if ratio is None else ratio


def _where(comparison: Comparison) -> str:
    if comparison.by != "kengine":
        return ""
    parts = []
    for part in comparison.where.split("; "):
        if any(place.fullmatch(part) for place in _PLACES):
            parts.append(part)
        elif _CONSTANT.fullmatch(part):
            parts.append("all of it is one constant")
    return "; ".join(parts)


def _worst(comparison: Comparison, worst: Element) -> str:
    at = f"the worst is output {worst.output} at {list(worst.index)}"
    got, expected = _number(worst.got), _number(worst.expected)
    if got is None or expected is None:
        return at
    if _special(got) and not _special(expected):
        return f"{at}, {'NaN' if isnan(got.real) or isnan(got.imag) else 'infinite'} where the answer is finite"
    if _special(expected) and not _special(got):
        return f"{at}, finite where the answer is not"
    if _special(got):
        return f"{at}, not finite, and of another kind than the answer"
    zero = ", zero" if got == 0 else ""
    if comparison.error_ratio is None:
        return f"{at}{zero}, where it must be exact"
    return f"{at}{zero}, an error of {_times(comparison.error_ratio)} times what is allowed"


def _times(ratio: float) -> str:
    # One digit: for an answer of zeros the whole error is the expected value itself.
    if ratio >= 1e6:
        return "over a million"
    return f"about {float(f'{ratio:.0e}'):g}"


def _special(value: complex) -> bool:
    return isnan(value.real) or isnan(value.imag) or isinf(value.real) or isinf(value.imag)


def _number(text: str) -> complex | None:
    try:
        return complex(text)
    except ValueError:
        return None
