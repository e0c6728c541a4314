"""Functions that the candidate replaced and settings that it changed, by the runner's own account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.model import Check

if TYPE_CHECKING:
    from kengine.engine.executions import Execution

TIMEOUT_S = 30.0
FORBIDDEN = (
    "torch default dtype", "torch threads", "torch deterministic algorithms", "torch.backends.cudnn.enabled",
    "torch flush denormal", "torch anomaly detection", "trace function", "profile function", "garbage collection",
    "switch interval", "priority", "torch.backends.mkldnn.enabled",
)  # fmt: skip
"""Settings that no candidate needs changed."""
FORBIDDEN_IN_CALLS = (
    *FORBIDDEN, "torch grad mode", "torch float32 matmul precision", "torch.backends.", "torch default",
    "variable ", "working directory",
)  # fmt: skip
"""Settings that a file may choose for itself when it is imported, and that no call has a business to change."""


def unchanged(execution: Execution) -> Check:
    """No function of a framework, of Python or of kengine is another than before the candidate was loaded."""
    reply = execution.runner.request("state", {}, TIMEOUT_S)
    replaced, changed, called = (_texts(reply.get(key)) for key in ("replaced", "changed", "changed_by_calls"))
    seeded = _texts(reply.get("seeded"))
    if replaced:
        return Check("global state", True, False, f"the candidate replaced {', '.join(replaced[:8])}")
    if seeded:
        return Check("global state", True, False, f"its calls seed the generator of {', '.join(seeded)} anew each time")
    forbidden = [t for t in changed if t.startswith(FORBIDDEN)] or [
        t for t in called if t.startswith(FORBIDDEN_IN_CALLS)
    ]
    if forbidden:
        return Check("global state", True, False, f"the candidate changed {'; '.join(forbidden[:8])}")
    note = f"; changed, with no effect on the judge: {'; '.join(changed[:8])}" if changed else ""
    return Check("global state", True, True, f"no function was replaced{note}")


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > 100 or not all(isinstance(v, str) for v in value):
        raise CandidateFault("tampered", "the result channel carried a description of its state that is none")
    return [v[:300] for v in value]
