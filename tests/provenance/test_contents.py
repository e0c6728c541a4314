"""Sums that tell whether memory has changed."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from kengine.provenance import contents  # noqa: E402


def _memory(nbytes: int) -> torch.Tensor:
    return torch.randint(0, 256, (nbytes,), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("place", [0, 7, 32_768, 100_000, 262_143, 262_144, 262_150])
def test_one_byte_anywhere_is_noticed(place: int) -> None:
    memory = _memory(262_151)
    before = contents.fold(memory)
    assert contents.same(before, contents.fold(memory))
    memory[place] += 1
    assert not contents.same(before, contents.fold(memory))


def test_two_words_that_change_places_are_noticed() -> None:
    words = torch.arange(3 * 4096)
    before = contents.fold(words.view(torch.uint8))
    for one, other in ((5, 6), (5, 5 + 4096), (5, 4096 + 8)):
        swapped = words.clone()
        swapped[[one, other]] = words[[other, one]]
        assert not contents.same(before, contents.fold(swapped.view(torch.uint8)))


def test_an_address_that_no_word_begins_at() -> None:
    memory = _memory(1000)
    before = contents.fold(memory[3:])
    memory[999] += 1
    assert not contents.same(before, contents.fold(memory[3:]))


def test_memory_of_the_host() -> None:
    memory = _memory(64)
    start = memory.data_ptr()
    before = contents.digest(start, start + 64, on_device=False)
    assert contents.same(before, contents.digest(start, start + 64, on_device=False))
    memory[63] += 1
    assert not contents.same(before, contents.digest(start, start + 64, on_device=False))
