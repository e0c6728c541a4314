"""Rows of each format. What a trainer does not read lies beside it: every row says where it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kengine import codec
from kengine.curate import jsontext, prompts, rows
from kengine.curate.export.section import Export
from kengine.curate.record import Judgement, Message, Sample
from kengine.errors import UsageError
from kengine.model import Task

Row = dict[str, Any]
_FENCES = {".cu": "cuda", ".cuh": "cuda", ".hip": "hip", ".cpp": "cpp", ".py": "python"}


@dataclass(frozen=True)
class Format:
    """How one format is written: the row of a sample (and its provenance), or one for each task, and the columns.

    schema: columns and their types by name, as `export.files` understands them. plain: a row holds texts and its
    provenance, and no number of its own.
    """

    make: Callable[[Sample, Row, Export], Row]
    by_task: bool
    schema: Mapping[str, Any]
    plain: bool = False


def ask(sample: Sample, section: Export) -> list[Message]:
    """The messages that a sample answers: its own, else built from its task. Raises UsageError when it has neither."""
    if sample.prompt:
        return [dict(m) for m in sample.prompt]
    if sample.task is None:
        raise UsageError(
            f'{sample.uid}: has neither a prompt nor a task to build one from; [parse] taskless = "drop" leaves it out'
        )
    return [dict(m) for m in prompts.build(sample, tags=section.tags, system=section.system)]


def answer(sample: Sample, section: Export) -> dict[str, str]:
    """The assistant's message: the candidate in a fence, the reasoning where the section wants it."""
    fences = []
    for file in sample.files:
        tag = _FENCES.get(file.path[file.path.rfind(".") :], "") if "." in file.path else ""
        head = f"# {file.path}\n" if len(sample.files) > 1 and tag == "python" else ""
        mark = "```" if "```" not in file.text else "`````"
        fences.append(f"{mark}{tag}\n{head}{file.text.rstrip()}\n{mark}")
    content = "\n\n".join(fences)
    message = {"role": "assistant", "content": content}
    if sample.reasoning and section.reasoning == "think":
        message["content"] = f"<think>\n{sample.reasoning.strip()}\n</think>\n\n{content}"
    if section.reasoning == "field":
        message["reasoning_content"] = sample.reasoning
    return message


def provenance(sample: Sample, task_digest: str) -> Row:
    """Where a row comes from, what was found out about it, and how to find it out again."""
    judgements, labels = sample.judgements, sample.labels
    facets = sample.facets()
    told = {
        "uid": sample.uid,
        "parent": sample.parent,
        "source": sample.source,
        "origin": sample.origin,
        "license": sample.license,
        "model": sample.model,
        "task_name": facets["task"],
        "task_digest": task_digest,
        "candidate_digest": sample.digest,
        "backend": sample.backend,
        **_UNJUDGED,
        "operator": _text(labels.get("operator")),
        "category": _text(facets.get("category")),
        "level": _text(facets.get("level")),
        "difficulty": _text(labels.get("difficulty")),
        "variant": _text(labels.get("variant")),
        "weight": sample.weight,
        "labels": jsontext.encode(labels).decode() if labels else "{}",
    }
    if judgements:
        told |= _judged(judgements)
    return told


_UNJUDGED: Row = {
    "verdict": "unjudged", "targets": [], "compiled_for": [], "emulated": None, "seeds": [], "toolchain": "{}",
    "device": "", "speedup": None, "latency_ns": None,
}  # fmt: skip


def _judged(judgements: tuple[Judgement, ...]) -> Row:
    speedups = [j.speedup for j in judgements if j.speedup is not None]
    latencies = [j.latency_ns for j in judgements if j.latency_ns is not None]
    return {
        "verdict": next((j.status for j in reversed(judgements) if not j.passed), "passed"),
        "targets": [j.target for j in judgements],
        "compiled_for": list(dict.fromkeys(t for j in judgements for t in j.compiled_for)),
        "emulated": all(j.emulated for j in judgements),
        "seeds": list(dict.fromkeys(j.salt for j in judgements if j.salt)),
        "toolchain": json.dumps({j.target: dict(j.versions) for j in judgements}, sort_keys=True),
        "device": next((j.device for j in judgements if j.device), ""),
        "speedup": min(speedups) if speedups else None,
        "latency_ns": latencies[0] if latencies else None,
    }


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _messages(sample: Sample, told: Row, section: Export) -> Row:
    flag = section.loss_flag
    asked = [{**m, flag: False} for m in ask(sample, section)]
    if section.reasoning == "field":
        asked = [{**m, "reasoning_content": ""} for m in asked]
    return {"messages": [*asked, {**answer(sample, section), flag: True}], **told}


