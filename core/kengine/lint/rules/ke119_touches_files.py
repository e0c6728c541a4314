"""The candidate reads or writes files.

What it does:
Finds `open`, saving and loading of arrays, shared memory, databases and temporary files in live code.

Why is this bad:
A file carries results from one call or one run to the next, or holds what should be in the source. The runner's file
system is private and thrown away; a kernel that needs a file will not find it.

Example:
    torch.save(y, "/dev/shm/answer.pt")

Use instead:
    Keep everything in the source; pass data as arguments.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "builtins.open", "io.open", "os.open", "os.memfd_create", "torch.save", "torch.load", "torch.jit.load",
    "torch.jit.save", "numpy.save", "numpy.savez", "numpy.load", "numpy.memmap", "numpy.fromfile", "pickle.dump",
    "json.dump", "shelve.open", "sqlite3.connect", "dbm.open", "tempfile", "shutil", "os.remove", "os.unlink",
    "os.rename", "os.replace", "os.symlink", "os.mkdir", "os.makedirs", "torch.UntypedStorage.from_file",
    "torch.from_file", "multiprocessing.shared_memory", "torch.ops.load_library", "torch.classes.load_library",
)  # fmt: skip
_METHODS = frozenset({"write_text", "write_bytes", "read_text", "read_bytes"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls."""
    for call, names in source.calls():
        for name in sorted(names):
            if is_within(name, _NAMES):
                yield hit(call, f"{name} reads or writes files; keep everything in the source")
        if getattr(call.func, "attr", "") in _METHODS:
            yield hit(call, f"{getattr(call.func, 'attr', '')} reads or writes a file; keep everything in the source")


RULE = Rule("KE119", "touches-files", "warn", check, __doc__)
