"""Executing an unmodified kernel file with the facades in place of the Neuron packages."""

from __future__ import annotations

import ast
import contextlib
import linecache
import sys
import types
from collections.abc import Iterator
from functools import lru_cache

from .errors import NkiError, Unsupported, kernel_frame
from .facade.new import build_new
from .facade.old import build_old
from .session import active_session

ROOTS = ("nki", "neuronxcc")
# Packages that a Neuron machine may have and this one need not: a kernel that needs them cannot be judged.
ECOSYSTEM = {
    "torch", "torch_xla", "torch_neuronx", "torch_neuron", "jax", "jaxlib", "jax_neuronx", "libneuronxla", "neuronxcc",
    "neuronx_distributed", "neuronx_distributed_inference", "neuronx_distributed_training", "nkilib", "nki_samples",
    "optimum", "transformers", "transformers_neuronx", "einops", "scipy", "nrtpy", "nkipy", "neuronpy", "pytest",
}  # fmt: skip


@lru_cache(maxsize=1)
def modules() -> dict[str, types.ModuleType]:
    """The facade modules of both generations, built once."""
    return {**build_new(), **build_old()}


def _present() -> list[str]:
    return [name for name in sys.modules if name.startswith(ROOTS) and name.partition(".")[0] in ROOTS]


@contextlib.contextmanager
def facade() -> Iterator[None]:
    """`import nki...` and `import neuronxcc.nki...` find the interpreter in this block; then all is as before."""
    ours = modules()
    if all(sys.modules.get(root) is ours[root] for root in ROOTS):
        yield
        return
    saved = {name: sys.modules[name] for name in _present()}
    for name in saved:
        del sys.modules[name]
    sys.modules.update(ours)
    try:
        yield
    finally:
        for name in _present():
            del sys.modules[name]
        sys.modules.update(saved)


def generations(tree: ast.Module) -> dict[str, int]:
    """Line of the first unconditional import of each package root at module level."""
    found: dict[str, int] = {}
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        for name in names:
            root = name.partition(".")[0]
            if root in ROOTS:
                found.setdefault(root, node.lineno)
    return found


def _parse(source: str, filename: str) -> ast.Module:
    try:
        return ast.parse(source, filename)
    except SyntaxError as error:
        fault = NkiError(f"SyntaxError: {error.msg}")
        fault.place(filename, error.lineno or 1)
        raise fault from None
    except ValueError as error:  # null bytes
        raise NkiError(f"{filename} is not Python source: {error}") from None
    except (RecursionError, MemoryError):
        raise NkiError(f"{filename} is nested too deeply to be read") from None


def load(source: str, filename: str) -> types.ModuleType:
    """Execute a kernel file and return its module.

    Raises NkiError, with the file's own line, for a syntax error, for imports of both generations, for an unknown
    name and for whatever the file raises; Unsupported for a package that only Neuron machines have.
    """
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    tree = _parse(source, filename)
    found = generations(tree)
    if len(found) == 2:
        fault = NkiError("mixed NKI generations: the file imports both `nki` and `neuronxcc.nki`")
        fault.place(filename, max(found.values()))
        raise fault
    session = active_session()
    if session is not None:
        session.sources.add(filename)
    module = types.ModuleType("kernel")
    module.__file__ = filename
    code = compile(tree, filename, "exec", dont_inherit=True)
    with facade():
        try:
            exec(code, module.__dict__)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            raise _loading_fault(error, filename) from None
    return module


def _loading_fault(error: BaseException, filename: str) -> BaseException:
    where = kernel_frame(error.__traceback__, {filename})
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] in (*ECOSYSTEM, "nki"):
        error = Unsupported(f"module {error.name}", "it is not part of what the interpreter provides")
    elif not isinstance(error, NkiError):
        error = NkiError(f"{type(error).__name__}: {error}")
    if where is not None:
        error.place(*where)
    return error
