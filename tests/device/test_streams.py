"""What a call leaves on streams that its caller does not wait for, on a device in virtual time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kengine.device import rapid, streams  # noqa: E402
from stream_doubles import Device  # noqa: E402

KERNEL_NS = 5_000


@pytest.fixture(params=[8, 1], ids=["queues of their own", "one queue"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    return Device(request.param).install(monkeypatch)


class Memory:
    value = "old"


def launch(device: Device, name: str = "k", ns: int = KERNEL_NS, write: Callable[[], None] | None = None) -> None:
    with streams.launching(name, device.current.handle):
        device.enqueue(device.current, ns, write)


def called(device: Device, body: Callable[[Memory], None]) -> tuple[str, tuple[str, ...]]:
    """What is read in the caller's stream after a call, and what it left."""
    memory = Memory()
    read: list[str] = []
    with streams.calling(True) as left:
        body(memory)
        streams.wait()
        device.enqueue(device.current, 1_000, lambda: read.append(memory.value))
        device.current.synchronize()
        late = left()
    assert device.current is device.home
    return read[0], late


def aside(device: Device, memory: Memory, ns: int = KERNEL_NS) -> None:
    def write() -> None:
        memory.value = "new"

    side = device.stream(3)
    side.wait_stream(device.home)
    with torch.cuda.stream(side):
        launch(device, ns=ns, write=write)


def test_a_stream_that_nobody_waits_for_is_found_however_short_its_kernel(device: Device) -> None:
    read, late = called(device, lambda memory: aside(device, memory))
    assert late == ("k",)
    # Where all streams share one queue, the kernel cannot be late for what comes after it.
    assert read == ("old" if len(device.queues) > 1 else "new")


def test_work_in_the_callers_stream_after_it_is_no_excuse(device: Device) -> None:
    def call(memory: Memory) -> None:
        aside(device, memory)
        launch(device, "another")

    assert called(device, call)[1] == ("k",)


def test_a_kernel_left_spinning_beside_the_answer(device: Device) -> None:
    def call(memory: Memory) -> None:
        with torch.cuda.stream(device.stream(3)):
            launch(device, "spin", 400_000_000)
        launch(device, write=lambda: setattr(memory, "value", "new"))

    assert called(device, call) == ("new", ("spin",))


@pytest.mark.parametrize("how", ["stream", "host"])
def test_a_stream_that_is_joined_is_right(device: Device, how: str) -> None:
    def call(memory: Memory) -> None:
        aside(device, memory)
        if how == "stream":
            device.current.wait_stream(device.stream(3))
        else:
            device.stream(3).synchronize()
        launch(device, "another")

    assert called(device, call) == ("new", ())


def test_a_call_that_leaves_another_stream_current(device: Device) -> None:
    def call(memory: Memory) -> None:
        torch.cuda.set_stream(device.stream(3))
        launch(device, write=lambda: setattr(memory, "value", "new"))

    assert called(device, call)[1] == ("k",)


def test_the_callers_own_stream_is_not_held_up(device: Device) -> None:
    assert called(device, lambda memory: launch(device)) == ("old", ())
    assert device.held_ns == 0 and device.now < 1_000_000


def test_many_launches_are_held_up_a_few_times_only(device: Device) -> None:
    def call(memory: Memory) -> None:
        for _ in range(100):
            aside(device, memory)
        device.current.wait_stream(device.stream(3))

    assert called(device, call) == ("new", ())
    assert device.held_ns == (streams.BEFORE_CYCLES + streams.HELD * streams.AFTER_CYCLES) // 2


def test_what_is_captured_into_a_graph_is_not_held_up(device: Device) -> None:
    def call(memory: Memory) -> None:
        device.capturing = True
        aside(device, memory)
        device.capturing = False

    called(device, call)
    assert device.held_ns == 0


def test_nothing_is_held_up_outside_of_a_call(device: Device) -> None:
    aside(device, Memory())
    assert device.held_ns == 0
    streams.wait()
    assert device.now >= device.stream(3).ready


def test_the_next_call_knows_nothing_of_the_last(device: Device) -> None:
    assert called(device, lambda memory: aside(device, memory))[1] == ("k",)
    assert called(device, lambda memory: launch(device))[1] == ()


def test_what_went_wrong_first_counts(device: Device) -> None:
    with pytest.raises(ValueError, match="mine"), streams.calling(True):
        device.broken = True
        raise ValueError("mine")
    with pytest.raises(RuntimeError, match="illegal memory access"), streams.calling(True):
        pass
    device.broken = False
    assert called(device, lambda memory: launch(device)) == ("old", ())


def test_a_process_without_a_device_does_nothing() -> None:
    with streams.calling(False) as left:
        assert streams.launching("k") is streams.launching("k")
        assert left() == ()


def test_calls_in_a_row_are_made_at_once_and_never_alone(device: Device) -> None:
    made: list[int] = []
    times: set[int] = set()
    for _ in range(60):
        made.clear()
        rapid.call_in_a_row([lambda n=n: made.append(n) for n in range(6)])
        assert len(set(made)) == len(made)
        times.add(len(made))
    assert times == {2, 3, 4}
    made.clear()
    rapid.call_in_a_row([lambda: made.append(0)])
    assert made == []
