"""A candidate's text made into a module: files written, compiled, executed, each failure with its line."""

from __future__ import annotations

import importlib.util
import keyword
import linecache
import re
import sys
import warnings
from pathlib import Path
from types import ModuleType

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.runner import faults, state

_settings: dict[str, str] = {}


def settings() -> dict[str, str]:
    """Global settings as they were when the last candidate had been imported and not been called; {} before that."""
    return _settings


def place(candidate: Candidate, workdir: Path) -> Path:
    """Write the candidate's files into `workdir` under harmless names, and return the main one's path.

    A path of a file is a wish: what leads elsewhere is made a plain name. Raises CandidateFault when they do not fit.
    """
    names: dict[str, str] = {}
    for file in candidate.files:
        path = workdir / _safe_name(file.path, candidate.language)
        while str(path) in names:
            path = path.with_name("_" + path.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.text.encode(errors="surrogatepass"))
        except OSError as error:
            raise CandidateFault("compile_failed", f"{file.path!r:.80} cannot be written: {error.strerror}") from None
        names[str(path)] = file.path or path.name
    faults.set_sources(names)
    return Path(next(iter(names)))


def load(candidate: Candidate, workdir: Path) -> ModuleType:
    """Execute the candidate's main file as a module of its own; `workdir` holds its files already.

    Tracebacks and `inspect.getsource` work. Raises CandidateFault: compile_failed with the line for a syntax error
    and for an exception while it is imported; launch_failed when it tries to end the process.
    """
    path = place(candidate, workdir)
    text = candidate.main.text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            code = compile(text, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        raise syntax_fault(error, candidate.main.path or path.name) from None
    except (ValueError, OverflowError) as error:  # a null byte, half a surrogate pair
        raise CandidateFault("compile_failed", f"not Python source: {faults.text_of(error)}") from None
    except (RecursionError, MemoryError) as error:
        raise CandidateFault(
            "compile_failed", f"Python's compiler gave up: nested too deeply or too large ({faults.name_of(error)})"
        ) from None
    linecache.cache[str(path)] = (len(text), None, text.splitlines(True), str(path))
    name = _module_name(path)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    if str(workdir) not in sys.path:
        sys.path.insert(0, str(workdir))
    try:
        exec(code, vars(module))
    except BaseException as error:
        raise faults.from_exception(error, "compile_failed", "importing it") from error
    global _settings
    _settings = state.read_settings()
    return module


def syntax_fault(error: SyntaxError, name: str) -> CandidateFault:
    """Build the fault for a syntax error: message, line, and the text with a mark under the place."""
    line = error.lineno or 0
    text = (error.text or "").rstrip("\n").expandtabs(1)
    mark = f"\n    {text}\n    {' ' * max(0, (error.offset or 1) - 1)}^" if text and len(text) < 400 else ""
    return CandidateFault(
        "compile_failed",
        f"{type(error).__name__}: {faults.clean(error.msg or '', 500)} (line {line})",
        faults.clean(f'  File "{name}", line {line}{mark}\n{type(error).__name__}: {error.msg}', faults.MAX_LOG),
        line,
    )


def _safe_name(path: str, language: str) -> str:
    parts = [re.sub(r"[^A-Za-z0-9_.+-]", "_", p)[:80] for p in path.replace("\\", "/").split("/")]
    parts = [p for p in parts if p not in ("", ".", "..")] if not path.startswith("/") else parts[-1:]
    if len(parts) > 8 or not parts or parts[-1] in ("", ".", ".."):
        parts = [{"cuda": "candidate.cu", "hip": "candidate.hip"}.get(language, "candidate.py")]
    return "/".join(p.lstrip(".-") or "_" for p in parts)


def _module_name(path: Path) -> str:
    stem = path.stem
    before = sys.modules.get(stem)
    foreign = before is not None and getattr(before, "__file__", None) != str(path)
    taken = foreign or stem in sys.stdlib_module_names or keyword.iskeyword(stem)
    return stem if stem.isidentifier() and not taken else "candidate_module"
