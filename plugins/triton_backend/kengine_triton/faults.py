"""Which status an exception out of Triton means, with the compiler's own sentence and the candidate's own line."""

from __future__ import annotations

import re
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.runner import faults as runner_faults

_COMPILER_FILES = re.compile(r"[/\\]triton[/\\](compiler|backends|language)[/\\]")
_NAMES = ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError")


def classify(error: BaseException, candidate: Candidate, where: str) -> CandidateFault:
    """The fault for an exception while the candidate ran; `where` names target or stage for the message."""
    chain = _chain(error)
    reported = error if isinstance(error, CandidateFault) else None
    if reported is not None:
        chain = chain[1:]
        if not chain or reported.status != "launch_failed":
            return reported
    for link in chain:
        special = _special(link, candidate)
        if special is not None:
            return special
    for link in chain:
        if _is(link, "OutOfResources"):
            line = _own_line(chain)
            return CandidateFault("compile_failed", f"{where}: {link}{_at(line)}", _log(error), line)
    compilation = [link for link in chain if any(_is(link, name) for name in _NAMES)]
    if compilation:
        return _compile_fault(compilation, chain, candidate, error, where)
    if _raised_by_compiler(chain[-1]):
        line = _own_line(chain)
        message = f"{type(chain[-1]).__name__}: {runner_faults.text_of(chain[-1])}{_at(line)}"
        return CandidateFault("compile_failed", message, _log(error), line)
    if reported is not None and not _is(chain[0], "InterpreterError"):
        return reported
    return runner_faults.from_exception(_innermost(chain), "launch_failed", f"running it on {where}")


def _special(link: BaseException, candidate: Candidate) -> CandidateFault | None:
    """Faults that kengine's own mends raise inside a kernel."""
    kind = type(link).__name__
    if not type(link).__module__.startswith("kengine_triton"):
        return None
    line = runner_faults.own_line(link)
    status = {"Unsupported": "unsupported", "OutOfBounds": "launch_failed", "DeviceAssertion": "launch_failed",
              "HostTensor": "launch_failed", "HostCode": "compile_failed"}.get(kind)  # fmt: skip
    return CandidateFault(status, f"{link}{_at(line)}", _log(link), line) if status else None


def _compile_fault(
    compilation: list[BaseException],
    chain: list[BaseException],
    candidate: Candidate,
    error: BaseException,
    where: str,
) -> CandidateFault:
    inner = compilation[-1]
    cause = chain[-1]
    text = getattr(inner, "error_message", None) or (runner_faults.text_of(cause) if cause is not inner else "")
    text = str(text or "").strip() or _last_line(runner_faults.text_of(inner))
    line = next((n for n in (_kernel_line(link, candidate) for link in reversed(compilation)) if n), 0)
    line = line or _own_line(chain)
    if _is(inner, "PTXASError"):
        text = f"ptxas: {_first_error(text)}"
    log = runner_faults.clean(f"{runner_faults.text_of(inner)}\n\n{_log(error)}", runner_faults.MAX_LOG)
    return CandidateFault("compile_failed", runner_faults.clean(f"{where}: {text}{_at(line)}", 1500), log, line)


def _kernel_line(link: BaseException, candidate: Candidate) -> int:
    """Line in the candidate's file: Triton counts from the `def` of the kernel, whose text it carries."""
    number = getattr(getattr(link, "node", None), "lineno", 0)
    source = getattr(link, "src", None)
    if not number or not isinstance(source, str):
        return 0
    wanted = [text.strip() for text in source.splitlines()]
    lines = [text.strip() for text in candidate.main.text.splitlines()]
    best, place = 0, 0
    for start, text in enumerate(lines):
        if wanted and text == wanted[0]:
            same = sum(a == b for a, b in zip(lines[start : start + len(wanted)], wanted))
            if same > best:
                best, place = same, start + number
    return place


def _chain(error: BaseException) -> list[BaseException]:
    """The exception and what it was raised from, outermost first."""
    chain = [error]
    while len(chain) < 50:
        last = chain[-1]
        following = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if following is None or following in chain:
            break
        chain.append(following)
    return chain


def _own_line(chain: list[BaseException]) -> int:
    """The candidate's line nearest to where the first exception arose."""
    return next((line for link in reversed(chain) if (line := runner_faults.own_line(link))), 0)


def _innermost(chain: list[BaseException]) -> BaseException:
    """The exception below Triton's wrapping of it."""
    for i, link in enumerate(chain[:-1]):
        if not _is(link, "InterpreterError"):
            return chain[i]
    return chain[-1]


def _is(error: BaseException, name: str) -> bool:
    return any(base.__name__ == name and base.__module__.startswith("triton") for base in type(error).__mro__)


def _raised_by_compiler(error: BaseException) -> bool:
    """Whether an exception arose in Triton's compiler or in its language's own checks."""
    frames = runner_faults.frames(error.__traceback__)
    if not frames:
        return False
    # What a kernel refers to is looked at while its cache key is made, before the compiler starts.
    keyed = any(name == "cache_key" and file.endswith("jit.py") for file, _, name in frames)
    return keyed or bool(_COMPILER_FILES.search(frames[-1][0]))


def _log(error: BaseException) -> str:
    # Triton's wrapping repeats the whole text of what it wraps, quoted once more each time.
    return runner_faults.log_of(_chain(error)[-1])


def _at(line: int) -> str:
    return f" (line {line})" if line else ""


def _last_line(text: str) -> str:
    lines = [part.strip() for part in text.splitlines() if part.strip()]
    return lines[-1] if lines else "the compiler gave no message"


def _first_error(text: str) -> str:
    lines = [part.strip() for part in text.splitlines()]
    return next((part for part in lines if "error" in part.lower() and "Internal Triton" not in part), lines[0])


def is_certain(error: BaseException) -> bool:
    """Whether an exception comes from compiling, or from a mend that speaks about the candidate for sure."""
    chain = _chain(error)
    names = (*_NAMES, "OutOfResources")
    return (
        any(_is(link, name) for link in chain for name in names)
        or any(type(link).__module__.startswith("kengine_triton") for link in chain)
        or _raised_by_compiler(chain[-1])
    )


def pending(candidate: Candidate) -> CandidateFault | None:
    """A fault that the candidate swallowed while it was interpreted, and that must not be lost."""
    from kengine_triton.interpret import memory, references, unsupported

    noted: list[Any] = [*unsupported.faults, *references.faults, *memory.faults]
    return _special(noted[0], candidate) if noted else None


def forget() -> None:
    """Start a run with no pending faults."""
    from kengine_triton.interpret import memory, references, unsupported

    unsupported.faults.clear()
    references.faults.clear()
    memory.faults.clear()
