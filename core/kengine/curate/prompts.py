"""What a model is asked: operator, reference, cases, target, constraints, output format, and tags to steer by."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kengine.curate.record import Message, Sample
from kengine.model import Case, Task
from kengine.plugins import dialect

TAGS = ("backend", "target", "category", "level", "difficulty", "operator", "variant")
"""Tags that a prompt may begin with."""

_BLOCK = re.compile(r"^# ///\s*kengine\n(?:#.*\n)*?# ///\s*\n", re.MULTILINE)
_ENTRIES = {
    "module": "a class `ModelNew` with the same constructor and the same `forward` as `Model`",
    "numpy": "a function `candidate` that takes the arrays of `get_inputs` and returns the result",
}  # fmt: skip


def build(
    sample: Sample, *, tags: Sequence[str] = ("backend",), system: str = "", reasoning: bool = False
) -> tuple[Message, ...]:
    """Messages that ask for the sample's task on its backend. Raises ValueError for a sample without a task.

    tags: which of TAGS the first line holds, those that are known. reasoning: ask for the reasons before the code.
    """
    task = sample.task
    if task is None:
        raise ValueError(f"sample {sample.uid} has no task to ask for")
    line = _tag_line(sample, tags)
    operator, target = sample.labels.get("operator") or task.name, sample.labels.get("target")
    entry = sample.entry if sample.files and sample.language == "python" else ""
    key = (line, operator, target, sample.backend, entry, reasoning)
    known = _written.get(id(task))
    if known is None or known[0] is not task:
        if len(_written) > _KEPT:
            _written.clear()
        known = _written[id(task)] = (task, {})
    text = known[1].get(key)
    if text is None:
        if len(known[1]) > _KEPT:
            known[1].clear()
        text = known[1][key] = _write(task, line, str(operator), target, sample.backend, entry, reasoning)
    user: Message = {"role": "user", "content": text}
    return ({"role": "system", "content": system}, user) if system else (user,)


_KEPT = 256
_written: dict[int, tuple[Task, dict[tuple[object, ...], str]]] = {}
"""Texts by task (a corpus has many samples of one) and by what else goes into them."""


def _write(task: Task, line: str, operator: str, target: object, backend: str, entry: str, reasoning: bool) -> str:
    language = dialect.find(backend).language or backend or "GPU"
    lines = [line, f"Write a {language} kernel for the operator `{operator}`.", ""]
    lines += ["Reference:", "```python", _BLOCK.sub("", task.source).strip(), "```", ""]
    if task.spec.cases:
        lines += [
            "It is checked on these inputs, among others:",
            *(f"- {_describe(c)}" for c in task.spec.cases[:8]),
            "",
        ]
    if target:
        lines += [f"Target: {target}", ""]
    lines += ["Constraints:", *(f"- {text}" for text in constraints(task)), ""]
    first = "First give the reasons for your design inside <think> and </think>, then answer" if reasoning else "Answer"
    lines.append(f"{first} with one ```python block that defines {_entry(task, backend, entry)}, and nothing after it.")
    return "\n".join(lines).lstrip("\n")


def constraints(task: Task) -> list[str]:
    """What an answer has to keep to, by the task's spec."""
    tolerance = task.spec.tolerance
    bound = f"within a relative error of {tolerance.rtol:g}" if tolerance.rtol is not None else (
        "as exactly as the reference's own precision allows"
    )  # fmt: skip
    found = [
        "the kernel itself does the work: no framework operator computes any part of the result",
        "it is right for every shape that the reference accepts, not for those above alone",
        f"results match the reference {bound}",
    ]
    if task.spec.writes:
        found.append(f"it writes to its arguments {', '.join(task.spec.writes)}")
    else:
        found.append("it leaves its inputs as they are")
    return found


def _entry(task: Task, backend: str, name: str) -> str:
    """What an answer must define; an answer that is there already says itself what its function is called."""
    usual = "a function `candidate` that takes the inputs of `reference` and returns its result"
    text = dialect.find(backend).entry or _ENTRIES.get(task.form, usual)
    return text.replace("`candidate`", f"`{name}`") if name else text


def _describe(case: Case) -> str:
    parts = [f"{k}={v}" for k, v in case.params.items()]
    parts += [case.dtype] if case.dtype else []
    parts += [f"{case.layout} memory"] if case.layout != "contiguous" else []
    return ", ".join(parts) or case.name


def _tag_line(sample: Sample, tags: Sequence[str]) -> str:
    known = [(tag, _tag(sample, tag)) for tag in tags]
    return " ".join([f"[{tag}: {value}]" for tag, value in known if value not in (None, "")])


def _tag(sample: Sample, tag: str) -> object:
    if tag == "backend":
        return sample.backend
    value = sample.labels.get(tag)
    if value is None and sample.task is not None and tag in ("category", "level"):
        return getattr(sample.task.spec, tag)
    return value
