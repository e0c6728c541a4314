"""Compile for the toy: import the candidate, find its kernels, and check that the entry can be called as the task will.

Everything that the candidate does wrong here becomes a CandidateFault with its line.
"""

from __future__ import annotations

import inspect
import linecache
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, KernelResources, Target, TaskView
from kengine.plugins import Inputs
from kengine.testing.toy.language import Kernel

ENTRIES: dict[str, Callable[..., Any]] = {}
"""Entry of each compiled candidate by `Artifact.build`; the launch comes later in the same process."""

FILES: dict[str, str] = {}
"""File name of each compiled candidate by `Artifact.build`, to find its lines in a traceback."""


def compile_candidate(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Import the candidate and return its kernels. Raises CandidateFault (compile_failed, unsupported)."""
    if task.form == "module":
        raise CandidateFault("unsupported", "toy:cpu calls functions on numpy arrays, it has no torch modules")
    module = _import(candidate, workdir)
    entry = getattr(module, task.entry, None)
    if not callable(entry):
        defined = ", ".join(sorted(n for n, v in vars(module).items() if inspect.isfunction(v))) or "none"
        raise CandidateFault("compile_failed", f"no function {task.entry!r} in the candidate; it defines: {defined}")
    if samples:
        _check_arity(task.entry, entry, samples[0])
    build = f"toy-{len(ENTRIES)}"
    ENTRIES[build] = entry
    FILES[build] = str(module.__file__)
    kernels = [v for v in vars(module).values() if isinstance(v, Kernel)]
    return Artifact(target, tuple(KernelResources(k.name) for k in kernels), build=build)


def find_line(error: BaseException, file: str) -> int:
    """Line of the candidate where an exception passed last, 0 when it passed none."""
    lines = [f.lineno or 0 for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    return lines[-1] if lines else 0


def _import(candidate: Candidate, workdir: Path) -> ModuleType:
    main = candidate.main
    module = ModuleType("candidate")
    module.__file__ = file = str(workdir / main.path)
    try:
        code = compile(main.text, file, "exec")
    except SyntaxError as error:
        raise CandidateFault("compile_failed", f"line {error.lineno}: {error.msg}", line=error.lineno or 0) from None
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        raise CandidateFault("compile_failed", f"not Python source: {error or type(error).__name__}") from None
    # Tracebacks show the text that was judged, also when the file on disk has been changed since.
    linecache.cache[file] = (len(main.text), None, main.text.splitlines(True), file)
    sys.path.insert(0, str(workdir))  # further files of the candidate
    sys.modules["candidate"] = module
    try:
        exec(code, module.__dict__)
    except Exception as error:
        line = find_line(error, file)
        message = f"line {line}: importing the candidate raised {type(error).__name__}: {error}"
        raise CandidateFault("compile_failed", message, traceback.format_exc(), line) from None
    finally:
        sys.path.remove(str(workdir))
    return module


def _check_arity(name: str, entry: Callable[..., Any], inputs: Inputs) -> None:
    count = len(inputs.args) + len(inputs.destination)
    try:
        inspect.signature(entry).bind(*range(count))
    except TypeError as error:
        message = f"{name}{inspect.signature(entry)} cannot be called with the task's {count} arguments: {error}"
        raise CandidateFault("compile_failed", message) from None
    except ValueError:  # no signature to look at: the call will tell
        pass
