"""The task's source as a module: executed once, its functions found by name, its errors told with their line."""

from __future__ import annotations

import contextlib
import difflib
import inspect
import linecache
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kengine.errors import DeviceLost, TaskError
from kengine.model import Task

NAMES = {
    "function": ("reference", "make_inputs"),
    "module": ("Model", "get_inputs"),
    "numpy": ("forward", "get_inputs"),
}
"""What each form must define; the first is the reference."""

_ASKS_FOR_GPU = re.compile(
    r"(?:CUDA|XPU|HIP) enabled|NVIDIA driver|No (?:CUDA|HIP) GPUs|CUDA generator|without ATen_cuda"
    r"|requires CUDA support|dummy base class (?:Event|Stream)|cudaErrorNoDevice|cudaErrorInsufficientDriver"
    r"|no CUDA-capable device"
)
"""What torch and CuPy say where there is no GPU, or no build of torch for it."""


class TaskModule:
    """A task's source after execution. Raises TaskError for whatever is wrong with it; `close` forgets the module."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.filename = task.path or f"<task {task.name}>"
        self.compiled: Any = None
        self._name = f"kengine_task_{task.digest[:16]}"
        self.namespace = types.ModuleType(self._name)
        self.namespace.__file__ = self.filename
        self._execute()
        self.entry: Any = self.find(NAMES[task.form][0])
        self.drawer: Callable[..., Any] = self.find(NAMES[task.form][1])

    @property
    def uses_torch(self) -> bool:
        """Whether torch is loaded in this process, which a task on numpy alone does not need."""
        return "torch" in sys.modules

    def _execute(self) -> None:
        text = self.task.source
        if "\0" in text:
            raise TaskError(f"task {self.task.name!r}: its source is not text (it holds a NUL byte)")
        linecache.cache[self.filename] = (len(text), None, text.splitlines(True), self.filename)
        sys.modules[self._name] = self.namespace
        with self.blame("its source cannot be executed", "run the file with Python alone to see the error"):
            exec(compile(text, self.filename, "exec", dont_inherit=True), self.namespace.__dict__)

    def find(self, name: str) -> Any:
        """The callable of this name. Raises TaskError with the nearest name when it is missing."""
        value = getattr(self.namespace, name, None)
        if callable(value):
            return value
        near = difflib.get_close_matches(name, [n for n in vars(self.namespace) if not n.startswith("__")], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        problem = "is not callable" if value is not None else "is missing"
        raise TaskError(
            f"task {self.task.name!r} ({self.filename}): a task of form {self.task.form!r} must define "
            f"{', '.join(NAMES[self.task.form])}, but {name!r} {problem}{hint}"
        )

    def optional(self, name: str) -> Callable[..., Any] | None:
        """The callable of this name, or None."""
        value = getattr(self.namespace, name, None)
        return value if callable(value) else None

    def argument_names(self, count: int) -> tuple[str, ...]:
        """Names of the reference's first `count` arguments; `arg 3` where the signature has none."""
        function = self.entry.forward if self.task.form == "module" else self.entry
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            parameters = []
        if self.task.form == "module":
            parameters = parameters[1:]
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return tuple(names[i] if i < len(names) else f"arg {i}" for i in range(count))

    @contextlib.contextmanager
    def blame(self, what: str, fix: str) -> Iterator[None]:
        """Turn any exception of the task's code into a TaskError that says what failed, where, and what to do.

        KeyboardInterrupt and SystemExit are no exception to that: nobody presses keys in a judge, and only the task
        would leave it.
        """
        try:
            yield
        except (TaskError, MemoryError):
            raise
        except BaseException as error:
            if type(error).__name__ == "OutOfMemoryError":
                raise DeviceLost(f"device memory ran out for task {self.task.name!r}: {_text(error)}") from error
            raise TaskError(self.explain(what, error, fix)) from error

    def explain(self, what: str, error: BaseException, fix: str) -> str:
        """One sentence: the task, what failed, the error with the task's own line, and what to do."""
        line = self.line_of(error)
        where = f"{self.filename}:{line}" if line else self.filename
        if isinstance(error, ModuleNotFoundError):
            extra = "pip install 'kernel-engine[triton]'" if error.name == "torch" else f"install {error.name}"
            fix = f"{extra}, or write the task without it"
        text = _text(error)
        if _ASKS_FOR_GPU.search(text):
            text = text.partition(". ")[0]  # torch goes on about its own build for a paragraph
            fix = (
                "it asks for a GPU itself: make its arrays on the device that it is given, or write "
                'device = "cuda" in its block, so that it is judged on machines with one only'
            )
        return f"task {self.task.name!r} ({where}): {what}: {type(error).__name__}: {text}; {fix}"

    def line_of(self, error: BaseException) -> int:
        """The innermost line of the task's own source in an exception, 0 when there is none."""
        if isinstance(error, SyntaxError) and error.filename == self.filename:
            return error.lineno or 0
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == self.filename]
        return lines[-1] or 0 if lines else 0

    @contextlib.contextmanager
    def overridden(self, params: Mapping[str, Any]) -> Iterator[None]:
        """Give the module's global constants other values for a while (`batch_size = 16` of a KernelBench task)."""
        known = vars(self.namespace)
        unknown = [name for name in params if name not in known]
        if unknown:
            raise TaskError(
                f"task {self.task.name!r}: a case sets {unknown[0]!r}, but {self.drawer.__name__} takes no such "
                "argument and the file has no global of that name"
            )
        before = {name: known[name] for name in params}
        known.update(params)
        try:
            yield
        finally:
            known.update(before)

    def close(self) -> None:
        """Take the module out of the interpreter's tables."""
        sys.modules.pop(self._name, None)
        linecache.cache.pop(self.filename, None)


def _text(error: BaseException) -> str:
    """What an exception says, on one line; one of the task's own classes may be unable to say anything."""
    try:
        return " ".join(str(error).split())[:400]
    except BaseException as inner:
        return f"(its text cannot be had: {type(inner).__name__})"
