"""Tasks and candidates from files and texts; nothing here executes them."""

from __future__ import annotations

from kengine.tasks.completion import extract
from kengine.tasks.examine import examine
from kengine.tasks.item import Item
from kengine.tasks.load import load, load_task, pair, parse, parse_task

__all__ = ["Item", "examine", "extract", "load", "load_task", "pair", "parse", "parse_task"]
