"""Functions that the candidate replaced and settings that it changed, by the runner's own account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.model import Check

if TYPE_CHECKING:
    from kengine.engine.executions import Execution

TIMEOUT_S = 30.0
FORBIDDEN = ("torch default dtype", "torch threads", "torch deterministic algorithms", "torch.backends.cudnn.enabled",
             "torch flush denormal", "trace function", "profile function")  # fmt: skip
"""Settings that no kernel needs changed; the others are noted."""


def unchanged(execution: Execution) -> Check:
    """No function of a framework, of Python or of kengine is another than before the candidate was loaded."""
    reply = execution.runner.request("state", {}, TIMEOUT_S)
    replaced, changed = (_texts(reply.get(key)) for key in ("replaced", "changed"))
    if replaced:
        return Check("global state", True, False, f"the candidate replaced {', '.join(replaced[:8])}")
    forbidden = [text for text in changed if text.startswith(FORBIDDEN)]
    if forbidden:
        return Check("global state", True, False, f"the candidate changed {'; '.join(forbidden[:8])}")
    note = f"; changed, with no effect on the judge: {'; '.join(changed[:8])}" if changed else ""
    return Check("global state", True, True, f"no function was replaced{note}")


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > 100 or not all(isinstance(v, str) for v in value):
        raise CandidateFault("tampered", "the result channel carried a description of its state that is none")
    return [v[:300] for v in value]
