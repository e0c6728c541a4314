"""The published rewards by name, for configuration files and the command line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from kengine.errors import UsageError
from kengine.rewards.outcome import Judged

RewardFunction = Callable[[Judged], "float | None"]

_HOMES = {
    "ladder": ("correctness", "staged"),
    "kernelbench": ("fast_p", "kevin", "kernelbench_tinker"),
    "amd": ("amd_kernel_vault", "amd_hip", "amd_hip_novelty", "amd_hip_legacy"),
    "cuda": ("cuda_agent", "cuda_l1"),
    "triton": ("autotriton", "tritonrl", "tritonrl_plan", "tritonrl_code"),
    "profiled": ("dr_kernel", "kernelgym"),
    "sol": ("sol_score",),
}
HOME: Mapping[str, str] = {name: f"kengine.rewards.{module}" for module, names in _HOMES.items() for name in names}
"""Module of each preset by its name."""


def find(name: str, parameters: Mapping[str, Any] | None = None) -> RewardFunction:
    """A preset by name, or a reward of one's own as `package.module:name`, with parameters set; picklable.

    Raises UsageError for a name that does not exist, with the nearest one, and for parameters that it does not take.
    """
    function = _own(name) if ":" in name else _preset(name)
    given = dict(parameters or {})
    _check(name, function, given)
    return functools.partial(function, **given) if given else function


def _preset(name: str) -> RewardFunction:
    if name not in HOME:
        from difflib import get_close_matches

        near = get_close_matches(name, HOME, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"no reward {name!r}; {hint}rewards: {', '.join(HOME)}; your own is package.module:name")
    function: RewardFunction = getattr(import_module(HOME[name]), name)
    return function


def _own(name: str) -> RewardFunction:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"reward {name!r} cannot be loaded: {error}") from error
    if not callable(found):
        raise UsageError(f"reward {name!r} is a {type(found).__name__}, expected a function of a verdict")
    function: RewardFunction = found
    return function


def _check(name: str, function: RewardFunction, given: Mapping[str, Any]) -> None:
    taken = inspect.signature(function).parameters
    if any(p.kind is p.VAR_KEYWORD for p in taken.values()):
        return
    keywords = [p.name for p in taken.values() if p.kind is p.KEYWORD_ONLY or p.default is not p.empty]
    for key in given:
        if key not in keywords:
            raise UsageError(f"reward {name!r} takes no {key!r}; it takes {', '.join(keywords) or 'nothing'}")
    missing = [p.name for p in taken.values() if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    missing = [key for key in missing if key not in given]
    if missing:
        raise UsageError(f"reward {name!r} needs {', '.join(missing)}")
