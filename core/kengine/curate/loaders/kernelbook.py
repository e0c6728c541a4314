"""KernelBook: modules mined from repositories, with what Inductor made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kengine.curate import taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, RowFormat, license_of, plain, text
from kengine.curate.record import Sample
from kengine.model import SourceFile

_EMPTY_INIT = re.compile(r"^def get_init_inputs\(\):\n(?:[ \t]*\n)*[ \t]+return \[\[\], \{\}\][ \t]*$", re.MULTILINE)


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Rows with the module's text and the Triton code beside it."""
    return _ROWS.recognise(glimpse)


def _row(row: Mapping[str, Any], origin: str) -> Sample:
    entry = text(row, "entry_point")
    if not entry.isidentifier():
        raise RowError("malformed_row", f"field 'entry_point': {entry!r} is not a name")
    python = text(row, "python_code", "pytorch_code")
    if not re.search(rf"^class {entry}\b", python, re.MULTILINE):
        raise RowError("broken_task", f"field 'python_code': defines no class {entry!r}, which 'entry_point' names")
    code = text(row, "triton_code", required=False)
    source, model = _adapt(python, entry, "Model")
    license = license_of(row)
    task = taskbook.make(source, entry, license=license, origin=text(row, "repo_link", "repo_name", required=False))
    files: tuple[SourceFile, ...] = ()
    if code:
        new = f"{entry}New"
        if not re.search(rf"^class {new}\b", code, re.MULTILINE):
            raise RowError("no_code", f"field 'triton_code': defines no class {new!r}")
        files = (SourceFile("candidate.py", _alias(code, new, "ModelNew", model)),)
    claims = plain(row, "uuid", "repo_name", "sha", "stars", "synthetic", "module_name")
    return Sample("", "", origin, task, files=files, entry="ModelNew" if files else "",
                  backend="triton" if files else "", license=license, claims=claims,
                  labels={"operator": entry.lower()})  # fmt: skip


def _adapt(source: str, entry: str, name: str) -> tuple[str, bool]:
    """The task's text with `Model`; whether constructors are given one list and one dict.

    KernelBook's get_init_inputs returns [arguments, keywords]. Where both are empty it is turned into the usual form;
    else Model takes the two as its arguments.
    """
    if _EMPTY_INIT.search(source):
        return _alias(_EMPTY_INIT.sub("def get_init_inputs():\n    return []", source), entry, name, False), False
    return _alias(source, entry, name, True), True


def _alias(source: str, entry: str, name: str, split: bool) -> str:
    if entry == name and not split:
        return source
    if not split:
        return f"{source.rstrip()}\n\n\n{name} = {entry}\n"
    base = entry
    head = ""
    if entry == name:
        base, head = f"_{name}", f"_{name} = {name}\n\n\n"
    return (
        f"{source.rstrip()}\n\n\n{head}class {name}({base}):\n    def __init__(self, arguments, keywords):\n"
        "        super().__init__(*arguments, **keywords)\n"
    )


_ROWS = RowFormat(
    "kernelbook",
    ("entry_point", "python_code|pytorch_code", "triton_code", "repo_name", "uuid"),
    ("original_triton_code", "module_name", "entry_point"),
    _row,
)
