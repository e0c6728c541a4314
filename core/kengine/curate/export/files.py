"""Files of rows: JSON lines and Parquet, written in parts, complete or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol

from kengine.curate import jsontext
from kengine.curate.table import parquet

ROW_GROUP = 1000
"""Rows of a Parquet row group: small enough for viewers that read a whole group to show one row."""


class File(Protocol):
    """Takes rows until it is closed."""

    rows: int

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""

    def add_text(self, text: bytes, rows: int) -> None:
        """Write rows that are encoded already."""

    def close(self) -> None:
        """Write what is left."""


class Lines:
    """JSON lines."""

    def __init__(self, path: Path) -> None:
        self.rows = 0
        self._file: IO[bytes] = path.open("wb", buffering=1 << 20)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self.add_text(jsontext.encode(row) + b"\n", 1)

    def add_text(self, text: bytes, rows: int) -> None:
        """Write lines."""
        self._file.write(text)
        self.rows += rows

    def close(self) -> None:
        """Write what is left."""
        self._file.close()


class Parquet:
    """Parquet, with a page index and small row groups."""

    def __init__(self, path: Path, schema: Mapping[str, Any]) -> None:
        self.rows = 0
        self._pyarrow = parquet(path)
        import pyarrow

        self._schema = pyarrow.schema([(k, _type(pyarrow, v)) for k, v in schema.items()])
        self._table = pyarrow.Table
        self._writer = self._pyarrow.ParquetWriter(path, self._schema, compression="zstd", write_page_index=True)
        self._pending: list[Mapping[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Write one row."""
        self._pending.append(row)
        self.rows += 1
        if len(self._pending) >= ROW_GROUP:
            self._flush()

    def add_text(self, text: bytes, rows: int) -> None:
        """Not for this kind of file."""
        raise TypeError("a Parquet file takes rows, not text")

    def close(self) -> None:
        """Write what is left."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._pending:
            self._writer.write_table(self._table.from_pylist(self._pending, schema=self._schema))
            self._pending = []


def create(path: Path, kind: str, schema: Mapping[str, Any]) -> File:
    """A new file of the kind "jsonl" or "parquet". Raises UsageError when Parquet cannot be written here."""
    return Parquet(path, schema) if kind == "parquet" else Lines(path)


def _type(pyarrow: Any, kind: Any) -> Any:
    if isinstance(kind, list):
        return pyarrow.list_(_type(pyarrow, kind[0]))
    if isinstance(kind, Mapping):
        return pyarrow.struct([(k, _type(pyarrow, v)) for k, v in kind.items()])
    return {"text": pyarrow.string(), "flag": pyarrow.bool_(), "number": pyarrow.float64(), "whole": pyarrow.int64()}[
        kind
    ]
