"""Which status an error of the interpreter means.

unsupported     the interpreter does not know a function or cannot hold an array: nothing is said of the candidate
timed_out       the instruction budget or the time is used up
launch_failed   what shows only when a kernel runs: an access out of bounds, memory that nobody wrote, a deadlock
compile_failed  everything else. NKI compiles a kernel by running its Python once for given shapes, so whatever an
                official compiler refuses (names, arguments, shapes, buffers, types, limits, capacities), and whatever
                the kernel's own Python raises on the way, is refused before anything runs on a chip
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.runner import faults as runner_faults

from kengine_nki.sim import BudgetExceeded, KnockedOut, NkiError, RunFault, Unsupported
from kengine_nki.walltime import TimeUp

if TYPE_CHECKING:
    from kengine_nki.sim import Session


def status_of(error: NkiError) -> str:
    """The status that an error of the interpreter means, by the table above."""
    if isinstance(error, Unsupported):
        return "unsupported"
    if isinstance(error, (BudgetExceeded, TimeUp)):
        return "timed_out"
    return "launch_failed" if isinstance(error, RunFault) else "compile_failed"


def classify(error: BaseException, candidate: Candidate) -> CandidateFault:
    """The fault for an exception that came out of a candidate, a kernel's own fault before what the host made of it."""
    chain = _chain(error)
    for link in reversed(chain):
        if isinstance(link, NkiError):
            return _fault(link, candidate)
    for link in chain:
        if isinstance(link, KnockedOut):
            return CandidateFault("launch_failed", str(link))
    if isinstance(error, CandidateFault):
        return error
    return runner_faults.from_exception(error, "launch_failed", "the candidate")


def swallowed(run: Session, candidate: Candidate) -> CandidateFault | None:
    """A fault that the host code caught, and that must not be lost with it.

    A launch that runs out of bounds cannot be caught on a chip, and a kernel that cannot be judged leaves nothing to
    judge. What a compiler refuses may be caught: a wrapper may try one tile size after another.
    """
    for error in run.faults:
        if status_of(error) != "compile_failed":
            return _fault(error, candidate)
    return None


def strictly(run: Session, candidate: Candidate) -> CandidateFault | None:
    """The fault that a warning is in strict mode."""
    for warning in run.warnings:
        error = RunFault(warning.message)
        error.place(warning.file, warning.line)
        return _fault(error, candidate)
    return None


def _fault(error: NkiError, candidate: Candidate) -> CandidateFault:
    main = runner_faults.main_source()
    line = error.line if error.line and error.file == main else runner_faults.own_line(error)
    where = f" (line {line})" if line else ""
    if error.line and error.file != main and not line:
        where = f" ({runner_faults.source_name(error.file or '')}, line {error.line})"
    message = runner_faults.clean(f"{error.message}{where}", 1500)
    if error.file:
        error.file = runner_faults.source_name(error.file)  # its text stands in the log
    return CandidateFault(status_of(error), message, runner_faults.log_of(error), line or 0)


def _chain(error: BaseException) -> list[BaseException]:
    chain = [error]
    while len(chain) < 50:
        last = chain[-1]
        following = last.__cause__ or (None if last.__suppress_context__ else last.__context__)
        if following is None or following in chain:
            break
        chain.append(following)
    return chain
