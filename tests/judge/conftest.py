"""A small engine and an honest runner in one process, to drive a judge with."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from kengine import codec
from kengine.array import Array
from kengine.judge import arena
from kengine.judge.server import Judge
from kengine.model import Case, Comparison, Task, TaskSpec, TensorSpec

SALT = "5a" * 16


def as_torch(array: Any) -> bool:
    return type(array).__module__.startswith("torch")


class Lent:
    """What a runner has in hand: a mapping of the arena and the values of one bundle over it."""

    def __init__(self, bundle: dict[str, Any], fd: int, torch: bool = True) -> None:
        self.bundle = bundle
        self.map = mmap.mmap(fd, bundle["arena"]["nbytes"])
        self.view = memoryview(self.map)
        self.torch = torch
        self.args = [self.value(t) for t in bundle["args"]]
        self.init_args = [self.value(t) for t in bundle["init_args"]]
        self.state = {k: self.value(t) for k, t in bundle["state"].items()}
        self.destination = [self.value(t) for t in bundle["destination"]]

    def value(self, tree: dict[str, Any]) -> Any:
        kind = tree["k"]
        if kind == "array":
            spec = tree["spec"]
            tensor = TensorSpec(spec["dtype"], tuple(spec["shape"]), tuple(spec["strides"]), spec["offset"])
            array = Array(tensor, self.view[tree["at"] : tree["at"] + tree["nbytes"]])
            return array.as_torch() if self.torch else array.as_numpy()
        if kind == "value":
            return tree["v"]
        if kind == "float":
            return float(tree["v"])
        if kind == "complex":
            return complex(*tree["v"])
        if kind == "dtype":
            import torch

            return getattr(torch, tree["v"])
        if kind == "dict":
            return {k: self.value(v) for k, v in tree["items"].items()}
        items = [self.value(v) for v in tree["items"]]
        return items if kind == "list" else tuple(items)

    def describe(self, values: list[Any]) -> list[dict[str, Any]]:
        """Copy arrays into the sinks, as a runner does, and describe everything."""
        self.next = 0
        return [self._tree(v) for v in values]

    def _tree(self, value: Any) -> dict[str, Any]:
        if as_torch(value) or isinstance(value, np.ndarray):
            return self._sink(value)
        if isinstance(value, (list, tuple)):
            kind = "list" if isinstance(value, list) else "tuple"
            return {"k": kind, "items": [self._tree(v) for v in value]}
        if isinstance(value, dict):
            return {"k": "dict", "items": {k: self._tree(v) for k, v in value.items()}}
        if isinstance(value, float) and not np.isfinite(value):
            return {"k": "float", "v": str(value)}
        if isinstance(value, complex):
            return {"k": "complex", "v": [value.real, value.imag]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"k": "value", "v": value}
        return {"k": "other", "type": f"{type(value).__module__}.{type(value).__qualname__}"}

    def _sink(self, array: Any) -> dict[str, Any]:
        torch = as_torch(array)
        name = str(array.dtype).removeprefix("torch.")
        strides = list(array.stride()) if torch else [s // array.itemsize for s in array.strides]
        raw = array_bytes(array)
        index: int | None = self.next
        self.next += 1
        sinks = self.bundle["sinks"]
        assert index is not None
        if index >= len(sinks) or len(raw) > sinks[index]["nbytes"]:
            index = None
        else:
            at = sinks[index]["at"]
            self.view[at : at + len(raw)] = raw
        return {
            "k": "array",
            "spec": {"dtype": name, "shape": list(array.shape), "strides": strides},
            "type": f"{type(array).__module__}.{type(array).__qualname__}".replace("torch._tensor.", "torch."),
            "device": "cpu",
            "alias": "",
            "sink": index,
        }


def array_bytes(array: Any) -> bytes:
    if as_torch(array):
        import torch

        return bytes(array.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return bytes(np.ascontiguousarray(array).tobytes())


class Bench:
    """A judge with the engine's requests as methods."""

    def __init__(self) -> None:
        self.judge = Judge()
        self.task: Task
        self.opened: dict[str, Any] = {}

    def ask(self, op: str, **body: Any) -> tuple[dict[str, Any], tuple[int, ...]]:
        return self.judge.answer({"op": op, **body}, [])

    def open(self, task: Task, *, cases: int | None = None, screen: bool = False, salt: str = SALT) -> dict[str, Any]:
        self.task = task
        body = {"task": codec.to_json(task), "salt": salt, "device": "cpu", "cases": cases, "screen": screen}
        answer, _ = self.ask("open", **body)
        self.opened = answer
        return answer

    def names(self) -> list[str]:
        return [c["name"] for c in self.opened["cases"]]

    def lend(self, *cases: int, phase: str = "check", holder: str = "r1") -> list[Lent]:
        answer, fds = self.ask("lend", task_id=self.opened["task_id"], cases=list(cases), phase=phase, holder=holder)
        assert answer["ok"], answer
        return [Lent(b, os.dup(fds[0]), torch=self.task.form != "numpy") for b in answer["bundles"]]

    def compare(self, case: int, outputs: Any, phase: str = "check", holder: str = "r1") -> dict[str, Any]:
        answer, _ = self.ask(
            "compare", task_id=self.opened["task_id"], case=case, phase=phase, holder=holder, outputs=outputs
        )
        return answer

    def run(self, candidate: Callable[..., Any], case: int = 0, phase: str = "check") -> Comparison:
        """Lend, call `candidate(*args)` on the lent memory itself, copy its outputs out, compare."""
        (lent,) = self.lend(case, phase=phase)
        if self.task.form == "module":
            result = candidate(lent.init_args, lent.state, *lent.args)
        else:
            result = candidate(*lent.args)
        written = [lent.args[i] for i in self.opened["views"][case]["writes"]]
        answer = self.compare(case, lent.describe([result, *written]), phase)
        assert answer["ok"], answer
        return codec.from_json(answer["comparison"], Comparison)

    def run_all(self, candidate: Callable[..., Any]) -> dict[str, Comparison]:
        return {name: self.run(candidate, n) for n, name in enumerate(self.names())}


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.judge.shut()


@pytest.fixture
def lent_type() -> type[Lent]:
    return Lent


@pytest.fixture
def make_task() -> Callable[..., Task]:
    def make(source: str, form: Any = "function", name: str = "t", cases: Any = None, **spec: Any) -> Task:
        listed = () if cases is None else tuple(c if isinstance(c, Case) else Case(**c) for c in cases)
        return Task(name, form, source, spec=TaskSpec(cases=listed, **spec))

    return make


@pytest.fixture
def salt() -> str:
    return SALT


Params = Mapping[str, Any]


class StandIn(arena.HostArena):
    """A host arena seen through a flat uint8 tensor, as device memory is."""

    @property
    def view(self):
        import torch

        return torch.frombuffer(self._map, dtype=torch.uint8)


@pytest.fixture
def device_bench(bench, monkeypatch):
    monkeypatch.setitem(arena.PLACES, "cuda", "cpu")
    make = {"cuda": StandIn, "cpu": arena.HostArena}
    monkeypatch.setattr(arena, "make_arena", lambda device, nbytes: make[device](nbytes))
    monkeypatch.setattr(arena, "require_device", lambda device: None)
    monkeypatch.setattr(arena, "synchronize", lambda device: None)
    ask = bench.ask

    def on_device(op, **body):
        if op == "open":
            body["device"] = "cuda"
        return ask(op, **body)

    monkeypatch.setattr(bench, "ask", on_device)
    return bench
