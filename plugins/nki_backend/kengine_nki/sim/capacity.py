"""Whether what is live at one time fits on chip."""

from __future__ import annotations

from .errors import NkiError
from .program import Program


def peak(intervals: list[tuple[int, int, int]]) -> tuple[int, int]:
    """Largest sum of bytes in use at one time, and when; intervals are (first, last, bytes), ends included."""
    events: list[tuple[int, int]] = []
    for first, last, size in intervals:
        events.append((first, size))
        events.append((last + 1, -size))
    total = best = when = 0
    for at, change in sorted(events):
        total += change
        if total > best:
            best, when = total, at
    return best, when


def check_capacity(program: Program) -> tuple[int, int]:
    """Peak bytes per partition of (sbuf, psum) between first and last use of each tile.

    NkiError in the new generation when a peak is over the chip's memory: no allocator could place it. The old
    generation's compiler spills and reorders, so there it is only a warning.
    """
    peaks = []
    for region, limit in (("sbuf", program.chip.sbuf_bytes), ("psum", program.chip.psum_bytes)):
        mine = [entry for entry in program.intervals if entry[0] == region]
        best, when = peak([(first, last, size) for _, first, last, size, _ in mine])
        peaks.append(best)
        if best > limit:
            live = [entry for entry in mine if entry[1] <= when <= entry[2]]
            largest = max(live, key=lambda entry: entry[3])
            message = (
                f"{region} capacity exceeded: {len(live)} tiles live at instruction {when} need {best} bytes per "
                f"partition, more than the {limit} of {program.chip.name}"
            )
            if program.generation == "old":
                program.launch.session.add_warning(message, *(largest[4] or (None, None)))
                continue
            error = NkiError(message)
            if largest[4] is not None:
                error.place(*largest[4])
            raise error
    return peaks[0], peaks[1]
