"""Sketches of a whole corpus in a folder: small columns in memory, shingles and band keys in files.

In memory stand 60 bytes a sample; on disk 4 bytes a shingle and 8 bytes a band.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from kengine.curate.code.model import I64, U32, U64, Sketches
from kengine.errors import InfraError


class Shelf:
    """Append sketches, then `finish`, then read. Raises InfraError when the disk is full."""

    def __init__(self, folder: Path, bands: int) -> None:
        self.folder = folder
        self.bands = bands
        self._files = {name: (folder / name).open("w+b") for name in ("shingles", "names", *map(str, range(bands)))}
        self._digests: list[U64] = []
        self._groups: list[U64] = []
        self._sizes: list[I64] = []
        self._names: list[I64] = []
        self.digests: U64 = np.empty((0, 2), np.uint64)
        self.groups: U64 = np.empty(0, np.uint64)
        self._at: I64 = np.zeros(1, np.int64)
        self._name_at: I64 = np.zeros(1, np.int64)

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()

    def add(self, sketches: Sketches, groups: U64, names: Sequence[str]) -> None:
        """Sketches of the next samples; only samples of one group are ever compared."""
        encoded = [name.encode(errors="surrogatepass") for name in names]
        try:
            self._files["shingles"].write(sketches.shingles.tobytes())
            self._files["names"].write(b"".join(encoded))
            for band in range(self.bands):
                self._files[str(band)].write(np.ascontiguousarray(sketches.bands[:, band]).tobytes())
        except OSError as error:
            raise InfraError(f"{self.folder}: cannot be written: {error}; make room and run it again") from error
        self._digests.append(sketches.digests)
        self._groups.append(groups)
        self._sizes.append(np.diff(sketches.offsets))
        self._names.append(np.array([len(e) for e in encoded], dtype=np.int64))

    def finish(self) -> None:
        """Nothing more is added."""
        for file in self._files.values():
            file.flush()
        if self._groups:
            self.digests, self.groups = np.concatenate(self._digests), np.concatenate(self._groups)
            self._at = np.concatenate([[0], np.cumsum(np.concatenate(self._sizes))])
            self._name_at = np.concatenate([[0], np.cumsum(np.concatenate(self._names))])
        self._digests, self._groups, self._sizes, self._names = [], [], [], []

    def __len__(self) -> int:
        return len(self.groups)

    def band(self, number: int) -> U64:
        """Keys of one band, of all samples."""
        return np.fromfile(self.folder / str(number), dtype=np.uint64)

    def shingles_of(self, index: int) -> U32:
        """Shingles of one sample, ascending."""
        begin, end = 4 * int(self._at[index]), 4 * int(self._at[index + 1])
        return np.frombuffer(os.pread(self._files["shingles"].fileno(), end - begin, begin), dtype=np.uint32)

    def name_of(self, index: int) -> str:
        """Name of one sample."""
        begin, end = int(self._name_at[index]), int(self._name_at[index + 1])
        text = os.pread(self._files["names"].fileno(), end - begin, begin)
        return text.decode(errors="surrogatepass")
