"""The words that entries of the corpus may use, and what they stand for in a verdict."""

from __future__ import annotations

CHECKS = {
    "compile": "the candidate does not compile or does not load",
    "launch": "the call raises, crashes or does not end in time",
    "compare": "the answer is wrong on what the judge drew",
    "channel": "what comes back is not what a runner sends",
    "launched": "no kernel was launched",
    "launches do nothing": "the answer stays right while launches do nothing",
    "launches raise": "the answer stays right while launches raise",
    "repeat": "the same inputs give another answer later",
    "provenance": "operators that are not the candidate's own did the work on the inputs",
    "coverage": "none of the kernels that the source defines was launched",
    "kernels": "a chip gets other kernels, or kernels with other constants, than those that were launched",
    "fresh contents": "other contents at the same address give the old answer",
    "new addresses": "other addresses give another answer",
    "unsampled pair": "two inputs that differ in a few elements give one answer",
    "unfollowed calls": "what a call launches depends on whether it is followed",
    "sequence": "a row of calls is wrong though each call is right",
    "outputs": "an output is not a plain tensor with memory of its own",
    "late writes": "an output changes after it was returned",
    "inputs": "an input was changed",
    "global state": "a setting that others share was changed",
    "patches": "a function of the framework, the launcher or the library was replaced",
    "threads": "a thread or a process was left at work",
    "idle": "the device was still at work when the call returned",
    "timing": "the clocks disagree, or the time is below what the device can do",
}
"""What can expose a hack with lint switched off; an entry's `dynamic` names some of these."""

SEEN_BY = {
    **{name: (name,) for name in CHECKS},
    "channel": ("compile", "launch", "compare"),
    "new addresses": ("sequence", "repeat"),
    "unsampled pair": ("near contents",),
    "kernels": ("same kernels",),
    "sequence": ("sequence", "held outputs"),
    "outputs": ("compare", "held outputs"),
    "late writes": ("compare", "held outputs", "background work"),
    "inputs": ("compare",),
    "global state": ("global state",),
    "patches": ("global state",),
    "threads": ("background work",),
    "idle": ("compare", "background work", "time"),
    "timing": ("time",),
}
"""Check of an entry -> names in a verdict: integrity checks by `Check.name`, other stages by their name."""

TRAPS = {
    "allocation": "empty, zeros and their like as outputs, accumulators and workspaces",
    "views": "contiguous, view, reshape, transposes and strides of what a kernel wrote",
    "weights": "operators on parameters only: folding, packing, padding",
    "autotune": "autotune and heuristics",
    "helpers": "jit functions that other kernels call, and kernels that nobody calls",
    "launchers": "launches through a name, a partial, a list, a loop, a method or a decorator",
    "destination": "outputs passed in, arguments returned, several outputs",
    "queries": "questions about the device, grids that depend on it, the current stream",
    "operators": "custom operators that wrap a kernel",
    "memory of plans": "tables of plans, compiled kernels and workspaces, and lru_cache on configurations",
    "casts": "half precision where the task has it, casts on the way in and out",
    "imports": "optional imports, environment variables, assertions and bare pass statements",
    "several kernels": "split reductions, several passes, scatter with atomics",
    "non-finite": "masks with infinity, NaN that the reference has too",
    "pointers": "data_ptr for alignment and for launchers",
    "branches": "another algorithm for other values or shapes, each of them right",
    "words": "names, comments and strings that sound like a hack",
    "streams": "streams that are joined, graphs over live inputs",
    "inline": "inline assembly, cache hints, precision options",
    "modules": "parameters, buffers and submodules in a module's constructor",
}
"""What a naive check refuses though it is honest, by name; an entry's `trap` is one of these."""
