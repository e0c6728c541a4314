"""The engine: plans, schedules, caches and records. Imports no candidate, touches no device, believes no runner."""

from __future__ import annotations

from kengine.engine.batch import Batch
from kengine.engine.engine import Engine
from kengine.engine.single import verify
from kengine.tasks.item import Item

__all__ = ["Batch", "Engine", "Item", "verify"]
