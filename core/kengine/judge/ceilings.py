"""What a device can do at best, measured once by the judge: bytes moved and multiplications added in a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Measure = Callable[[Sequence[Callable[[], Any]]], "list[int]"]
"""From calls to nanoseconds of each, by the best clock of the device."""

DTYPES = ("float16", "bfloat16", "float32")
COPY_BYTES, SIZE, REPEATS = 512 << 20, 4096, 5
"""Bytes that are copied (far more than any cache holds), rows of the square matrices, and times that each is done."""


@dataclass(frozen=True)
class Ceilings:
    """Best rates that were seen: bytes a second of the memory, and operations a second of matrix products by dtype of
    the operands. An operation is one multiplication or one addition. Nothing is known where nothing was measured."""

    bytes_per_s: float = 0.0
    operations_per_s: Mapping[str, float] = field(default_factory=dict)

    @property
    def best(self) -> float:
        """Operations a second in the fastest dtype, 0.0 when not known: what wider ones can be put together from."""
        return max(self.operations_per_s.values(), default=0.0)


def measure(clock: Measure, place: str = "cuda", nbytes: int = COPY_BYTES, size: int = SIZE) -> Ceilings:
    """Measure copying, filling and reading of `nbytes`, and square products of `size` rows, on a torch device.

    The best of a few runs counts: a ceiling that is too low would refuse honest kernels. A device without the memory
    for it gives no ceilings.
    """
    import torch

    try:
        return Ceilings(_bandwidth(torch, clock, place, nbytes), _products(torch, clock, place, size))
    except torch.cuda.OutOfMemoryError:
        return Ceilings()


def _bandwidth(torch: Any, clock: Measure, place: str, nbytes: int) -> float:
    source = torch.zeros(nbytes // 4, dtype=torch.float32, device=place)
    target = torch.empty_like(source)
    moves: tuple[tuple[Callable[[], Any], int], ...] = (
        (lambda: target.copy_(source), 2 * nbytes),
        (lambda: target.zero_(), nbytes),
        (lambda: source.sum(), nbytes),
    )
    return max(moved / _best(clock, move) for move, moved in moves)


def _products(torch: Any, clock: Measure, place: str, size: int) -> dict[str, float]:
    rates = {}
    for name in DTYPES:
        a, b = (torch.randn(size, size, device=place).to(getattr(torch, name)) for _ in range(2))
        out = torch.empty_like(a)
        multiply = lambda a=a, b=b, out=out: torch.mm(a, b, out=out)  # noqa: E731
        rates[name] = 2.0 * size**3 / _best(clock, multiply)
    return rates


def _best(clock: Measure, call: Callable[[], Any]) -> float:
    """Seconds of the fastest of several calls, the first of which is not counted."""
    call()
    return max(min(clock([call] * REPEATS)), 1) * 1e-9
