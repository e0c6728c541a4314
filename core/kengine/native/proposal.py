"""A launch block for a kernel that has none, from the kernel's own parameters: something to adapt."""

from __future__ import annotations

import json
import re

from kengine.native.signature import Declared, find_parameters
from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank

_COUNTS = frozenset({"n", "num", "numel", "size", "len", "length", "total", "count", "elements", "num_elements"})


def propose_block(text: str, kernel: str) -> tuple[str, ...]:
    """Lines of a block that launches `kernel` once, a thread for each element of its first output.

    Pointers to const are taken for inputs and other pointers for outputs; numbers are taken from the first input's
    sizes, which is a guess. A template gets the type of the first input's elements.
    """
    declared = [parameter for parameter in find_parameters(text, kernel) or () if parameter.name]
    pointers = [parameter for parameter in declared if parameter.is_pointer]
    inputs = [parameter.name for parameter in pointers if parameter.is_const]
    outputs = [parameter.name for parameter in pointers if not parameter.is_const]
    first = (inputs or outputs or ["x"])[0]
    numbers = [parameter for parameter in declared if not parameter.is_pointer]
    sizes = [f'{parameter.name} = "{_guess(parameter, first)}"' for parameter in numbers]
    is_template = any(found.name == kernel and found.is_template for found in find_kernels(blank(text)))
    lines = ["/// kengine", *([f'kernel = "{kernel}<{{{first}}}>"'] if is_template else [])]
    lines += [f'grid = "ceil_div({(outputs or [first])[0]}.numel(), 256)"', "block = 256"]
    for key, names in (("inputs", inputs), ("outputs", outputs)):
        lines += [f"{key} = {json.dumps(names)}"] if names else []
    lines += [f"sizes = {{ {', '.join(sizes)} }}"] if sizes else []
    return tuple(f"// {line}" for line in [*lines, "///"])


def _guess(parameter: Declared, array: str) -> str:
    if re.search(r"float|double|half|bfloat", parameter.type):
        return "1e-6" if "eps" in parameter.name.lower() else "1.0"
    return f"{array}.numel()" if parameter.name.lower() in _COUNTS else f"{array}.shape[-1]"
