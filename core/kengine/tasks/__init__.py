"""Tasks and candidates from files and texts; nothing here executes them."""

from __future__ import annotations

from kengine.tasks.examine import examine
from kengine.tasks.item import Item
from kengine.tasks.load import load, pair, parse, parse_task

__all__ = ["Item", "examine", "load", "pair", "parse", "parse_task"]
