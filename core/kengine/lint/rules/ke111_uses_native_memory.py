"""The candidate reaches native memory or libraries from Python.

What it does:
Finds `ctypes`, `cffi`, `mmap`, `multiprocessing.shared_memory` and `dl` functions, and what accesses memory by address
(`ctypes.memmove`, `string_at`, `from_address`).

Why is this bad:
Through these a candidate can call any library and write any memory of its process without the checks seeing it.
Passing a raw pointer to a kernel launcher is an honest use, so this is a warning. Reading or writing memory at an
address from Python is not, and is rejected.

Example:
    ctypes.CDLL("libcublas.so").cublasSgemm_v2(...)

Use instead:
    Pass tensors to the launcher of the backend.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = ("ctypes", "_ctypes", "cffi", "mmap", "multiprocessing.shared_memory", "cupy.cuda.driver",
          "sys.setdlopenflags", "torch._C._cuda_getCurrentRawStream", "pycuda")  # fmt: skip
_TYPES = frozenset({"ctypes.c_void_p", "ctypes.c_int", "ctypes.c_float", "ctypes.c_uint", "ctypes.c_int64",
                    "ctypes.c_uint64", "ctypes.c_size_t", "ctypes.c_double", "ctypes.c_int32", "ctypes.byref",
                    "ctypes.sizeof", "ctypes"})  # fmt: skip


_RAW = ("ctypes.memmove", "ctypes.memset", "ctypes.string_at", "ctypes.wstring_at", "ctypes.py_object",
        "_ctypes.PyObj_FromPtr")  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names; the plain C types are fine."""
    for node, name in source.references():
        if is_within(name, _RAW) or (name.startswith("ctypes.") and name.endswith(".from_address")):
            yield hit(node, f"{name} reads or writes memory at an address", "reject")
        elif is_within(name, _NAMES) and name not in _TYPES:
            yield hit(node, f"{name} reaches memory or libraries that the checks cannot see")


RULE = Rule("KE111", "uses-native-memory", "warn", check, __doc__)
