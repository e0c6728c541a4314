"""What a model is asked: operator, reference, cases, target, constraints, output format, and tags to steer by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kengine.curate import entries
from kengine.curate.entries import Call, Style, read_call
from kengine.curate.record import Message, Sample, evolve
from kengine.model import Case, Task
from kengine.plugins import dialect

TAGS = ("backend", "target", "category", "level", "difficulty", "operator", "variant")
"""Tags that a prompt may begin with."""

_BLOCK = re.compile(r"^# ///\s*kengine\n(?:#.*\n)*?# ///\s*\n", re.MULTILINE)


def build(
    sample: Sample, *, tags: Sequence[str] = ("backend",), system: str = "", reasoning: bool = False
) -> tuple[Message, ...]:
    """Messages that ask for the sample's task on its backend. Raises ValueError for a sample without a task.

    tags: which of TAGS the first line holds, those that are known. reasoning: ask for the reasons before the code.
    What the sample's source says of the task (`instruction`, or the last turn of its own prompt) is a part of it.
    """
    task = sample.task
    if task is None:
        raise ValueError(f"sample {sample.uid} has no task to ask for")
    known = _written.get(id(task))
    if known is None or known[0] is not task:
        if len(_written) > _KEPT:
            _written.clear()
        known = _written[id(task)] = (task, read_call(task), {})
    _, call, texts = known
    said = sample.instruction or (said_in(sample.prompt) if sample.prompt else "")
    operator, target = sample.labels.get("operator") or task.name, target_of(sample)
    style, entry = entries.style_of(sample, call)
    hidden = ""
    if task.self_referenced and holds_answer(sample):
        hidden = entries.signature(sample.code, entry or "candidate")
    key = (_tag_line(sample, tags), operator, target, sample.backend, entry, style, reasoning, said, hidden)
    text = texts.get(key)
    if text is None:
        if len(texts) > _KEPT:
            texts.clear()
        line = key[0]
        asked = _Asked(task, call, line, str(operator), target, sample.backend, entry, style, reasoning, said)
        text = texts[key] = _write(asked, hidden)
    user: Message = {"role": "user", "content": text}
    return ({"role": "system", "content": system}, user) if system else (user,)


_KEPT = 256
_written: dict[int, tuple[Task, Call, dict[tuple[object, ...], str]]] = {}
"""Texts by task (a corpus has many samples of one) and by what else goes into them."""


def adopt(sample: Sample) -> Sample:
    """A task to be asked for, with what its source would have asked as the instruction and not as the whole prompt."""
    if not sample.prompt:
        return sample
    return evolve(sample, prompt=(), instruction=sample.instruction or said_in(sample.prompt))


def said_in(messages: Sequence[Message]) -> str:
    """The last turn of a user."""
    return next((m["content"] for m in reversed(messages) if m.get("role") == "user"), "")


def holds_answer(sample: Sample) -> bool:
    """Whether the reference that a sample brought contains its candidate, so that a prompt may not show it."""
    code = sample.code.strip()
    return bool(code) and sample.task is not None and code in sample.task.source


def target_of(sample: Sample) -> str:
    """What an answer has to run on: the chip that a label names, else those it was judged on or compiled for."""
    named = sample.labels.get("target")
    if named or not sample.judgements:
        return str(named or "")
    emulators = {j.target for j in sample.judgements if j.emulated}
    every = dict.fromkeys(chip for j in sample.judgements for chip in (j.target, *j.compiled_for))
    return ", ".join(chip for chip in every if chip not in emulators)


@dataclass(frozen=True)
class _Asked:
    """All that goes into a prompt."""

    task: Task
    call: Call
    tags: str
    operator: str
    target: str
    backend: str
    entry: str
    style: Style
    reasoning: bool
    said: str


def _write(asked: _Asked, hidden: str) -> str:
    """The text. hidden: signature of a candidate that the reference would give away, told in its place."""
    task, spoken = asked.task, dialect.find(asked.backend)
    language = spoken.language or asked.backend or "GPU"
    plain = language.partition(" (")[0]
    language = plain if asked.style == "native" else language
    lines = [asked.tags, f"Write a {language} kernel for the operator `{asked.operator}`.", ""]
    if hidden:
        lines += [f"It is called as `{hidden}`.", ""]
    else:
        lines += ["Reference:", "```python", _BLOCK.sub("", task.source).strip(), "```", ""]
    if asked.said.strip():
        lines += ["What its source says of it (the constraints and the format below count before this):", ""]
        lines += [asked.said.strip(), ""]
    if task.spec.cases:
        lines += ["It is checked on these inputs, among others:"]
        lines += [*(f"- {_describe(c)}" for c in task.spec.cases[:8]), ""]
    lines += [f"Target: {asked.target or f'any chip that {plain} runs on'}", ""]
    lines += ["Constraints:", *(f"- {text}" for text in constraints(task)), ""]
    first = "First give the reasons for your design inside <think> and </think>, then answer" if asked.reasoning else (
        "Answer"
    )  # fmt: skip
    wanted = entries.describe(asked.task, asked.call, spoken, asked.entry, asked.style)
    lines.append(f"{first} with {wanted}. Nothing follows the block.")
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
        names = ", ".join(f"`{name}`" for name in task.spec.writes)
        found.append(
            f"it writes into {names}, in place, what `reference` writes there; its other inputs stay as they are"
        )
    else:
        found.append("it leaves its inputs as they are")
    return found


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
