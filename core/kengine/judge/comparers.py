"""Plugins that compare in the core's place, for a dtype or hardware that they know better. Installed code, trusted."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from kengine.errors import InfraError, PluginError
from kengine.judge import arena
from kengine.judge.expected import ExpectedArray
from kengine.model import Comparison, Task, TensorSpec
from kengine.plugins.backend import Backend, attach

Ask = Callable[[Sequence[ExpectedArray], Sequence[Any], str], "Comparison | None"]
"""Given the expected outputs, the judge's copies of the answer and the device: a plugin's comparison, or None."""


def read_names(value: Any) -> tuple[tuple[str, str], ...]:
    """Read the `comparers` of an `open` request: pairs of a plugin's name and module."""
    pairs = value or []
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise InfraError(f"comparers is {value!r:.80}, want pairs of name and module")
    return tuple((str(name), str(module)) for name, module in pairs)


def ask_plugins(names: Sequence[tuple[str, str]], task: Task, index: int) -> Ask | None:
    """What asks each plugin in turn, the last one first; None when there is nobody to ask."""
    if not names:
        return None
    plugins = [_load(name, module) for name, module in names]

    def ask(expected: Sequence[ExpectedArray], copies: Sequence[Any], device: str) -> Comparison | None:
        exact = [arena.to_host(e.exact).reshape(e.form.spec.shape) for e in expected]
        actual = [_view(e, copy) for e, copy in zip(expected, copies)]
        for plugin in reversed(plugins):
            comparison = plugin.compare(task, index, exact, actual)
            if comparison is not None:
                return comparison
        return None

    return ask


def merge(comparison: Comparison, name: str, mutated: tuple[str, ...]) -> Comparison:
    """A plugin's comparison under the case's name; written inputs count as they do for the core's own."""
    if not mutated:
        return dataclasses.replace(comparison, case=name)
    changed = f"the candidate wrote to {', '.join(mutated)}, which it may only read"
    problem = f"{comparison.problem}; {changed}" if comparison.problem else changed
    return dataclasses.replace(comparison, case=name, ok=False, problem=problem, mutated=mutated)


_loaded: dict[str, Backend] = {}


def _load(name: str, module: str) -> Backend:
    if module not in _loaded:
        try:
            _loaded[module] = attach(name, module)
        except PluginError as error:
            raise InfraError(f"the judge cannot load the comparison of plugin {name!r}: {error}") from error
    return _loaded[module]


def _view(expected: ExpectedArray, copy: Any) -> Any:
    from kengine.array import Array

    spec = expected.form.spec
    return Array(TensorSpec(spec.dtype, spec.shape), arena.to_host(copy)).as_numpy()
