"""Rows of JSON, JSON lines and Parquet files, one after the other, each with its place for a message."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import IO, Any, Union, cast

from kengine.curate import jsontext
from kengine.errors import UsageError

Row = Mapping[str, Any]
Broken = str
"""Why a row is none."""

_CHUNK = 1 << 20
_MAX_LINE = 64 << 20


def read(path: Path) -> Iterator[tuple[int, Union[Row, Broken]]]:
    """Rows with their 1-based number (the line, in a file of lines), or why a row is broken.

    Raises UsageError, naming the file, when the file as a whole cannot be read.
    """
    return cast("Iterator[tuple[int, Union[Row, Broken]]]", read_some(path, None))


def read_some(path: Path, wanted: Callable[[int], bool] | None) -> Iterator[tuple[int, Union[Row, Broken, None]]]:
    """As `read`; in a file of lines a row that is not wanted is not parsed, and given as None.

    wanted: asked with the 0-based number of a row, counted without empty lines; None wants all.

    Raises UsageError, naming the file, when the file as a whole cannot be read.
    """
    name = path.name.lower()
    try:
        if name.endswith(".parquet"):
            yield from _parquet(path)
            return
        with _open(path) as file:
            begin = file.read(1 << 12).lstrip()
            file.seek(0)
            single = name.removesuffix(".gz").endswith(".json")
            if single and begin.startswith(b"["):
                yield from _array(io.TextIOWrapper(file, encoding="utf-8"), path)
            elif single and not _is_lines(begin):
                yield from _document(file, path)
            else:
                yield from _lines(file, wanted)
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except (OSError, EOFError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: is not UTF-8 text (byte 0x{error.object[error.start]:02x})") from error


def head(path: Path, count: int) -> list[Row]:
    """The first rows that are no broken ones."""
    return list(islice((row for _, row in islice(read(path), 100) if not isinstance(row, str)), count))


def _open(path: Path) -> IO[bytes]:
    if path.name.lower().endswith(".gz"):
        return cast("IO[bytes]", gzip.open(path, "rb"))
    return path.open("rb")


def _is_lines(begin: bytes) -> bool:
    line, newline, rest = begin.partition(b"\n")
    if not newline or not rest.strip():
        return False
    try:
        return isinstance(jsontext.decode(line), dict)
    except ValueError:
        return False


def _lines(
    file: IO[bytes], wanted: Callable[[int], bool] | None = None
) -> Iterator[tuple[int, Union[Row, Broken, None]]]:
    number, rows = 0, -1
    while True:
        line = file.readline(_MAX_LINE)
        if not line:
            return
        number += 1
        if len(line) == _MAX_LINE and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = file.readline(_MAX_LINE)
            rows += 1
            yield number, f"a line of more than {_MAX_LINE >> 20} MiB"
        elif not line.isspace():
            rows += 1
            yield number, _parse(line) if wanted is None or wanted(rows) else None


def _parse(line: bytes) -> Union[Row, Broken]:
    try:
        row = jsontext.decode(line)
    except UnicodeDecodeError as error:
        return f"not UTF-8 text (byte 0x{error.object[error.start]:02x})"
    except ValueError as error:
        return f"not JSON: {error}"
    except RecursionError:
        return "nested too deeply"
    return row if isinstance(row, dict) else f"want an object, got {type(row).__name__}"


def _document(file: IO[bytes], path: Path) -> Iterator[tuple[int, Union[Row, Broken]]]:
    """One object: a row, an object of rows by name (which becomes the key `_key`), or a table as columns."""
    try:
        value = json.load(file)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path}: want an object or a list of objects, got {type(value).__name__}")
    if value and all(isinstance(v, dict) for v in value.values()) and len(value) > 1 and _alike(list(value.values())):
        for n, (key, row) in enumerate(value.items(), 1):
            yield n, {"_key": key, **row}
    else:
        yield 1, value


def _alike(rows: list[dict[str, Any]]) -> bool:
    return len({frozenset(row) for row in rows[:20]}) == 1


def _array(file: IO[str], path: Path) -> Iterator[tuple[int, Union[Row, Broken]]]:
    """The items of one long list, without holding the list."""
    decoder, buffer, number = json.JSONDecoder(), file.read(_CHUNK).lstrip()[1:], 0
    while True:
        buffer = buffer.lstrip(" \t\r\n,")
        if buffer.startswith("]"):
            return
        try:
            value, end = decoder.raw_decode(buffer)
            if end == len(buffer) and not isinstance(value, (dict, list, str)):
                raise ValueError("perhaps cut")
        except (ValueError, RecursionError) as error:
            more = file.read(_CHUNK)
            if not more or len(buffer) > _MAX_LINE:
                raise UsageError(f"{path}: row {number + 1}: not JSON: {error}") from None
            buffer += more
            continue
        number += 1
        buffer = buffer[end:]
        yield number, value if isinstance(value, dict) else f"want an object, got {type(value).__name__}"


def _parquet(path: Path) -> Iterator[tuple[int, Union[Row, Broken]]]:
    reader = parquet(path)
    import pyarrow

    try:
        with reader.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(batch_size=256):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except pyarrow.lib.ArrowException as error:
        raise UsageError(f"{path}: cannot be read as Parquet: {error}") from error


def parquet(path: Path) -> Any:
    """The module pyarrow.parquet. Raises UsageError that says how to install it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise UsageError(
            f"{path}: Parquet needs pyarrow, which is not installed: pip install 'kernel-engine[curate]'"
        ) from None
    return pyarrow.parquet
