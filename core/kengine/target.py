"""Targets: which backend compiles a kernel, and for which chip or emulator."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kengine.errors import TargetSyntaxError

_BACKEND = re.compile(r"[a-z][a-z0-9_]*\Z")
_ARCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]*\Z")


@dataclass(frozen=True, order=True)
class Target:
    """`BACKEND:ARCH`, for instance `triton:sm_90`, `hip:gfx942` or `nki:sim`; `str(Target.parse(t)) == t`."""

    backend: str
    arch: str

    @classmethod
    def parse(cls, text: str) -> Target:
        """Read `BACKEND:ARCH`. Raises TargetSyntaxError with what was expected."""
        backend, colon, arch = text.partition(":")
        if not colon or not _BACKEND.match(backend) or not _ARCH.match(arch):
            raise TargetSyntaxError(
                f"target {text!r} is not of the form BACKEND:ARCH (for instance triton:sm_90 or nki:sim); "
                "`kengine backends` lists what is installed"
            )
        return cls(backend, arch)

    def __str__(self) -> str:
        return f"{self.backend}:{self.arch}"
