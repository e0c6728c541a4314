"""The table [export]."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isclose

from kengine.curate import prompts
from kengine.errors import UsageError

FORMATS = ("messages", "prompt-completion", "verl", "slime", "nemo-gym", "hf", "samples")
"""What can be written. `samples` is what kengine itself reads again."""

FIXED = {"verl": "parquet", "nemo-gym": "parquet", "slime": "jsonl", "samples": "jsonl"}
"""Formats that their trainers read in one kind of file only."""


@dataclass(frozen=True)
class Export:
    """[export]: formats and how rows look in them.

    folder: below the run's folder. files: "jsonl" or "parquet", where a trainer reads both. splits: share of each, by
    task; a corpus of one task has the largest only. reasoning: "think" puts it before the code in <think>, "field" into
    `reasoning_content` of the message, "none" leaves it out. loss_flag: name of the flag that says which messages a
    trainer learns from. tags, system: of prompts that are built. weights: "column", or "repeat" rows as often as their
    weight says. title, description: of the card.
    """

    formats: tuple[str, ...] = ("messages",)
    folder: str = "corpus"
    files: str = "jsonl"
    splits: dict[str, float] = field(default_factory=lambda: {"train": 0.9, "validation": 0.1})
    reasoning: str = "think"
    loss_flag: str = "train"
    tags: tuple[str, ...] = ("backend",)
    system: str = ""
    weights: str = "column"
    title: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        for name, allowed in (("files", ("jsonl", "parquet")), ("reasoning", ("think", "field", "none")),
                              ("weights", ("column", "repeat"))):  # fmt: skip
            if getattr(self, name) not in allowed:
                raise UsageError(f"{name}: {getattr(self, name)!r} is not known; allowed: {', '.join(allowed)}")
        for each in self.formats:
            if each not in FORMATS:
                raise UsageError(f"formats: {each!r} is not known; allowed: {', '.join(FORMATS)}")
        for tag in self.tags:
            if tag not in prompts.TAGS:
                raise UsageError(f"tags: {tag!r} is not known; allowed: {', '.join(prompts.TAGS)}")
        if not self.splits or any(not 0 <= share <= 1 for share in self.splits.values()):
            raise UsageError("splits: want shares from 0 to 1 by name, for instance {train = 0.9, validation = 0.1}")
        if not isclose(sum(self.splits.values()), 1.0, abs_tol=1e-9):
            raise UsageError(f"splits: the shares add up to {sum(self.splits.values()):g}, want 1")
        if any(not name.isidentifier() for name in self.splits):
            raise UsageError("splits: a split's name is that of a file: letters, digits and _")
        if not self.folder or self.folder.startswith(("/", "..")) or "/" in self.folder:
            raise UsageError(f"folder: want the name of a folder, got {self.folder!r}")

    def kind(self, format: str) -> str:
        """jsonl or parquet."""
        return FIXED.get(format, self.files)
