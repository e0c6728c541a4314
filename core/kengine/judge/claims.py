"""A runner's reply to a request for times, read as what it is: the claim of somebody who wants to look fast."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kengine import codec, wire
from kengine.errors import CandidateFault
from kengine.judge.clock import METHODS
from kengine.model import CaseView, Status, Timing, TimingPlan

_FAULTS = frozenset(s.value for s in Status) - {"passed", "lint_rejected", "wrong_result", "sham", "too_slow"}
_HIGHEST_NS = 10**13
_REASON = 300
"""Characters of a runner's reason why it could not measure that are kept."""

SLOW_CALL_NS = 2_000_000
"""Host time that one call may take beside its device time: Python, launches, allocations."""
SLOW_FACTOR = 20
"""How many times its claimed device time a call may take of the judge's clock, beside that."""


@dataclass(frozen=True)
class Batch:
    """One believed reply: samples, method, outputs as described, and the judge's own time around it.

    Where timing.failed says why nothing was measured there are no samples, and the outputs are of no use.
    """

    timing: Timing
    outputs: list[Any]
    wall_ns: int


def ask(
    channel: socket.socket,
    view: CaseView,
    plan: TimingPlan,
    bundles: list[dict[str, Any]],
    fds: tuple[int, ...],
    nonce: int,
    timeout_s: float,
    wall: Callable[[], int],
) -> Batch:
    """Ask a runner to time one batch. Raises CandidateFault for every reply that is not an honest-looking answer."""
    request = {
        "op": "time",
        "n": nonce,
        "case": codec.to_json(view),
        "plan": codec.to_json(plan),
        "bundles": bundles,
    }
    begun = wall()
    try:
        channel.settimeout(timeout_s)
        wire.send(channel, request, fds)
        reply, extra = wire.receive(channel, time.monotonic() + timeout_s)
    except wire.WireTimeout:
        raise CandidateFault(
            "timed_out", f"a batch of {plan.calls} timed calls did not end in {timeout_s:g} s"
        ) from None
    except wire.WireClosed:
        raise CandidateFault("crashed", "the runner died while it was being timed") from None
    except (wire.WireError, OSError) as error:
        raise CandidateFault("tampered", f"the result channel carried garbage during timing: {error}") from None
    spent = wall() - begun
    wire.close_all(extra)
    return read(reply, plan, nonce, len(bundles), spent)


def read(reply: dict[str, Any], plan: TimingPlan, nonce: int, bundles: int, wall_ns: int) -> Batch:
    """Read one reply. Raises CandidateFault: the fault that it reports, or `tampered`."""
    if reply.get("n") != nonce or type(reply.get("n")) is not int or type(reply.get("ok")) is not bool:
        raise _tampered("an answer that nobody asked for")
    if not reply["ok"]:
        raise _fault(reply)
    if set(reply) != {"n", "ok", "timing", "outputs"}:
        raise _tampered(f"an answer with the keys {sorted(map(str, reply))[:10]}")
    try:
        timing = codec.from_json(reply["timing"], Timing)
    except codec.CodecError as error:
        raise _tampered(f"a timing that is none: {error}") from None
    timing = replace(timing, failed="".join(c if c.isprintable() else " " for c in timing.failed[:_REASON]))
    outputs = reply["outputs"]
    if type(outputs) is not list or len(outputs) != min(bundles, plan.calls):
        raise _tampered(f"outputs of another number than the {min(bundles, plan.calls)} calls that were to be kept")
    check_samples(timing, plan, wall_ns)
    return Batch(timing, outputs, wall_ns)


def check_samples(timing: Timing, plan: TimingPlan, wall_ns: int) -> None:
    """Raise CandidateFault(tampered) for samples that are not `plan.calls` positive times within the judge's clock.

    A timing that failed claims nothing, so that there is nothing to disbelieve, unless it has times all the same.
    """
    samples = timing.samples_ns
    if timing.failed:
        if samples or timing.launches:
            raise _tampered("times, and a reason why there are none")
        return
    if len(samples) != plan.calls:
        raise _tampered(f"{len(samples)} times for {plan.calls} calls")
    if not all(0 < s < _HIGHEST_NS for s in samples):
        raise _tampered("a time that is not above 0, or absurdly long")
    if METHODS.index(timing.method) < METHODS.index(plan.method):
        raise _tampered(f"times by {timing.method}, asked for was {plan.method}")
    if sum(samples) > wall_ns:
        raise _tampered(f"times that add up to {sum(samples)} ns, although the judge's clock saw only {wall_ns} ns")
    if timing.launches < 0:
        raise _tampered("a negative number of launches")


def check_further_calls(claimed_ns: float, further: int, short_wall_ns: int, long_wall_ns: int) -> None:
    """Hold a claim against what each further call costs by the judge's clock.

    claimed_ns: median of the claimed times. A batch with `further` more calls took `long_wall_ns` instead of
    `short_wall_ns`. Raises CandidateFault(tampered) when a call takes far longer than claimed and than any launch.
    """
    if further < 1:
        return
    each = (long_wall_ns - short_wall_ns) / further
    if each > SLOW_FACTOR * claimed_ns + SLOW_CALL_NS:
        raise CandidateFault(
            "tampered",
            f"a call is claimed to take {claimed_ns / 1e3:.3g} us, but each further call takes {each / 1e3:.3g} us by "
            "the judge's clock: the work is done where it is not timed",
        )


def check_floor(claimed_ns: float, floor_ns: int | None, what: str = "writing its outputs") -> None:
    """Raise CandidateFault(tampered) for a time in which the device cannot do `what`, which takes `floor_ns`."""
    if floor_ns is not None and claimed_ns < 0.9 * floor_ns:
        whose = "device" if "products" in what else "memory"
        raise CandidateFault(
            "tampered",
            f"a call is claimed to take {claimed_ns / 1e3:.3g} us, but {what} alone takes {floor_ns / 1e3:.3g} us at "
            f"the {whose}'s peak rate",
        )


def _fault(reply: dict[str, Any]) -> CandidateFault:
    fault = reply.get("fault")
    if type(fault) is not dict or fault.get("status") not in _FAULTS or type(fault.get("message")) is not str:
        return _tampered("a failure that is none")
    return CandidateFault(str(fault["status"]), fault["message"][:4000])


def _tampered(what: str) -> CandidateFault:
    return CandidateFault("tampered", f"the result channel carried {what} during timing")
