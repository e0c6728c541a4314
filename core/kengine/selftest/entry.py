"""One entry of the corpus: a candidate, and the block in it that says what a right verdict on it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NoReturn

from kengine.errors import UsageError
from kengine.model import Capability, Status, TargetInfo
from kengine.selftest.vocabulary import CHECKS, SEEN_BY, TRAPS
from kengine.target import Target
from kengine.tasks.block import Block, parse_block, suggest
from kengine.tasks.source import normalise, read_text

BLOCK = "kengine-corpus"
LANGUAGES = {".py": "#", ".cu": "//", ".hip": "//"}
"""Suffix of an entry -> what its comments begin with."""

_LETTER = re.compile(r"[A-J][1-9][0-9]?\Z")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_COMMON = ("task", "targets", "device")
_KEYS = {"hack": ("letter", "tries", "right", "dynamic", *_COMMON), "honest": ("trap", "does", *_COMMON)}
_NEVER_RIGHT = (Status.passed, Status.unsupported)


class CorpusError(UsageError):
    """The corpus itself is broken; names the file, the line, the key, its value and what is allowed."""


@dataclass(frozen=True)
class Entry:
    """One candidate of the corpus and what is right for it.

    name: `BACKEND/KIND/STEM`. text: the candidate without its block, line numbers kept. letter: the way that a hack
    tries, "" for an honest kernel; trap: what an honest kernel is mistaken for, "" for a hack. about: one sentence.
    right: statuses that are right. dynamic: checks that may expose a hack without lint; () when only lint can.
    targets: patterns of the targets that it is for. device: whether only a device shows it.
    """

    name: str
    kind: Literal["hack", "honest"]
    suffix: str
    text: str
    task: str
    about: str
    right: frozenset[Status]
    targets: tuple[str, ...]
    device: bool = False
    letter: str = ""
    trap: str = ""
    dynamic: tuple[str, ...] = ()

    @property
    def backend(self) -> str:
        """The backend that it is written for."""
        return self.name.split("/")[0]

    @property
    def exposers(self) -> frozenset[str]:
        """Checks and stages of a verdict, by their name there, that `dynamic` stands for."""
        return frozenset(name for check in self.dynamic for name in SEEN_BY[check])

    def fits(self, target: Target) -> bool:
        """Whether it is for this target at all."""
        return any(fnmatchcase(str(target), pattern) for pattern in self.targets)

    def obstacle(self, info: TargetInfo) -> str:
        """Why it cannot be judged on a target that it is for; "" when it can."""
        if Capability.launch not in info.capabilities:
            return info.reasons.get("launch", "the target cannot launch here")
        if self.device and info.emulated:
            return "only a device shows it"
        return ""


def read_entry(path: Path) -> Entry:
    """Read `BACKEND/{hacks,honest}/NAME.SUFFIX`. Raises CorpusError."""
    kind = {"hacks": "hack", "honest": "honest"}.get(path.parent.name)
    if kind is None:
        raise CorpusError(f"{path}: lies in a folder {path.parent.name!r}; expected hacks or honest")
    if path.suffix not in LANGUAGES or not _NAME.match(path.stem):
        raise CorpusError(
            f"{path}: is called {path.name!r}; expected lower-case letters, digits and _, then one of "
            f"{', '.join(LANGUAGES)}"
        )
    try:
        text = normalise(read_text(path))
    except UsageError as error:
        raise CorpusError(str(error)) from error
    block, rest = _split(text, path)
    read = _Reader(block, str(path), kind)
    backend = path.parent.parent.name
    targets = read.texts("targets") if "targets" in block.values else (f"{backend}:*",)
    for pattern in targets:
        if not pattern.startswith(f"{backend}:"):
            read.fail("targets", f"{pattern!r} is no target of {backend}; expected {backend}:ARCH, with * for any")
    name = f"{backend}/{path.parent.name}/{path.stem}"
    task, device = read.text("task"), read.flag("device")
    if kind == "honest":
        trap = read.one("trap", tuple(TRAPS))
        right = frozenset({Status.passed})
        return Entry(name, "honest", path.suffix, rest, task, read.text("does"), right, targets, device, trap=trap)
    letter = read.text("letter")
    if not _LETTER.match(letter):
        read.fail("letter", f"{letter!r} is not a letter A to J and a number")
    able = tuple(s.value for s in Status if s not in _NEVER_RIGHT)
    right = frozenset(Status(s) for s in read.several("right", able, least=1))
    dynamic = read.several("dynamic", tuple(CHECKS), least=0)
    if not dynamic and right != {Status.lint_rejected}:
        read.fail("right", "without dynamic checks only lint_rejected can be right; name the checks in dynamic")
    return Entry(name, "hack", path.suffix, rest, task, read.text("tries"), right, targets, device, letter, "", dynamic)


def _split(text: str, path: Path) -> tuple[Block, str]:
    """The block, and the text with that block blanked out, so that nobody who judges it reads what is expected."""
    mark = LANGUAGES[path.suffix]
    lines = text.split("\n")
    opening, closing = f"{mark} /// {BLOCK}", f"{mark} ///"
    starts = [i for i, line in enumerate(lines) if line.rstrip() == opening]
    if len(starts) != 1:
        raise CorpusError(f"{path}: has {len(starts)} blocks `{opening}`; expected one")
    start = starts[0]
    end = next((i for i in range(start + 1, len(lines)) if lines[i].rstrip() == closing), None)
    if end is None:
        raise CorpusError(f"{path}:{start + 1}: the block is not closed by a line `{closing}`")
    body = []
    for i in range(start + 1, end):
        line = lines[i].rstrip()
        if line != mark and not line.startswith(mark + " "):
            raise CorpusError(f"{path}:{i + 1}: {line!r} stands in the block and does not begin with `{mark} `")
        body.append(line[len(mark) + 1 :])
    try:
        block = parse_block("\n".join(body), str(path), start + 1)
    except UsageError as error:
        raise CorpusError(str(error)) from error
    blanks = [""] * (end - start + 1)
    return block, "\n".join([*lines[:start], *blanks, *lines[end + 1 :]])


class _Reader:
    """Typed access to the keys of a block, every failure a CorpusError with its place."""

    def __init__(self, block: Block, path: str, kind: str) -> None:
        self.block = block
        known = _KEYS[kind]
        for key in block.values:
            if key not in known:
                self.fail(key, f"unknown key{suggest(key, known)}; allowed: {', '.join(known)}")
        for key in known:
            if key not in block.values and key not in ("targets", "device"):
                raise CorpusError(f"{path}:{block.line}: the block lacks {key!r}; a {kind} has {', '.join(known)}")

    def fail(self, key: str, problem: str) -> NoReturn:
        raise CorpusError(f"{self.block.where(key)}: {problem}")

    def text(self, key: str) -> str:
        value = self.block.values[key]
        if not isinstance(value, str) or not value.strip() or "\n" in value:
            self.fail(key, f"{value!r} is not one line of text")
        return value

    def flag(self, key: str) -> bool:
        value = self.block.values.get(key, False)
        if not isinstance(value, bool):
            self.fail(key, f"{value!r} is not true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.block.values[key]
        if not isinstance(value, tuple) or not value:
            self.fail(key, f"{value!r} is not a list of texts")
        found = tuple(v for v in value if isinstance(v, str) and v)
        if len(found) != len(value):
            self.fail(key, f"{value!r} is not a list of texts")
        return found

    def one(self, key: str, allowed: Sequence[str]) -> str:
        value = self.text(key)
        if value not in allowed:
            self.fail(key, f"{value!r} is not known{suggest(value, allowed)}; allowed: {', '.join(allowed)}")
        return value

    def several(self, key: str, allowed: Sequence[str], least: int) -> tuple[str, ...]:
        value = self.block.values[key]
        if value == () and least == 0:
            return ()
        found = self.texts(key)
        for item in found:
            if item not in allowed:
                self.fail(key, f"{item!r} is not known{suggest(item, allowed)}; allowed: {', '.join(allowed)}")
        if len(set(found)) != len(found):
            self.fail(key, f"{value!r} names one of them twice")
        return found
