"""Device memory between judge and runner against a double of the driver, which maps memory of this process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from kengine import codec
from kengine.device import memory
from kengine.device.memory import SharedMemory
from kengine.errors import DeviceLost
from kengine.judge import arena
from kengine.model import TensorSpec

torch = pytest.importorskip("torch")
UNIT = 2 << 20


class Driver:
    """Blocks by handle, the descriptors that stand for them, and what is mapped; `fails` has codes by function."""

    def __init__(self) -> None:
        self.blocks: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self.inodes: dict[tuple[int, int], int] = {}
        self.mapped: dict[int, int] = {}
        self.reserved: list[int] = []
        self.references: dict[int, int] = {}
        self.fails: dict[str, int] = {}
        self.access: list[tuple[int, int, int]] = []

    def cuMemGetAllocationGranularity(self, unit: Any, properties: Any, option: int) -> int:
        made = properties._obj
        assert (made.type, made.handle_types, made.location.type, made.location.id, option) == (1, 1, 1, 0, 0)
        assert ctypes.sizeof(made) == 32  # CUmemAllocationProp
        unit._obj.value = UNIT
        return self.fails.get("granularity", 0)

    def cuMemCreate(self, handle: Any, size: Any, properties: Any, flags: Any) -> int:
        if code := self.fails.get("create", 0):
            return code
        handle._obj.value = len(self.blocks) + 1
        self.blocks[handle._obj.value] = ctypes.create_string_buffer(size.value)
        self.references[handle._obj.value] = 1
        return 0

    def cuMemImportFromShareableHandle(self, handle: Any, fd: Any, kind: int) -> int:
        assert kind == 1
        state = os.fstat(fd.value)
        handle._obj.value = self.inodes[state.st_dev, state.st_ino]
        self.references[handle._obj.value] += 1
        return 0

    def cuMemExportToShareableHandle(self, fd: Any, handle: Any, kind: int, flags: Any) -> int:
        assert kind == 1
        fd._obj.value = os.memfd_create("double")
        state = os.fstat(fd._obj.value)
        self.inodes[state.st_dev, state.st_ino] = handle.value
        return 0

    def cuMemAddressReserve(self, address: Any, size: Any, *rest: Any) -> int:
        address._obj.value = 0xABC000
        self.reserved.append(size.value)
        return 0

    def cuMemAddressFree(self, address: Any, size: Any) -> int:
        self.reserved.remove(size.value)
        return 0

    def cuMemMap(self, address: Any, size: Any, offset: Any, handle: Any, flags: Any) -> int:
        if code := self.fails.get("map", 0):
            return code
        address.value = ctypes.addressof(self.blocks[handle.value])  # the double maps where the block is
        self.mapped[address.value] = self.mapped.get(address.value, 0) + 1
        return 0

    def cuMemUnmap(self, address: Any, size: Any) -> int:
        self.mapped[address.value] -= 1
        return 0

    def cuMemSetAccess(self, address: Any, size: Any, access: Any, count: Any) -> int:
        made = access._obj
        self.access.append((made.location.type, made.location.id, made.flags))
        assert count.value == 1 and ctypes.sizeof(made) == 12  # CUmemAccessDesc
        return 0

    def cuMemRelease(self, handle: Any) -> int:
        self.references[handle.value] -= 1
        return 0

    def cuDeviceGetAttribute(self, value: Any, which: int, device: int) -> int:
        value._obj.value = int(which == 103)
        return 0

    def cuGetErrorName(self, code: int, text: Any) -> int:
        text._obj.value = {2: b"CUDA_ERROR_OUT_OF_MEMORY"}.get(code)
        return 0


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    made, device = Driver(), torch.device
    monkeypatch.setattr(memory, "_driver", lambda: made)
    monkeypatch.setattr(torch, "device", lambda *given: device("cpu"))
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: None)
    monkeypatch.setattr(torch.cuda, "Event", lambda: SimpleNamespace(record=lambda: None, synchronize=lambda: None))
    # What a thread does beside is looked at in tests/judge/test_spares.py.
    spares = SimpleNamespace(take=arena.DeviceArena, later=lambda work: work())
    monkeypatch.setattr(arena, "device_spares", lambda: spares)
    yield made


def test_what_the_judge_lends_is_what_a_runner_maps(driver: Driver) -> None:
    from kengine.judge import arena as judges
    from kengine.runner.arena import Borrower

    block = judges.make_arena("cuda", 5000)
    assert block.nbytes == UNIT and driver.access == [(1, 0, 3)]
    judges.poison(block.view)
    block.view[:4096].view(torch.float32).copy_(torch.arange(1024.0))
    spec = TensorSpec("float32", (1024,))
    leaf = {"k": "array", "spec": codec.to_json(spec), "at": 0, "nbytes": 4096}
    bundle = {"arena": block.describe(), "args": [leaf], "sinks": [{"at": 4096, "nbytes": 16}]}
    borrower = Borrower()
    borrowed = borrower.borrow(bundle, list(block.descriptors()))
    (array,) = borrowed.inputs.args
    given = array.as_torch()
    assert given.tolist() == [float(n) for n in range(1024)]
    assert given.untyped_storage().nbytes() == 4096  # nothing of the block but the array is in reach
    (region,) = borrowed.regions
    assert (region.start, region.end, region.label) == (given.data_ptr(), given.data_ptr() + 4096, "arg 0")
    (sink,) = borrowed.sinks
    assert sink.tolist() == [255] * 16
    sink.zero_()
    assert block.view[4096:4112].tolist() == [0] * 16 and block.view[4112].item() == 255
    assert borrower.borrow(bundle, list(block.descriptors())).arena is borrowed.arena, "the same block is mapped once"
    (fd,) = block.descriptors()
    block.close()
    block.close()
    with pytest.raises(OSError):
        os.fstat(fd)
    # The runner's mapping keeps the memory: judge and runner had a reference each, and one is left.
    assert driver.references == {1: 1} and sink.tolist() == [0] * 16


def test_a_block_is_given_back_whole(driver: Driver) -> None:
    block = SharedMemory(UNIT + 1)
    assert block.nbytes == 2 * UNIT and driver.reserved == [2 * UNIT]
    block.close()
    assert (block.address, driver.reserved, driver.references) == (0, [], {1: 0})
    assert set(driver.mapped.values()) == {0}
    block.close()


@pytest.mark.parametrize("call", ["granularity", "create", "map"])
def test_a_refusal_names_the_call_and_leaves_nothing(driver: Driver, call: str) -> None:
    from kengine.judge import arena as judges

    driver.fails[call] = 2
    with pytest.raises(DeviceLost, match=r"no device memory of 4096 bytes to lend: cuMem.*CUDA_ERROR_OUT_OF_MEMORY"):
        judges.make_arena("cuda", 4096)
    assert driver.reserved == [] and not any(driver.references.values())


def test_a_driver_that_knows_no_such_memory(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.supported()
    monkeypatch.setattr(memory, "_driver", lambda: object())
    assert not memory.supported()
    with pytest.raises(OSError, match="the driver has no cuMemGetAllocationGranularity"):
        SharedMemory(4096)
