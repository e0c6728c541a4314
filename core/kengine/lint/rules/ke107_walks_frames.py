"""The candidate looks at its callers or searches the heap.

What it does:
Finds `sys._getframe`, `inspect.stack` and their kin, attributes of frames (`f_back`, `f_locals`, ...), dumps of the
stack (`faulthandler`, `logging`'s `findCaller`), `gc.get_objects`, `get_referrers` and `get_referents`, and counts of
what the interpreter has allocated.

Why is this bad:
Callers and the heap hold what a kernel is not given: who is calling, which phase it is, and the expected answer of
less careful harnesses.

Example:
    frame = sys._getframe(1)
    while frame:
        answer = frame.f_locals.get("expected")
        frame = frame.f_back

Use instead:
    Compute the answer from the arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = frozenset({
    "sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile",
    "inspect.stack", "inspect.currentframe", "inspect.trace", "inspect.getouterframes", "inspect.getinnerframes",
    "inspect.getargvalues", "traceback.extract_stack", "traceback.walk_stack", "traceback.format_stack",
    "traceback.walk_tb", "gc.get_objects", "gc.get_referrers", "gc.get_referents", "gc.callbacks",
    "threading.settrace", "threading.setprofile", "sys.monitoring", "sys.getallocatedblocks", "sys._debugmallocstats",
    "faulthandler.dump_traceback", "faulthandler.dump_traceback_later", "traceback.print_stack", "tracemalloc.start",
    "tracemalloc.take_snapshot", "tracemalloc.get_traced_memory", "tracemalloc.get_object_traceback",
})  # fmt: skip
_ATTRIBUTES = frozenset({"f_back", "f_locals", "f_globals", "f_builtins", "f_code", "tb_frame", "gi_frame", "cr_frame",
                         "ag_frame", "tb_next", "findCaller"})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names and attributes."""
    for node, name in source.references():
        if name in _NAMES:
            yield hit(node, f"{name} looks at callers or at the heap; a kernel works on its arguments alone")
    for attribute in source.find(ast.Attribute):
        if attribute.attr in _ATTRIBUTES and not source.resolve(attribute):
            yield hit(attribute, f"reads {attribute.attr} of a frame; a kernel works on its arguments alone")


RULE = Rule("KE107", "walks-frames", "reject", check, __doc__)