def _pair(sample: Sample, told: Row, section: Export) -> Row:
    return {"prompt": ask(sample, section), "completion": [answer(sample, section)], **told}


def _hf(sample: Sample, told: Row, section: Export) -> Row:
    askable = bool(sample.prompt) or sample.task is not None
    return {
        "prompt": ask(sample, section)[-1]["content"] if askable else "",
        "code": sample.code,
        "files": json.dumps([[f.path, f.text] for f in sample.files[1:]]),
        "reasoning": sample.reasoning,
        "completion": sample.completion,
        "reference": sample.task.source if sample.task else "",
        "judgements": json.dumps([rows.judgement_json(j) for j in sample.judgements]),
        **told,
    }


def _task_text(task: Task | None) -> str:
    return codec.dumps(task) if task is not None else ""


def _verl(sample: Sample, told: Row, section: Export) -> Row:
    return {
        "prompt": ask(sample, section),
        "data_source": f"kengine/{sample.source}",
        "ability": "kernel",
        "reward_model": {"style": "kengine", "ground_truth": _task_text(sample.task)},
        "extra_info": {"split": "", "index": 0, **told},
    }


def _slime(sample: Sample, told: Row, section: Export) -> Row:
    return {"prompt": ask(sample, section), "label": _task_text(sample.task), "metadata": told}


def _nemo_gym(sample: Sample, told: Row, section: Export) -> Row:
    return {
        "responses_create_params": {"input": ask(sample, section)},
        "verifier_metadata": {"task": _task_text(sample.task), **told},
        "agent_ref": {"type": "responses_api_agents", "name": "simple_agent"},
    }


def _samples(sample: Sample, told: Row, section: Export) -> Row:
    return rows.to_full_row(sample)


PROVENANCE: Mapping[str, Any] = {
    **dict.fromkeys(("uid", "parent", "source", "origin", "license", "model", "task_name", "task_digest",
                     "candidate_digest", "backend", "verdict"), "text"),
    "targets": ["text"],
    "compiled_for": ["text"],
    "emulated": "flag",
    "seeds": ["text"],
    **dict.fromkeys(("toolchain", "device"), "text"),
    "speedup": "number",
    "latency_ns": "whole",
    **dict.fromkeys(("operator", "category", "level", "difficulty", "variant"), "text"),
    "weight": "number",
    "labels": "text",
}  # fmt: skip
"""Columns of `provenance` and their types."""

_TURN = {"role": "text", "content": "text"}
_ANSWER = {**_TURN, "reasoning_content": "text"}

FORMATS: Mapping[str, Format] = {
    "messages": Format(_messages, False, {"messages": [{**_ANSWER, "train": "flag"}], **PROVENANCE}, True),
    "prompt-completion": Format(_pair, False, {"prompt": [_TURN], "completion": [_ANSWER], **PROVENANCE}, True),
    "hf": Format(_hf, False, {**dict.fromkeys(("prompt", "code", "files", "reasoning", "completion", "reference",
                                               "judgements"), "text"), **PROVENANCE}),
    "verl": Format(_verl, True, {
        "prompt": [_TURN], "data_source": "text", "ability": "text",
        "reward_model": {"style": "text", "ground_truth": "text"},
        "extra_info": {"split": "text", "index": "whole", **PROVENANCE},
    }),
    "slime": Format(_slime, True, {}),
    "nemo-gym": Format(_nemo_gym, True, {
        "responses_create_params": {"input": [_TURN]}, "verifier_metadata": {"task": "text", **PROVENANCE},
        "agent_ref": {"type": "text", "name": "text"},
    }),
    "samples": Format(_samples, False, {}),
}  # fmt: skip
