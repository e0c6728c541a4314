"""Tokens and sketches: plain arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# numpy's arrays, which the type checker is not shown; the names say their dtype
U64: TypeAlias = Any
U32: TypeAlias = Any
I32: TypeAlias = Any
I64: TypeAlias = Any
F32: TypeAlias = Any
F64: TypeAlias = Any
Flags: TypeAlias = Any


@dataclass(frozen=True)
class Tokens:
    """Tokens of one candidate.

    kept: uint64[n], hash of a token's text, 0 for a name that the candidate gives itself. names: int32[n], number of
    that name in order of appearance, -1 for other tokens. given: bool[n], whether a name gets its value or its meaning
    there. starts: int32, where statements begin; first is 0. vocabulary: sum of the hashes of the different words and
    operators that are not the candidate's own, nor names of arguments.
    """

    kept: U64
    names: I32
    given: Flags
    starts: I32
    vocabulary: int


@dataclass(frozen=True)
class Sketches:
    """What a deduplication knows of some candidates, `count` of them.

    digests: uint64[count, 2], equal for code that differs in names, comments, layout and literals only.
    vocabularies: uint64[count]. shingles: uint32, ascending within a candidate; those of candidate i are
    shingles[offsets[i]:offsets[i + 1]]. bands: uint64[count, bands], keys of MinHash bands.
    """

    digests: U64
    vocabularies: U64
    shingles: U32
    offsets: I64
    bands: U64

    def __len__(self) -> int:
        return len(self.digests)

    def shingles_of(self, index: int) -> U32:
        """Shingles of one candidate."""
        return self.shingles[self.offsets[index] : self.offsets[index + 1]]
