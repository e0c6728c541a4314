"""Rows of a corpus by their values, in a few bytes each: which ones caps keep, and how many there are of a kind."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from kengine.curate.record import Sample
from kengine.curate.values import value_of
from kengine.model import JsonValue

_OUT = 255


class Cells:
    """What is kept of each row: a number drawn for it, a value for each cap, and its cell; about 20 bytes."""

    def __init__(self, caps: Mapping[str, JsonValue], by: Sequence[str], seed: int) -> None:
        if len(caps) >= _OUT:
            raise ValueError(f"at most {_OUT - 1} caps, got {len(caps)}")
        self._caps = dict(caps)
        self._by = tuple(by)
        self._seed = seed
        self._drawn = array("Q")
        self._values = {name: array("L") for name in caps}
        self._names: dict[str, dict[str, int]] = {name: {} for name in caps}
        self._cells = array("L")
        self._known: dict[tuple[str, ...], int] = {}
        self._state = bytearray()
        """For each row 0: kept, n: over the n-th cap, 255: not counted."""

    @classmethod
    def of(
        cls, corpus: Iterable[Sample], caps: Mapping[str, JsonValue], by: Sequence[str], seed: int,
        counts: Callable[[Sample], bool] = lambda sample: True,
    ) -> Cells:  # fmt: skip
        """Read a corpus and apply the caps; rows for which `counts` is false use up no cap and are in no cell."""
        made = cls(caps, by, seed)
        for sample in corpus:
            made._add(sample, counts(sample))
        made._choose()
        return made

    def _add(self, sample: Sample, counts: bool) -> None:
        self._drawn.append(draw("balance", self._seed, sample.uid))
        for name, values in self._values.items():
            known = self._names[name]
            values.append(known.setdefault(value_of(sample, name), len(known)))
        cell = tuple([value_of(sample, name) for name in self._by])
        self._cells.append(self._known.setdefault(cell, len(self._known)))
        self._state.append(0 if counts else _OUT)

    def _choose(self) -> None:
        """Go through rows in the order that was drawn; one that finds a cap of its full is out."""
        limits = [(name, self._limits(name), [0] * len(self._names[name])) for name in self._caps]
        if not limits:
            return
        for row in sorted(range(len(self._drawn)), key=self._drawn.__getitem__):
            if self._state[row]:
                continue
            for number, (name, most, used) in enumerate(limits, 1):
                value = self._values[name][row]
                limit = most[value]
                if limit is not None and used[value] >= limit:
                    self._state[row] = number
                    break
            else:
                for name, _, used in limits:
                    used[self._values[name][row]] += 1

    def _limits(self, name: str) -> list[int | None]:
        cap = self._caps[name]
        wanted = [cap.get(value) if isinstance(cap, Mapping) else cap for value in self._names[name]]
        return [number if isinstance(number, int) else None for number in wanted]

    def capped(self, row: int) -> str:
        """Why a row is out, "" when it is kept."""
        state = self._state[row]
        if state in (0, _OUT):
            return ""
        name = list(self._caps)[state - 1]
        number = self._values[name][row]
        value = next(v for v, n in self._names[name].items() if n == number)
        return f"at most {self._limits(name)[number]} rows of {name} {value or 'unknown'!r} are kept"

    def cell(self, row: int) -> int:
        """The number of a row's cell."""
        return self._cells[row]

    def factors(self, temperature: float) -> list[float]:
        """For each cell the weight of its rows: (n / n_max)^(1/temperature - 1), 1 in the largest.

        Then the weight of a cell in all is proportional to n^(1/temperature), as when languages are sampled for a
        multilingual model (Arivazhagan et al., arXiv 1907.05019, section 4.2).
        """
        counts = Counter(cell for cell, state in zip(self._cells, self._state) if not state)
        most = max(counts.values(), default=1)
        return [(max(counts[cell], 1) / most) ** (1 / temperature - 1) for cell in range(len(self._known))]


def draw(what: str, seed: int, uid: str) -> int:
    """A number below 2^64 that follows from these alone; `what` keeps the draws of several stages apart."""
    digest = hashlib.blake2b(f"{what}\0{seed}\0{uid}".encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")
