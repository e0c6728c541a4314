"""Whether all answers of one batch are right, with a single wait for the device.

On a device each question whose answer is a Python bool waits for all that was asked before, and a timed batch has eight
answers with a handful of such questions each, all asked while the device is held alone. Here they stay on the device
until the last one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kengine.judge import lending
from kengine.judge.compare import load_output, order_outputs
from kengine.judge.expected import at_least_1d
from kengine.judge.lending import Holder, Place
from kengine.judge.session import Session
from kengine.judge.structure import Malformed, read_outputs
from kengine.model import TensorSpec


def all_right(session: Session, holder: Holder, places: Sequence[Place], outputs: Sequence[Any]) -> bool:
    """Whether each place holds a right answer and its inputs are as they were lent; outputs: the runner's description
    for each, hostile.

    False where anything is unusual (values that are not finite, inputs that may be written, a plugin that compares, a
    host): it says nothing then, and each answer is to be looked at by itself.
    """
    if session.device != "cuda" or session.comparers or session.writes:
        return False
    flags: list[Any] = []
    for place, described in zip(places, outputs):
        found = _ask(session, holder, place, described)
        if found is None:
            return False
        flags += found
    if not flags:
        return True
    import torch

    return bool(torch.stack(flags).all())


def _ask(session: Session, holder: Holder, place: Place, described: Any) -> list[Any] | None:
    """Flags on the device that all hold for a right answer; None where that cannot be said by flags."""
    expected = place.expected
    if expected.result is not None:
        return None
    try:
        values, arrays = read_outputs(described, len(place.sinks))
    except Malformed:
        return None
    copies = lending.copy_out(holder, place, arrays)
    ordered = order_outputs(expected, values, arrays, copies)
    if ordered is None or any(copy is None for copy in ordered):
        return None
    flags = [lending.unchanged(holder, place)]
    for want, copy in zip(expected.outputs, ordered):
        spec = TensorSpec(want.form.spec.dtype, want.form.spec.shape)
        if not math.prod(spec.shape):
            continue
        if want.special:
            return None
        got = at_least_1d(load_output(spec, copy, session.device))
        if want.allowed is None:
            right = (got == want.exact) | (got == want.honest)
        else:
            # What is not finite has an error that is within nothing.
            right = (got - want.exact).abs() <= want.allowed
        flags.append(right.all())
    return flags
