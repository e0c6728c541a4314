"""The value that a sample has under a name: a label, or one of its own fields; what stages group and cap by."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kengine.curate.record import Sample
from kengine.model import JsonValue

FIELDS: Mapping[str, Callable[[Sample], str]] = {
    "task": lambda sample: sample.group or (sample.task.name if sample.task else ""),
    "backend": lambda sample: sample.backend,
    "source": lambda sample: sample.source,
    "license": lambda sample: sample.license,
    "model": lambda sample: sample.model,
    "language": lambda sample: sample.language,
}
"""Names that are no labels. task: of a sample's group, so that variants of a task count as that task."""


def value_of(sample: Sample, name: str) -> str:
    """The value as text, "" when the sample has none. Category and level may come from the task."""
    own = FIELDS.get(name)
    if own is not None:
        return own(sample)
    value = sample.labels.get(name)
    if value is None and sample.task is not None and name in ("category", "level"):
        value = getattr(sample.task.spec, name)
    return to_text(value)


def to_text(value: JsonValue) -> str:
    """A label's value as the text by which tables name it: 1 and 1.0 are the same, true is `true`."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def rate_of(sample: Sample) -> float | None:
    """The measured pass rate of a sample's task, None when there is none."""
    value = sample.labels.get("pass_rate")
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
