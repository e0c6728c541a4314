"""Which memory a kernel may touch: the storages of its arguments, and those whose addresses the wrapper asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Region:
    """One storage: the argument that brought it, first byte, size in bytes, and the storage itself (kept alive)."""

    name: str
    start: int
    nbytes: int
    storage: Any = None

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.start + self.nbytes


class Regions:
    """The regions of the launch under way by argument, and all regions that any pointer may stem from."""

    def __init__(self) -> None:
        self.launch: list[Region] = []
        self.exposed: dict[int, Region] = {}

    def begin(self, named: list[tuple[str, Any]]) -> None:
        """Start a launch with these (name, argument) pairs; tuples and descriptors are looked into."""
        self.launch = []
        for name, value in named:
            self._add(name, value)

    def expose(self, tensor: Any) -> None:
        """Note a tensor whose address the wrapper asked for: a kernel may get it inside another tensor."""
        storage = tensor.untyped_storage()
        region = Region("memory behind a stored address", storage.data_ptr(), storage.nbytes(), storage)
        self.exposed[region.start] = region

    def owner(self, tensor: Any) -> Region | None:
        """The region of an argument's tensor."""
        start = tensor.untyped_storage().data_ptr()
        return next((region for region in self.launch if region.start == start), None)

    def all(self) -> list[Region]:
        """Every region that memory may be reached through."""
        return [*self.launch, *self.exposed.values()]

    def _add(self, name: str, value: Any) -> None:
        if hasattr(value, "untyped_storage"):
            storage = value.untyped_storage()
            if all(region.start != storage.data_ptr() for region in self.launch):
                self.launch.append(Region(name, storage.data_ptr(), storage.nbytes()))
        elif hasattr(value, "base"):
            self._add(name, value.base)
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                self._add(f"{name}[{i}]", item)


REGIONS = Regions()
"""The regions of this process; the interpreter runs one launch at a time."""
