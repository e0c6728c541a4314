"""For authors of backends: `BackendConformance`, the suite a backend must pass, and `toy`, the backend to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.testing.conformance import BackendConformance

__all__ = ["BackendConformance"]


def __getattr__(name: str) -> Any:  # candidates of the toy backend come through here and need no pytest
    if name != "BackendConformance":
        raise AttributeError(f"module 'kengine.testing' has no attribute {name!r}")
    from kengine.testing.conformance import BackendConformance

    return BackendConformance
