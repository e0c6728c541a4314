"""C++ code calls back into Python.

What it does:
Finds `PyRun_*`, `py::exec`, `py::eval`, `PyImport_*`, `py::module_::import`, and attributes that are set or fetched by
name from a module.

Why is this bad:
A kernel's host code has no reason to run Python: this is how an operator, or a change to another module, is hidden from
a look at the Python text.

Example:
    auto y = py::module_::import("torch").attr("matmul")(x, w);

Use instead:
    Launch the kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_RUNS = re.compile(
    r"PyRun_\w+|PyEval_\w+Code\w*|PyImport_\w+|PyObject_SetAttr\w*|PyObject_Call\w*|Py_CompileString\w*|"
    r"PyObject_GetAttrString|PyEval_GetGlobals|PyEval_GetFrame|PyThreadState_\w+|PyFrame_\w+"
)
_HARMLESS = frozenset({"PyThreadState_Get"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names of Python's and pybind11's functions."""
    for cpp, name in find_native(source).names():
        last, space = name.parts[-1], name.parts[0] if len(name.parts) > 1 else ""
        bound = space in ("py", "pybind11") and (
            last in ("exec", "eval", "eval_file", "globals", "setattr", "getattr")
            or ((last == "import" and "module_" in (*name.parts, "")) or last == "import")
        )
        if (_RUNS.fullmatch(last) and last not in _HARMLESS and name.arguments is not None) or bound:
            yield cpp.hit(name.at, f"{name.text} runs Python from C++; do the work in the kernel")


RULE = Rule("KE412", "native-python", "reject", check, __doc__, ALL)
