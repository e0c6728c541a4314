"""Alignment of whole objects that are copied, where the compiler is a clang.

Its alignment sanitizer does not look at copies of plain structures (`float4 v = *p`), and its optimiser takes them
apart before memory accesses are instrumented, after which nothing tells that they had to be aligned. So checked code is
first written as LLVM's text, unoptimised, in which every copy still says its alignment, and a check is put in front of
each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kengine.simt.toolchain import find_compiler, run

_ATTRIBUTES = re.compile(r"^attributes (#\d+) = \{(.*)\}$", re.MULTILINE)
_LOCAL = re.compile(r"^  (%[\w.]+) = alloca ")
_COPY = re.compile(
    r"^  (?:tail )?call void @llvm\.mem(?:cpy|move)(?:\.inline)?\.\S+\(ptr (?P<to_attributes>[^,]*?)(?P<to>[%@]\S+), "
    r"ptr (?P<from_attributes>[^,]*?)(?P<from>[%@]\S+), i64 (?P<size>\d+),"
)
_WIDE = re.compile(
    r"^  (?:%\S+ = (?P<load>load) [^,]+|(?P<store>store) .+?), ptr (?P<at>%[\w.]+), align (?P<align>\d+)(?=,|$)"
)
_LOCATION = re.compile(r", !dbg !\d+")
_DECLARATION = "\ndeclare void @simt_note_alignment(ptr, i64, i64)\n"


def add_checks(text: str) -> str:
    """LLVM's text with a call in front of every copy to or from memory that is not the function's own, and of every
    access of more than 8 bytes' alignment, in functions that are instrumented."""
    instrumented = {name for name, words in _ATTRIBUTES.findall(text) if "sanitize_thread" in words.split()}
    out: list[str] = []
    inside = False
    local: set[str] = set()
    for line in text.split("\n"):
        if line.startswith("define "):
            inside = any(name in instrumented for name in re.findall(r"#\d+", line))
            local = set()
        elif inside:
            if made := _LOCAL.match(line):
                local.add(made[1])
            out += _checks(line, local)
        out.append(line)
    return "\n".join(out) + _DECLARATION


def _checks(line: str, local: set[str]) -> list[str]:
    found: list[tuple[str, int, bool]] = []
    if copy := _COPY.match(line):
        found = [(copy["from"], _alignment(copy["from_attributes"]), False),
                 (copy["to"], _alignment(copy["to_attributes"]), True)]  # fmt: skip
    elif wide := _WIDE.match(line):
        found = [(wide["at"], int(wide["align"]) if int(wide["align"]) > 8 else 1, bool(wide["store"]))]
    location = _LOCATION.search(line)
    where = location[0] if location else ""
    return [
        f"  call void @simt_note_alignment(ptr {place}, i64 {alignment}, i64 {int(write)}){where}"
        for place, alignment, write in found
        if alignment > 1 and place.startswith("%") and place not in local
    ]


def _alignment(attributes: str) -> int:
    match = re.search(r"\balign (\d+)", attributes)
    return int(match[1]) if match else 1


def compile_unit(command: Sequence[str], directory: Path, seconds: float | None = None) -> str:
    """Run a compiler command that makes one object file (`… -c … SOURCE -o OUT`), with checks of alignment added where
    they are needed; the compiler's messages. Raises CompileError, InfraError."""
    compiler = find_compiler()
    if not compiler.is_clang or "-DSIMT_CHECK" not in command:
        return run(command, directory, seconds)
    given = list(command)
    out = given[given.index("-o") + 1]
    text = Path(directory, f"{out}.ll")
    front = [option for option in given if option != "-c"]
    front[front.index("-o") + 1] = str(text)
    messages = run([*front, "-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes"], directory, seconds)
    text.write_text(add_checks(text.read_text(encoding="utf-8", errors="surrogateescape")),
                    encoding="utf-8", errors="surrogateescape")  # fmt: skip
    back = _without_language(given[len(compiler.command) :])
    try:
        return messages + run([*compiler.command, *back, "-c", str(text), "-o", out], directory, seconds)
    finally:
        text.unlink(missing_ok=True)


def _without_language(options: Sequence[str]) -> list[str]:
    """The options that say how code is generated: no source, no header, no macro."""
    kept: list[str] = []
    rest = iter(options)
    for option in rest:
        if option in ("-Xclang", "-mllvm"):
            kept += [option, next(rest, "")]
        elif option in ("-include", "-include-pch", "-x", "-o", "-isystem", "-I", "-D"):
            next(rest, None)
        elif re.match(r"-[fmgOWw]", option):
            kept.append(option)
    return kept
