"""NKIBench: `reference/<op>_<shape>_numpy_k.py` in numpy, `kernels/<op>_<shape>_N.py` in NKI."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.curate import taskbook
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.loaders.columns import RowError, attempt
from kengine.curate.record import Outcome, Sample
from kengine.model import JsonValue, SourceFile
from kengine.tasks.source import read_text

_REFERENCE = re.compile(r"(?:.*/)?reference/([^/]+)_numpy(?:_[^/]*)?\.py$")
_KERNEL = re.compile(r"(?:.*/)?kernels/([^/]+?)(?:_\d+)?\.py$")


def recognise(glimpse: Glimpse) -> list[Loader | NearMiss]:
    """Folders with both kinds of files."""
    references = {m[1]: f for f in glimpse.files if (m := _REFERENCE.match(f))}
    kernels = [f for f in glimpse.files if _KERNEL.match(f)]
    if not references:
        return []
    sample = read_text(glimpse.path / next(iter(references.values())))
    missing = [n for n in ("def forward", "def get_inputs") if n not in sample]
    if missing:
        return [NearMiss("nkibench", 1, f"{next(iter(references.values()))} lacks `{missing[0]}`")]

    def make(file: str, origin: str) -> Sample:
        found = _KERNEL.match(file)
        name = found[1] if found else next(n for n, f in references.items() if f == file)
        if name not in references:
            raise RowError("no_task", f"there is no reference/{name}_numpy_k.py")
        task = taskbook.make(read_text(glimpse.path / references[name]), name, references[name], origin="NKIBench")
        labels: dict[str, JsonValue] = {"operator": re.split(r"_[A-Z]*\d", name, maxsplit=1)[0].lower()}
        if not found:
            return Sample("", "", origin, task, labels=labels)
        code = SourceFile("candidate.py", read_text(glimpse.path / file))
        return Sample("", "", origin, task, files=(code,), entry="kernel", backend="nki", labels=labels)

    def read() -> Iterator[Outcome]:
        solved = {m[1] for f in kernels if (m := _KERNEL.match(f))}
        for file in [*kernels, *(f for n, f in references.items() if n not in solved)]:
            yield from attempt(make, file, file)

    return [Loader("nkibench", 4, read)]
