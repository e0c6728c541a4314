"""What is lent to a holder: inputs copied into its arena, poisoned places for its outputs, and how they come back."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kengine.judge import arena, near, transforms
from kengine.judge.arena import Arena
from kengine.judge.expected import Expected
from kengine.judge.packing import ALIGN, GUARD, Packed, array_tree, leaves
from kengine.judge.session import Entry
from kengine.judge.structure import ArrayOut
from kengine.model import TensorSpec

Key = tuple[str, int, str]
"""Task, index of the case, phase."""


@dataclass(frozen=True)
class Place:
    """Where one bundle lies in an arena: the start of its inputs, and start and size of every sink."""

    key: Key
    entry: Entry
    expected: Expected
    base: int
    sinks: tuple[tuple[int, int], ...]
    destination: tuple[tuple[int, TensorSpec], ...]
    end: int


@dataclass
class Holder:
    """One runner's loan: its arena and what the last lend put there.

    lent: all that it was ever lent, so that its memory may still hold the answer. timing: of a timing that is
    interrupted, how it goes on and what is to be drawn before (`kengine.judge.timing`).
    """

    arena: Arena | None = None
    device: str = ""
    places: list[Place] = field(default_factory=list)
    lent: dict[Key, None] = field(default_factory=dict)
    timing: tuple[Any, Any] | None = None

    def find(self, key: Key) -> Place | None:
        """Where the bundle of a case lies; None when it is not lent."""
        return next((p for p in self.places if p.key == key), None)

    def close(self) -> None:
        """Take everything back."""
        self.timing = None
        self.places = []
        if self.arena is not None:
            self.arena.close()
            self.arena = None


def lend(
    holder: Holder,
    wanted: Sequence[tuple[Key, Entry, Expected]],
    writes: int,
    device: str,
    elsewhere: bool = False,
    room: Sequence[int] = (0, 0),
) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """Fill a holder's arena with fresh inputs and poison, and describe it: bundles, and descriptors to send beside.

    writes: how many of the outputs are written inputs, which have no destination. elsewhere: not where the first of
    all loans began but at a place that is drawn, if the arena has room. room: how many like the first one, and how
    many like the largest beside, a new arena is to hold at least, so that it need not be another one later. Whatever
    was lent before is void. Where inputs are nearly those of the last loan and lie where they lay, what a candidate is
    to write into still holds what it wrote then.
    """
    places = _line_up(wanted, 0, writes)
    end = places[-1].end
    if holder.arena is None or holder.arena.nbytes < end or holder.device != device:
        holder.close()
        largest = max(place.end - place.base for place in places)
        wanted_room = room[0] * places[0].end + room[1] * largest
        holder.arena, holder.device = arena.make_arena(device, max(end, wanted_room)), device
    elif elsewhere and (spare := (holder.arena.nbytes - end) // ALIGN):
        places = _line_up(wanted, ALIGN * (1 + secrets.randbelow(spare)), writes)
    before, holder.places = holder.places, places
    holder.lent.update((place.key, None) for place in places)
    view = holder.arena.view
    for place in places:
        packed = place.entry.lent
        arena.overwrite(view[place.base : place.base + packed.nbytes], packed.image)
        clean = place.sinks[0][0] if place.sinks and _left(place, before) else place.base + packed.nbytes
        arena.poison(view[clean : place.end])
    arena.synchronize(device)
    described = holder.arena.describe()
    return [_bundle(place, described) for place in places], holder.arena.descriptors()


def _left(place: Place, before: Sequence[Place]) -> bool:
    """Whether a destination holds an earlier answer to nearly the same inputs, which is none to these."""
    key, phase = place.key[:2], near.base(place.key[2])
    return phase is not None and any(
        other.base == place.base and other.destination == place.destination and other.key == (*key, phase)
        for other in before
    )


def _line_up(wanted: Sequence[tuple[Key, Entry, Expected]], cursor: int, writes: int) -> list[Place]:
    places: list[Place] = []
    for key, entry, expected in wanted:
        places.append(_place(key, entry, expected, cursor, writes))
        cursor = places[-1].end
    return places


def _place(key: Key, entry: Entry, expected: Expected, base: int, writes: int) -> Place:
    cursor = base + entry.lent.nbytes
    destination = []
    returned = expected.outputs[: len(expected.outputs) - writes]
    for output in returned:
        destination.append((cursor, TensorSpec(output.form.spec.dtype, output.form.spec.shape)))
        cursor = _after(cursor, output.nbytes)
    sinks = []
    for output in expected.outputs:
        room = output.nbytes if expected.result is None else transforms.ROOM * output.nbytes
        sinks.append((cursor, room))
        cursor = _after(cursor, room)
    return Place(key, entry, expected, base, tuple(sinks), tuple(destination), cursor)


def _after(cursor: int, nbytes: int) -> int:
    return cursor + -(-(nbytes + GUARD) // ALIGN) * ALIGN


def _bundle(place: Place, described: dict[str, Any]) -> dict[str, Any]:
    return {
        "arena": described,
        **place.entry.lent.bundle(place.base),
        "destination": [
            array_tree(spec, at, output.nbytes, output.form.torch)
            for (at, spec), output in zip(place.destination, place.expected.outputs)
        ],
        "sinks": [{"at": at, "nbytes": nbytes} for at, nbytes in place.sinks],
    }


def copy_out(holder: Holder, place: Place, arrays: Sequence[ArrayOut]) -> list[Any]:
    """Private copies of the sinks, made once and contiguous; None for an array whose bytes lie in no sink."""
    assert holder.arena is not None
    view = holder.arena.view
    copies: list[Any] = []
    for array in arrays:
        if array.sink is None:
            copies.append(None)
            continue
        at, nbytes = place.sinks[array.sink]
        copies.append(arena.duplicate(view[at : at + nbytes]))
    return copies


def unchanged(holder: Holder, place: Place) -> Any:
    """Whether the bytes of all inputs are those that were lent, as a torch tensor on the device, which is not waited
    for."""
    assert holder.arena is not None
    packed = place.entry.lent
    return (holder.arena.view[place.base : place.base + packed.nbytes] == packed.image).all()


def changed_inputs(holder: Holder, place: Place, writes: Sequence[int]) -> tuple[str, ...]:
    """Names of the inputs whose bytes are no longer those that were lent, those that may be written aside.

    A write that hits none of them but the guard between them is named as such.
    """
    assert holder.arena is not None
    packed = place.entry.lent
    region = holder.arena.view[place.base : place.base + packed.nbytes]
    if arena.same_bytes(region, packed.image):
        return ()
    region = arena.duplicate(region)
    for index in writes:
        for leaf in leaves(packed.args[index]):
            inside = slice(leaf.at, leaf.at + leaf.nbytes)
            arena.overwrite(region[inside], packed.image[inside])
    if arena.same_bytes(region, packed.image):
        return ()
    names = _differing(packed, region)
    return names or ("memory beside its inputs (out of bounds)",)


def _differing(packed: Packed, region: Any) -> tuple[str, ...]:
    names = []
    for name, leaf in packed.names:
        inside = slice(leaf.at, leaf.at + leaf.nbytes)
        if not arena.same_bytes(region[inside], packed.image[inside]):
            names.append(name)
    return tuple(names)
