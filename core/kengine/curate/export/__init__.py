"""Stage `export`: the corpus in the formats of trainers, split by task, with a card that tells how it came about."""

from __future__ import annotations

from kengine.curate.export.section import Export
from kengine.curate.export.write import build, export

__all__ = ["Export", "build", "export"]
