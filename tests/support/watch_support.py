"""One followed call in this process, as a runner makes it."""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from kengine.array import Array
from kengine.plugins.hooks import Inputs
from kengine.provenance import Facts
from kengine.runner import watch
from kengine.runner.arena import Bundle, Region, arrays


@dataclass(frozen=True)
class Seen:
    """What a call gave, what was seen of it, and the hook's own answer."""

    value: Any
    facts: Facts
    outputs: Any

    @property
    def operators(self) -> dict[str, int]:
        return {operator.name: operator.count for operator in self.facts.operators}

    @property
    def kernels(self) -> dict[str, int]:
        return {kernel.name: kernel.count for kernel in self.facts.kernels}

    @property
    def origins(self) -> list[tuple[bool, bool, bool]]:
        """Of each returned array: whether it comes from inputs, from kernels, from unknown memory."""
        return [(origin.inputs, origin.kernels, origin.foreign) for origin in self.facts.outputs]


def followed(inputs: Inputs, call: Callable[[], Any]) -> Seen:
    """Make a call that works on `inputs` and follow it. It gives the value, or an object with a `value`."""
    arena: Any = types.SimpleNamespace(nbytes=1)
    bundle = Bundle(inputs, (), tuple(_regions(inputs)), arena)
    with watch.watching(bundle, False) as facts:
        made = call()
        value = getattr(made, "value", made)
        seen = facts(value)
    return Seen(value, seen, made)


def _regions(inputs: Inputs) -> Iterator[Region]:
    named = [(f"arg {i}", a) for i, value in enumerate(inputs.args) for a in arrays([value])]
    named += [(f"init arg {i}", a) for i, value in enumerate(inputs.init_args) for a in arrays([value])]
    named += [(f"parameter {name}", a) for name, a in inputs.state.items()]
    for label, array in named:
        start, size = _place(array)
        if size:
            yield Region(start, start + size, label)


def _place(array: Array) -> tuple[int, int]:
    memory = memoryview(array.memory).cast("B")
    return ctypes.addressof(ctypes.c_char.from_buffer(memory)), memory.nbytes
