"""What a candidate raised, found again: JAX hands an exception out of a kernel on as text in another exception."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kengine.errors import CandidateFault
from kengine.runner import faults

_LAST = re.compile(r"^((?:\w+\.)*\w*(?:Error|Exception|Withheld)): (.*)", re.MULTILINE)


@contextmanager
def listening() -> Iterator[list[BaseException]]:
    """List the exceptions of kernels: JAX logs each, with the place in the kernel as its cause, before it goes on."""
    heard: list[BaseException] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.exc_info and record.exc_info[1] is not None:
                heard.append(record.exc_info[1])

    logger, ear = logging.getLogger("jax._src.callback"), Ear()
    before = logger.propagate
    logger.addHandler(ear)
    logger.propagate = False
    try:
        yield heard
    finally:
        logger.removeHandler(ear)
        logger.propagate = before


def explain(
    error: BaseException, status: str, doing: str, heard: Sequence[BaseException] = ()
) -> CandidateFault:
    """Build the fault for an exception, from the first that a kernel raised when there is one."""
    if isinstance(error, CandidateFault):
        return error
    if heard:
        return faults.from_exception(heard[0], "launch_failed", "a kernel")
    found = _LAST.findall(faults.text_of(error))
    fault = faults.from_exception(error, status, doing)
    if found and "callback" in fault.message:
        fault = CandidateFault(fault.status, f"a kernel raised {': '.join(found[-1])}", fault.log, fault.line)
    return fault
