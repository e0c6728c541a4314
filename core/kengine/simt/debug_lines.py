"""From the address of an instruction to the line of the candidate's source."""

from __future__ import annotations

import functools
import shutil
import struct
import subprocess
from pathlib import Path

_SECONDS = 30


@functools.lru_cache(maxsize=1024)
def find_line(library: Path, pc: int, filename: str) -> int | None:
    """The innermost line of `filename` at the instruction before `pc`, through inlined functions of other files."""
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if not tool or not pc:
        return None
    try:
        done = subprocess.run(
            [tool, "-i", "-e", str(library), hex(pc - 1)], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    for frame in done.stdout.splitlines():
        file, _, line = frame.partition(" (")[0].rpartition(":")
        if (file == filename or file.endswith("/" + filename)) and line.isdigit():
            return int(line)
    return None


def read_symbols(library: Path) -> dict[str, tuple[int, int]]:
    """Name -> (address, size) of the data objects and functions in an ELF file's full symbol table."""
    data = library.read_bytes()
    if data[:4] != b"\x7fELF" or data[4] != 2:
        return {}
    (offset,) = struct.unpack_from("<Q", data, 40)
    entry, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * entry) for i in range(count)]
    out: dict[str, tuple[int, int]] = {}
    for section in sections:
        if section[1] != 2:
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, index, value, size = struct.unpack_from("<IBBHQQ", data, at)
            if index and info & 15 in (1, 2):
                end = data.index(b"\0", names + name)
                out[data[names + name : end].decode(errors="replace")] = (value, size)
    return out
