"""Inputs and parameters that a kernel could leave out: those that do not move the answer, or that 1 or 0 replaces."""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kengine.judge import arena, trial
from kengine.judge.leaves import arrays, dtype_name, is_float, is_torch, map_leaves
from kengine.judge.packing import leaves
from kengine.judge.screening import PHASE
from kengine.judge.session import Session
from kengine.model import Case, TaskFinding

Alter = Callable[[Any, Any], Any]
"""From an array, and the one that another draw has in its place (None for parameters), to what stands in for it."""


def find(session: Session, deadline: float) -> Iterator[TaskFinding]:
    """Yield a warning for inputs and one for parameters whose values do not matter, and one for each kind that may be
    left out: zeros or ones in its place (for a mask false or true) pass in every case."""
    for kind, names, places in (("input", *_inputs(session)), ("parameter", *_parameters(session))):
        loose, idle = [], []
        for name, place in zip(names, places):
            if time.monotonic() > deadline:
                return
            if _shakable(session, kind, place) and _passes(session, kind, place, _shaken):
                loose.append(name)
            elif (value := _stand_in(session, kind, place)) != "":
                idle.append(f"{name} ({value} will do)")
        if loose:
            what = f"the answer does not depend on {_plural(kind, loose)}: a kernel that never reads it passes"
            fix = f"take it out, or draw values under which the {kind} matters"
            yield TaskFinding("unbound", "warning", what, fix)
        if idle:
            what = f"{_plural(kind, idle)} could be left out: a kernel that does so passes in every case"
            yield TaskFinding("identity", "warning", what, "give it values that change the answer, or take it out")


def _shakable(session: Session, kind: str, place: Any) -> bool:
    """Whether an array can be given other values: not so for integers that every draw has alike (places, counts)."""
    if kind == "parameter":
        return True
    pair = []
    for phase in ("check", PHASE):
        packed = session.entry(session.cases[0], phase).packed
        pair.append(list(arrays(packed.values(packed.image)))[place])
    first, second = pair
    alterable = is_float(first) or dtype_name(first) == "bool"
    return alterable or (first.shape == second.shape and not bool((first == second).all()))


def _passes(session: Session, kind: str, place: Any, alter: Alter) -> bool:
    return all(trial.passes(session, case, _altered(session, case, kind, place, alter)) for case in session.cases)


def _stand_in(session: Session, kind: str, place: Any) -> str:
    """What passes in the place of the task's own array: "zeros", "ones", "false" or "true"; "" when none does."""
    first = session.entry(session.cases[0], "check")
    if kind == "input":
        array = list(arrays(first.packed.values(first.packed.image)))[place]
    else:
        array = first.model.state_dict()[place]
    is_bool = dtype_name(array) == "bool"
    if not is_bool and not is_float(array):
        return ""
    for value, name in ((1, "true" if is_bool else "ones"), (0, "false" if is_bool else "zeros")):
        if _passes(session, kind, place, _filled(value)):
            return name
    return ""


def _filled(value: int) -> Alter:
    def fill(array: Any, other: Any) -> Any:
        return (array & False) | bool(value) if dtype_name(array) == "bool" else array * 0 + value

    return fill


def _plural(kind: str, names: list[str]) -> str:
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{kind}{'s' if len(names) > 1 else ''} {shown}"


def _inputs(session: Session) -> tuple[list[str], list[int]]:
    packed = session.entry(session.cases[0], "check").packed
    count = sum(len(leaves(a)) for a in packed.args)
    return [name for name, _ in packed.names[:count]], list(range(count))


def _parameters(session: Session) -> tuple[list[str], list[str]]:
    model = session.entry(session.cases[0], "check").model
    if model is None or not hasattr(model, "state_dict"):
        return [], []
    training = [name for name, part in model.named_modules() if _is_training_norm(part)]
    # What a normalisation in training mode has seen so far is no part of its answer.
    names = [
        name
        for name, value in model.state_dict().items()
        if value.dtype.is_floating_point and value.numel() and not _belongs(name, training)
    ]
    return names, names


def _is_training_norm(part: Any) -> bool:
    norm = sys.modules["torch"].nn.modules.batchnorm._NormBase
    return isinstance(part, norm) and part.training


def _belongs(name: str, owners: list[str]) -> bool:
    owner, _, last = name.rpartition(".")
    return owner in owners and last.startswith("running_")


def _altered(session: Session, case: Case, kind: str, place: Any, alter: Alter) -> list[Any] | None:
    if kind == "parameter":
        return trial.run(session, case, change=lambda args, model: (args, _with_parameter(model, place, alter)))
    other = session.entry(case, PHASE).packed
    drawn = list(arrays(other.values(arena.duplicate(other.image))))

    def change(args: list[Any], model: Any) -> tuple[list[Any], Any]:
        count = iter(range(1 << 30))
        return [map_leaves(lambda x: alter(x, drawn[place]) if next(count) == place else x, a) for a in args], model

    return trial.run(session, case, change=change)


def _with_parameter(model: Any, name: str, alter: Alter) -> Any:
    torch = sys.modules["torch"]
    changed = copy.deepcopy(model)
    value = changed.state_dict()[name]
    with torch.no_grad():
        value.copy_(alter(value.clone(), None))
    return changed


def _shaken(array: Any, other: Any) -> Any:
    """An array of another draw, or where there is none, one with every element changed."""
    if other is not None and other.shape == array.shape and not bool((other == array).all()):
        return other
    if dtype_name(array) == "bool":
        return ~array
    if not is_float(array):
        return array  # places and counts may have no other value
    noise = np.random.default_rng(array.shape[-1] if array.shape else 1).random(tuple(array.shape))
    if is_torch(array):
        import torch

        change = torch.as_tensor(noise, dtype=torch.float64).to(array.device)
        return (array.to(torch.float64) * (0.5 + change) + 0.25 + change).to(array.dtype)
    return (np.asarray(array, dtype=np.float64) * (0.5 + noise) + 0.25 + noise).astype(array.dtype)
