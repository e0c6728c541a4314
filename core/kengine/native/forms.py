"""The forms in which CUDA and HIP candidates come, told apart by what their text holds."""

from __future__ import annotations

import ast
import functools
from enum import Enum

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native.proposal import propose_block
from kengine.syntax import parse_tree
from kengine.tasks.cfamily import has_name, kernel_names


class Form(str, Enum):
    """cupy: Python that makes kernels with CuPy. inline: Python that builds an extension of torch. python: Python that
    does neither (the kernels of another module, or none). block: a bare file with a launch block. host: a bare file
    whose entry is a host function that launches for itself."""

    cupy = "cupy"
    inline = "load_inline"
    python = "python"
    block = "block"
    host = "host"

    @property
    def is_native(self) -> bool:
        """Whether the main file is CUDA or HIP itself."""
        return self in (Form.block, Form.host)


BLOCK_KEYS = ("grid", "block", "launch")
"""Keys of a block that make it a launch block."""


def find_form(candidate: Candidate) -> Form:
    """Tell the form of a candidate. Raises CandidateFault (compile_failed) for a bare file that says no launch."""
    if candidate.language == "python":
        names = _names(candidate.main.text)
        if names & {"load_inline", "cpp_extension"}:
            return Form.inline
        return Form.cupy if "cupy" in names else Form.python
    if any(key in candidate.options for key in BLOCK_KEYS):
        return Form.block
    text, entry = candidate.main.text, candidate.entry
    if entry in kernel_names(text):
        block = propose_block(text, entry)
        shown = ", ".join(f"`{line}`" for line in block)
        raise CandidateFault(
            "compile_failed",
            f"{candidate.main.path}: nothing says how {entry!r} is launched: put a block above it, with grid, block "
            f"and sizes as the kernel needs them: {shown}; or name a host function that launches it as entry",
            log="\n".join(block),
        )
    if has_name(text, entry):
        return Form.host
    found = ", ".join(kernel_names(text)) or "none"
    raise CandidateFault(
        "compile_failed", f"{candidate.main.path}: does not define {entry!r}; kernels in the file: {found}"
    )


@functools.lru_cache(maxsize=8)
def _names(text: str) -> frozenset[str]:
    """Names that the code imports or uses as attributes; comments and strings do not count."""
    found: set[str] = set()
    for node in ast.walk(parse_tree(text)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None) or ""
            found.update(module.split("."))
            for alias in node.names:
                found.update(alias.name.split("."))
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return frozenset(found)
