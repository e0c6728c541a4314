"""Whether two verdicts on the same candidate say the same, stage by stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kengine.model import Stages, Verdict
from kengine.report.plain import count
from kengine.report.summary import STAGES, speed_text


@dataclass(frozen=True)
class Likeness:
    """One thing compared: the status, a stage, the bytes of the outputs or the environment."""

    what: str
    same: bool
    text: str


def compare(then: Verdict, now: Verdict) -> list[Likeness]:
    """Compare everything that should repeat: status, each stage's findings, and the bytes of every output."""
    lines = [Likeness("status", then.status is now.status, _change(str(then.status), str(now.status)))]
    for stage in STAGES:
        lines.append(_stage(stage, then, now))
    shared = then.digests.keys() & now.digests.keys()
    if shared:
        differ = sum(then.digests[key] != now.digests[key] for key in shared)
        text = (
            f"{differ} of {count(len(shared), 'output')} differ"
            if differ
            else f"{count(len(shared), 'output')}, bit for bit"
        )
        lines.append(Likeness("outputs", differ == 0, text))
    return lines


def changes(then: Verdict, now: Verdict) -> list[str]:
    """What differs in the environment, a line each."""
    old, new = then.environment, now.environment
    pairs = [
        ("kengine", old.kengine, new.kengine),
        ("Python", old.python, new.python),
        ("platform", old.platform, new.platform),
    ]
    pairs += [("device", old.device, new.device), ("sandbox", ", ".join(old.sandbox), ", ".join(new.sandbox))]
    names = sorted(old.versions.keys() | new.versions.keys())
    pairs += [(name, old.versions.get(name, "absent"), new.versions.get(name, "absent")) for name in names]
    return [f"{name}: {a or 'none'} then, {b or 'none'} now" for name, a, b in pairs if a != b]


def _change(then: str, now: str) -> str:
    return then if then == now else f"{then} then, {now} now"


def _stage(stage: str, then: Verdict, now: Verdict) -> Likeness:
    old, new = _essence(then.stages, stage), _essence(now.stages, stage)
    if old is None or new is None:
        run = {True: "not run", False: "run"}
        return Likeness(stage, old is new, _change(run[old is None], run[new is None]))
    if stage == "time":
        return Likeness(stage, old == new, _change(speed_text(then), speed_text(now)))
    return Likeness(stage, old == new, "" if old == new else _first_difference(old, new))


def _essence(stages: Stages, stage: str) -> list[Any] | None:
    """What of a record must repeat: no times, no logs, no folders."""
    record = getattr(stages, stage)
    return None if record is None else _ESSENCES[stage](record)


_ESSENCES: dict[str, Callable[[Any], list[Any]]] = {
    "lint": lambda r: list(r.findings),
    "compile": lambda r: [(str(a.target), a.kernels) for a in r.artifacts],
    "launch": lambda r: list(r.launches),
    "compare": lambda r: list(r.comparisons),
    "integrity": lambda r: [(c.name, c.ran, c.ok) for c in r.checks if c.name != "opinion"],
    "time": lambda r: [r.label],
}


def _first_difference(old: list[Any], new: list[Any]) -> str:
    if len(old) != len(new):
        return f"{len(old)} entries then, {len(new)} now"
    at, a, b = next((i, a, b) for i, (a, b) in enumerate(zip(old, new)) if a != b)
    return f"entry {at}: {a} then, {b} now"
