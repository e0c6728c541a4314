"""Alignment of whole objects that are copied, where the compiler is a clang.

Its alignment sanitizer does not look at copies of plain structures (`float4 v = *p`), and its optimiser takes them
apart before memory accesses are instrumented, after which nothing tells that they had to be aligned. So checked code is
first written as LLVM's text, unoptimised, in which every copy still says its alignment, and a check is put in front of
each. Up to version 14, pointers in that text have the type of what they point at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from kengine.simt import attribution
from kengine.simt.fault import CompileError
from kengine.simt.toolchain import find_compiler, run, unusable

_ATTRIBUTES = re.compile(r"^attributes (#\d+) = \{(.*)\}$", re.MULTILINE)
_LOCAL = re.compile(r"^  (%[\w.]+) = alloca ")
_BYTES_OF = re.compile(r"^  (%[\w.]+) = bitcast .* (%[\w.]+) to i8\*(?=,|$)")
_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_PLACE = rf"[%@][^\s,]+|\w+ (?:inbounds )?{_NESTED}"
_COPY = re.compile(
    r"^  (?:tail )?call void @llvm\.mem(?:cpy|move)(?:\.inline)?\.\S+\("
    rf"(?P<pointer>ptr|i8\*) (?P<to_attributes>[^,]*?)(?P<to>{_PLACE}), "
    rf"(?:ptr|i8\*) (?P<from_attributes>[^,]*?)(?P<from>{_PLACE}), i64 (?P<size>\d+),"
)
_TYPE = r'(?:[^,{}<>()"]|\{[^{}]*\}|<[^<>]*>|\([^()]*\)|"[^"]*")+'
_WIDE = re.compile(
    rf"^  (?:%\S+ = (?P<load>load) {_TYPE}|(?P<store>store) .+?), (?P<pointer>ptr|{_TYPE}\*) (?P<at>%[\w.]+), "
    r"align (?P<align>\d+)(?=,|$)"
)
_LOCATION = re.compile(r", !dbg !\d+")
_CHECK = "simt_note_alignment"


def add_checks(text: str) -> str:
    """LLVM's text with a call in front of every copy to or from memory that is not the function's own, and of every
    access of more than 8 bytes' alignment, in functions that are instrumented."""
    instrumented = {name for name, words in _ATTRIBUTES.findall(text) if "sanitize_thread" in words.split()}
    out: list[str] = []
    inside = False
    local: set[str] = set()
    pointers: set[str] = set()
    numbers = count()
    for line in text.split("\n"):
        if line.startswith("define "):
            inside = any(name in instrumented for name in re.findall(r"#\d+", line))
            local = set()
        elif inside:
            if made := _LOCAL.match(line):
                local.add(made[1])
            elif (same := _BYTES_OF.match(line)) and same[2] in local:
                local.add(same[1])
            for pointer, place, alignment, write in _find(line, local):
                pointers.add("ptr" if pointer == "ptr" else "i8*")
                out += _call(line, pointer, place, alignment, write, numbers)
        out.append(line)
    return "\n".join(out) + "".join(f"\ndeclare void @{_CHECK}({pointer}, i64, i64)\n" for pointer in pointers)


def _find(line: str, local: set[str]) -> list[tuple[str, str, int, bool]]:
    """What a line accesses and must be aligned: the pointer's type, its value, the alignment, whether it is written."""
    found: list[tuple[str, str, int, bool]] = []
    if copy := _COPY.match(line):
        found = [(copy["pointer"], copy["from"], _alignment(copy["from_attributes"]), False),
                 (copy["pointer"], copy["to"], _alignment(copy["to_attributes"]), True)]  # fmt: skip
    elif (wide := _WIDE.match(line)) and int(wide["align"]) > 8:
        found = [(wide["pointer"], wide["at"], int(wide["align"]), bool(wide["store"]))]
    return [one for one in found if one[2] > 1 and one[1].startswith("%") and one[1] not in local]


def _call(line: str, pointer: str, place: str, alignment: int, write: bool, numbers: Iterator[int]) -> list[str]:
    location = _LOCATION.search(line)
    where = location[0] if location else ""
    made = []
    if pointer not in ("ptr", "i8*"):
        of, place, pointer = f"{pointer} {place}", f"%simt.{next(numbers)}", "i8*"
        made = [f"  {place} = bitcast {of} to i8*{where}"]
    return [*made, f"  call void @{_CHECK}({pointer} {place}, i64 {alignment}, i64 {int(write)}){where}"]


def _alignment(attributes: str) -> int:
    match = re.search(r"\balign (\d+)", attributes)
    return int(match[1]) if match else 1


def compile_unit(command: Sequence[str], directory: Path, seconds: float | None = None) -> str:
    """Run a compiler command that makes one object file of a candidate's (`… -c … SOURCE -o OUT`), with checks of
    alignment added where they are needed; the compiler's messages.

    Raises CompileError for what is the candidate's fault, Unsupported where it makes the compiler crash,
    CompilerUnusable and InfraError for what is the machine's.
    """
    try:
        return _compile(command, directory, seconds)
    except CompileError as error:
        raise attribution.attribute(error, command, directory, _compile) from None


def _compile(command: Sequence[str], directory: Path, seconds: float | None) -> str:
    compiler = find_compiler()
    if not compiler.is_clang or "-DSIMT_CHECK" not in command or "-o" not in command:
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
    except CompileError as error:
        # All that is wrong with a candidate was said when the text was written: only its form can be refused here.
        if f"{text.name}:" in error.log:
            raise unusable(error) from None
        raise
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
