"""Device sources of torch extensions, compiled for a chip that is not here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kengine.native.driver import Unit
from kengine.native.lines import locate
from kengine.native.unrun import collecting
from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank

if TYPE_CHECKING:
    from kengine.extension.sources import SourceSet
    from kengine.extension.sources import Unit as ExtensionUnit

    from kengine_cuda.recorder import Recorder

_LAUNCH = re.compile(r"\b(\w+)\s*(<[^<>;(){}]*>)\s*<<<")
_TYPES = {"scalar_t": "float", "T": "float", "float": "float", "double": "double", "int": "int", "half": "__half",
          "__half": "__half", "at::Half": "c10::Half", "c10::Half": "c10::Half", "__nv_bfloat16": "__nv_bfloat16",
          "at::BFloat16": "c10::BFloat16", "c10::BFloat16": "c10::BFloat16"}  # fmt: skip
_STOCK = ("-D__CUDA_NO_HALF_OPERATORS__", "-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
          "-D__CUDA_NO_HALF2_OPERATORS__")  # fmt: skip
"""What torch passes to nvcc for every extension."""


@contextmanager
def replace(driver: Recorder) -> Iterator[None]:
    """Inside the block, and for what was imported in it, the device sources of extensions are compiled for a chip."""

    checked: list[SourceSet] = []

    def compile_unit(unit: ExtensionUnit, given: SourceSet) -> None:
        lines = locate(unit.text, driver.candidate.main.text)
        options = (*_STOCK, *given.device_flags)
        driver.compile(Unit(unit.text, unit.filename, lines, options, instances_of(unit.text)), "extension")
        if given not in checked:
            checked.append(given)
            _check_host(driver, given)

    with collecting(compile_unit, "cuda"):
        yield


def _check_host(driver: Recorder, given: SourceSet) -> None:
    """Raise CandidateFault for what is certainly wrong in host code, of which nothing is run here."""
    from kengine.errors import CandidateFault
    from kengine.extension import Settings, hostcode
    from kengine.native import cache, observe
    from kengine.native.inline import place_fault
    from kengine.simt import CompilerMissing

    try:
        folder = cache.make_private(driver.workdir)
    except CompilerMissing:
        return
    try:
        hostcode.check(given, Settings(cache=folder))
    except CandidateFault as fault:
        texts = {unit.filename.rsplit(".", 1)[0]: unit.text for unit in given.units}
        raise observe.current().failed(place_fault(fault, texts, driver.candidate)) from None


def instances_of(text: str) -> tuple[str, ...]:
    """Instances of template kernels that a source launches by name, as far as the text shows them: a dispatched type is
    taken for float."""
    code = blank(text)
    templates = {kernel.name for kernel in find_kernels(code) if kernel.is_template}
    found: dict[str, None] = {}
    for match in _LAUNCH.finditer(code):
        words = [word.strip() for word in match[2][1:-1].split(",")]
        known = [_TYPES.get(word) or (word if word.isdigit() else _constant(word, code)) for word in words]
        if match[1] in templates and all(known):
            found[f"{match[1]}<{', '.join(str(word) for word in known)}>"] = None
    return tuple(found)


def _constant(word: str, code: str) -> str:
    """The value of a named constant, "" when it cannot be told."""
    match = re.search(rf"(?:#define\s+{re.escape(word)}\s+|\b{re.escape(word)}\s*=\s*)(\d+)\b", code)
    if match and word.isidentifier():
        return match[1]
    return word if word in ("true", "false") else ""
