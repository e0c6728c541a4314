"""A pack that reads a format of its own: lines of `name: code` under a first line `acme`."""

from __future__ import annotations

from collections.abc import Iterator

from kengine.curate import Glimpse, Loader, NearMiss, Sample
from kengine.curate.record import Outcome
from kengine.model import SourceFile
from kengine.plugins.hooks import hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_load(glimpse: Glimpse) -> Loader | NearMiss | None:
    first, _, rest = glimpse.text.partition("\n")
    if first.startswith("acm") and first != "acme":
        return NearMiss("acme", 1, f"its first line is {first!r}, want 'acme'")
    if first != "acme":
        return None

    def read() -> Iterator[Outcome]:
        for line in rest.splitlines():
            name, _, code = line.partition(": ")
            yield Sample("", "", name, files=(SourceFile("candidate.py", code),))

    return Loader("acme", 9, read)
