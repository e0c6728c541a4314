"""What host code reads and writes where nobody sees it: told by copies, by sums of memory, and by operators."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from kengine.provenance.ledger import FOREIGN, INPUT, KERNEL, Piece
from kengine.runner import hostmemory, watch

torch = pytest.importorskip("torch")
D2H, H2D, D2D, DEFAULT = 2, 1, 3, 4


@contextmanager
def followed(*inputs: object) -> Iterator[watch._Watch]:
    """A call that is followed, with these inputs."""
    before, watch._watch = watch._watch, watch._Watch(on_device=False)
    ledger = watch._watch.ledger
    for each in (p for value in inputs for p in watch._pieces(value)):
        ledger.enter(each, INPUT, "arg x")
        ledger.input_bytes += each.nbytes
    try:
        yield watch._watch
    finally:
        watch._watch = before


def region(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.nbytes


def move(to: np.ndarray, source: np.ndarray, kind: int, device=(), pinned=()) -> None:
    hostmemory.copy(to.ctypes.data, source.ctypes.data, source.nbytes, kind, device, pinned)


def flags(scope: watch._Watch, array: np.ndarray) -> int:
    block = scope.ledger.find(array.ctypes.data)
    return block.flags if block else 0


def test_outside_of_a_followed_call_a_copy_is_a_copy() -> None:
    a, b = np.arange(4.0), np.zeros(4)
    move(b, a, D2H)
    assert (a == b).all()
    hostmemory.fill(b.ctypes.data, 0xFF, 8)
    assert np.isnan(b[0]) and b[1] == 1.0


@pytest.mark.parametrize("kind", [D2H, DEFAULT, D2D])
def test_a_copy_to_the_host_is_an_export_whatever_it_says(kind: int) -> None:
    x, host = np.arange(64.0), np.zeros(16)
    with followed(x) as scope:
        hostmemory.copy(host.ctypes.data, x.ctypes.data, 128, kind, [], [])
        assert scope.ledger.facts([]).exported_bytes == 128
        hostmemory.copy(host.ctypes.data, x.ctypes.data + 128, 128, kind, [], [])
        assert scope.ledger.facts([]).exported_bytes == 256
    assert (host == x[16:32]).all()


def test_what_comes_back_as_it_was_is_the_inputs_and_else_of_unknown_origin() -> None:
    x, host, device = np.arange(64.0), np.zeros(64), np.zeros(64)
    with followed(x) as scope:
        move(host, x, D2H)
        move(device, host, H2D, device=[region(device)])
        assert flags(scope, device) == INPUT
        host[3] += 1
        move(device, host, H2D, device=[region(device)])
        assert flags(scope, device) & FOREIGN
    assert device[3] == 4.0


def test_a_variable_that_the_host_fills_is_an_argument_of_every_launch() -> None:
    x, host, variable = np.arange(8.0), np.ones(8), np.zeros(8)
    with followed(x) as scope:
        move(variable, host, H2D)
        assert hostmemory.before_launch([]) == [region(variable)]
        assert flags(scope, variable) & FOREIGN


def test_a_copy_inside_the_device_is_neither() -> None:
    x, device = np.arange(8.0), np.zeros(8)
    with followed(x) as scope:
        move(device, x, D2D, device=[region(device)])
        facts = scope.ledger.facts([])
        assert (flags(scope, device), facts.exported_bytes, facts.foreign_bytes) == (INPUT, 0, 0)


def test_managed_memory_that_the_host_writes() -> None:
    x, values, sums = np.arange(8.0), np.empty(8), np.full(8, np.nan)
    sums.view(np.uint8)[:] = 0xFF
    pinned = [region(values), region(sums)]
    with followed(x) as scope:
        hostmemory.before_launch([], pinned[1:])
        scope.ledger.enter(Piece(*_ends(values), values.nbytes, None), INPUT | KERNEL, "give")
        hostmemory.after_launch(pinned)
        hostmemory.before_launch([], pinned)
        assert scope.ledger.facts([]).exported_bytes == 0  # nobody but kernels has touched it
        sums[:] = np.cumsum(values)
        hostmemory.before_launch([], pinned)
        assert scope.ledger.facts([]).exported_bytes == values.nbytes and flags(scope, sums) & FOREIGN


def _ends(array: np.ndarray) -> tuple[int, int]:
    return array.ctypes.data, array.ctypes.data + array.nbytes


def write(tensor, value: float) -> None:
    """As compiled code does: past every operator."""
    ctypes.c_float.from_address(tensor.data_ptr()).value = value


def test_a_tensor_that_host_code_writes_to() -> None:
    x = torch.ones(8)
    with followed(x) as scope, hostmemory.inside((x,), True):
        made = torch.zeros(8)
        write(made, 3.0)
        other = made + 0  # the next operator finds it
        assert scope.ledger.find(made.untyped_storage().data_ptr()).flags & FOREIGN
        del other
    assert scope.ledger.facts([]).exported_bytes == 0


def test_operators_are_not_the_hosts_work() -> None:
    x = torch.ones(8)
    with followed(x) as scope, hostmemory.inside((x,), True):
        made = torch.zeros(8)
        made.add_(x)
        made.copy_(x)
        (made * 2).sum()
        assert scope.ledger.find(made.untyped_storage().data_ptr()) is None  # nobody follows operators here
    assert scope.ledger.facts([]).exported_bytes == 0


def test_the_devices_memory_in_the_hosts_hands_was_read_as_well() -> None:
    x = torch.ones(8)
    with followed(x) as scope, hostmemory.inside((x,), True):
        made = torch.zeros(8)
        write(made, 3.0)
        hostmemory.before_launch([(made.data_ptr(), 32)])
        assert scope.ledger.facts([]).exported_bytes == 32


def test_a_copy_to_the_host_of_an_emulated_device_says_so() -> None:
    x = torch.ones(8)
    with followed(x) as scope, hostmemory.inside((x,), False):
        x.to(torch.float64)
        x.clone()
        assert scope.ledger.facts([]).exported_bytes == 0
        x.to(x.dtype, non_blocking=True, copy=True)
        assert scope.ledger.facts([]).exported_bytes == 32
