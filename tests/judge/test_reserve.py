"""Memory of a device is taken once, ahead, and left to PyTorch; a host needs none."""

from __future__ import annotations

import pytest
from kengine.judge import arena, reserve

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def nothing_taken():
    reserve.reserve.cache_clear()
    yield
    reserve.reserve.cache_clear()


@pytest.fixture
def taken(monkeypatch):
    """Sizes of what is taken of a stand-in device with 64 MiB."""
    sizes = []
    empty = torch.empty

    def make(size, dtype, device):
        sizes.append(size)
        return empty(size, dtype=dtype)

    monkeypatch.setattr(torch, "empty", make)
    monkeypatch.setattr(arena, "memory_bytes", lambda device: 64 << 20 if device == "cuda" else 0)
    return sizes


def test_a_share_of_a_device_and_small_pieces_are_taken_once(taken):
    assert reserve.reserve("cuda") == (1 << 20) + reserve.SMALL * reserve.PIECE
    assert taken == [1 << 20] + [reserve.PIECE] * reserve.SMALL
    reserve.reserve("cuda")
    assert len(taken) == 1 + reserve.SMALL


def test_nothing_is_taken_of_a_host(taken):
    assert reserve.reserve("cpu") == 0 and taken == []


def test_a_device_without_memory_left_is_used_all_the_same(taken, monkeypatch):
    def refuse(*args, **kwargs):
        raise torch.cuda.OutOfMemoryError("none left")

    monkeypatch.setattr(torch, "empty", refuse)
    assert reserve.reserve("cuda") == 0


def test_only_a_judge_that_stays_takes_memory(device_bench, make_task, taken, monkeypatch):
    import dataclasses

    monkeypatch.setattr(torch, "empty", lambda *a, **k: torch.zeros(*a, **k))
    asked = []
    monkeypatch.setattr(reserve, "reserve", asked.append)
    source = "import torch\ndef make_inputs(seed, device):\n    return [1]\n"
    task = make_task(source + "def reference(x):\n    return torch.ones(4) * x\n")
    device_bench.open(dataclasses.replace(task, self_referenced=True))
    assert asked == []
    device_bench.open(task, salt="77" * 16)
    assert asked == ["cuda"]
    answer, _ = device_bench.judge.answer({"op": "reserve", "device": "cuda"}, [])
    assert answer == {"ok": True, "nbytes": None} and asked == ["cuda"] * 2
