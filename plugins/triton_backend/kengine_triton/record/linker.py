"""AMD code without ROCm's linker: Triton before 3.4 calls an `ld.lld` that its wheel does not bring.

Everything that can be wrong with a kernel is found before linking, so the assembled object stands in for the code
object where the linker is missing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def do_without() -> bool:
    """Leave linking out in this process if it is not possible; True if it is left out."""
    try:
        from triton._C.libtriton import amd
        from triton.backends import backends

        # Triton loads its backends under names of their own: importing the module would give another class.
        backend: Any = backends["amd"].compiler
    except (ImportError, KeyError):
        return False
    find = getattr(backend, "path_to_rocm_lld", None)
    if find is None:
        return False
    try:
        find()
        return False
    except Exception:
        pass

    def assemble(src: str, metadata: Any, options: Any) -> Any:
        return amd.assemble_amdgcn(src, options.arch, "")

    backend.make_hsaco = staticmethod(assemble)
    backend.hash = lambda self: f"unlinked-{self.target}"
    return True
