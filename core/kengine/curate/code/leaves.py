"""Leaves of a syntax tree on their way to tokens: which names a file itself gives, and where its statements begin."""

from __future__ import annotations

import hashlib
import re
from typing import Union

import numpy as np

from kengine.curate.code.model import Flags, Tokens

Text = Union[bytes, str]
"""Text of a leaf: bytes of the source, or str for what the grammar itself spells (keywords, operators)."""

NAME, FIXED, MEMBER, KEYWORD, LITERAL = range(5)
"""What a leaf is: a name, what never changes, a name after a dot, the name of an argument, a literal."""

_HASHES: dict[Text, int] = {}
_HASHES_KEPT = 200_000
_SELF = (b"self", b"cls")
_NUMBER = re.compile(rb"([01])(?:\.0*)?(?:[eE]0+)?[uUlLfF]*|(0?\.0+)[fF]?")


class Leaves:
    """Collects the leaves of all files of one candidate.

    bound: names that the files give to something of theirs. members: those that stand after a dot. common: those that
    are the same thing everywhere; others are told apart by the definition at the top that they stand in, of which
    `scopes` are the beginnings. given: places where a name is given a value. aliases: names that an import gives, with
    what they stand for. literals: numbers and texts are kept as they are.
    """

    def __init__(self, literals: bool = False) -> None:
        self.literals = literals
        self.texts: list[Text] = []
        self.roles: list[int] = []
        self.starts: list[int] = []
        self.scopes: list[int] = []
        self.given: list[int] = []
        self.calls: list[int] = []
        self.callees: dict[int, int] = {}
        self.bound: set[Text] = set()
        self.members: set[Text] = set()
        self.common: set[Text] = set()
        self.aliases: dict[Text, Text] = {}

    def add(self, text: Text, role: int = FIXED) -> None:
        """One more leaf."""
        if text in _CLOSING and self.texts and self.texts[-1] == ",":  # a comma at the end is layout
            self.texts.pop()
            self.roles.pop()
        self.texts.append(text)
        self.roles.append(role)

    def begin(self) -> None:
        """A statement begins with the next leaf."""
        self.starts.append(len(self.texts))

    def add_number(self, text: bytes) -> None:
        """A number: 0 and 1 say which axis, argument or neighbour is meant and stay, others are sizes and constants."""
        found = _NUMBER.fullmatch(text)
        mask = b"#" if found is None else found[1] or b"0"
        self.add(text if self.literals else mask, LITERAL)

    def add_text(self, text: bytes) -> None:
        """A text between quotes that says nothing about what is computed."""
        self.add(b'"' + text if self.literals else b"$", LITERAL)

    def resolve(self) -> Tokens:
        """Tokens: names that the files give are numbered in order of appearance, all else is a hash of its text."""
        texts, bound, members, aliases = self.texts, self.bound, self._members(), self.aliases
        known, common, own, count = _HASHES, dict[Text, int](), dict[Text, int](), 0
        scopes = iter((*self.scopes, len(texts)))
        scope = next(scopes)
        kept, names = [0] * len(texts), [-1] * len(texts)
        words = set[int]()
        for n, (text, role) in enumerate(zip(texts, self.roles)):
            if role == NAME:
                is_own = text in bound
            elif role in (FIXED, LITERAL):
                is_own = False
            elif role == MEMBER:
                is_own = text in members
            else:
                callee = self.callees.get(n)
                is_own = callee is not None and text in bound and texts[callee] in bound
            if is_own:
                if n >= scope:
                    own = {}
                    scope = next(each for each in scopes if each > n)
                given = common if text in self.common else own
                number = given.get(text)
                if number is None:
                    number = given[text] = count
                    count += 1
                names[n] = number
                continue
            if role == NAME and text in aliases:
                text = aliases[text]
            value = known.get(text)
            if value is None:
                value = hash_text(text)
            kept[n] = value
            if role not in (LITERAL, KEYWORD):
                words.add(value)
        given_at: Flags = np.zeros(len(texts), dtype=np.bool_)
        given_at[self.given] = True
        starts = np.unique(np.array([0, *self.starts], dtype=np.int32))
        return Tokens(
            np.array(kept, dtype=np.uint64),
            np.array(names, dtype=np.int32),
            given_at,
            starts[starts < len(texts)],
            sum(words) & 0xFFFFFFFFFFFFFFFF,
        )

    def _members(self) -> set[Text]:
        """Names after a dot that the files give: functions, fields, and what a method stores on its object."""
        found, texts = self.members, self.texts
        for n, role in enumerate(self.roles[:-1]):
            if role == MEMBER and n > 1 and texts[n + 1] == "=" and texts[n - 2] in _SELF:
                found.add(texts[n])
        return found


_CLOSING = frozenset(")]}")


def hash_text(text: Text) -> int:
    """64 bits of a token's text, the same in every process."""
    if len(_HASHES) >= _HASHES_KEPT:
        _HASHES.clear()
    raw = text if isinstance(text, bytes) else text.encode()
    value = _HASHES[text] = int.from_bytes(hashlib.blake2b(raw, digest_size=8).digest(), "little")
    return value
