"""Copies of answers that are freed again: how many, of what, and within which bounds."""

from __future__ import annotations

import contextlib
import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine import codec  # noqa: E402
from kengine.model import Artifact, CaseView, Mode, Target  # noqa: E402
from kengine.runner import child, leftovers  # noqa: E402


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was copied: the copy's values, where it lay, and a reference that keeps nothing."""
    seen: list[Any] = []
    clone = torch.Tensor.clone

    def note(tensor: Any, **named: Any) -> Any:
        copy = clone(tensor, **named)
        seen.append((copy.tolist(), copy.data_ptr(), weakref.ref(copy)))
        return copy

    monkeypatch.setattr(torch.Tensor, "clone", note)
    return seen


def test_every_array_is_copied_and_all_copies_are_freed_at_once(made: list[Any]) -> None:
    value = (torch.arange(4.0), {"index": [torch.ones(2, 3).t()]}, "text", None)
    assert leftovers.leave(value, copies=3) == 6
    assert [values for values, _, _ in made] == [[0.0, 1.0, 2.0, 3.0], [[1.0, 1.0]] * 3] * 3
    gc.collect()
    assert all(reference() is None for _, _, reference in made)


def test_copies_lie_apart(made: list[Any]) -> None:
    leftovers.leave(torch.arange(64.0))
    assert len({address for _, address, _ in made}) == leftovers.COPIES == 8


@pytest.mark.parametrize(("most", "copies"), [(16 * 4 - 1, 3), (16 * 4, 4), (15, 0), (1 << 20, 8)])
def test_they_take_no_more_than_they_may(made: list[Any], most: int, copies: int) -> None:
    assert leftovers.leave(torch.arange(4.0), most=most) == copies == len(made)


def test_what_is_no_array_and_what_holds_nothing() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (None, 3, "text", loop, torch.empty(0, 4), torch.ones(2, 2).to_sparse()):
        assert leftovers.leave(value) == 0


def test_no_room_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(tensor: Any, **named: Any) -> Any:
        raise torch.OutOfMemoryError("out of memory")

    monkeypatch.setattr(torch.Tensor, "clone", full)
    assert leftovers.leave(torch.ones(4)) == 0


@pytest.mark.parametrize(
    ("device", "mode", "left"),
    [("cuda", Mode.normal, 1), ("cuda", Mode.traced, 1), ("cuda", Mode.noop, 0), ("cuda", Mode.raises, 0),
     ("cpu", Mode.normal, 0)],
)  # fmt: skip
def test_a_call_on_a_device_leaves_its_answer_and_one_without_kernels_does_not(
    monkeypatch: pytest.MonkeyPatch, device: str, mode: Mode, left: int
) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(leftovers, "leave", seen.append)
    monkeypatch.setattr(child.streams, "calling", lambda on_device: contextlib.nullcontext(tuple))
    server = object.__new__(child.Server)
    server.limits = {"device": device}
    server.borrower = SimpleNamespace(borrow=lambda bundle, fds: SimpleNamespace(inputs=None, sinks=(), regions=()))
    server.artifact = Artifact(Target("triton", "sm_90"))
    outputs = SimpleNamespace(value=3, launches=(), details={})
    monkeypatch.setattr(child.Server, "_make", lambda *_: (outputs, None))
    monkeypatch.setattr(child.entry, "check_written", lambda inputs: None)
    case = codec.to_json(CaseView(0, ()))
    reply = server.launch({"case": case, "bundle": {}, "mode": mode.value}, [])
    assert reply["outputs"] == [{"k": "value", "v": 3}] and seen == [3] * left
    server.sequence({"cases": [case] * 2, "bundles": [{}] * 2, "modes": ["normal"] * 2}, [])
    assert seen == [3] * (left + 2 * (device == "cuda"))


@pytest.mark.device
def test_the_next_memory_of_its_size_holds_the_answer() -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    # Blocks of another content, freed in an order in which the last is not the first to be given again.
    for block in [torch.zeros(1 << 12, device="cuda") for _ in range(4)]:
        del block
    answer = torch.arange(1 << 12, device="cuda", dtype=torch.float32)
    leftovers.leave(answer)
    fresh = [torch.empty(1 << 12, device="cuda") for _ in range(4)]
    assert all(bool((each == answer).all()) for each in fresh)
