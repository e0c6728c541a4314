"""`torch.utils.cpp_extension.load_inline` and `load` for candidates on the emulator: light extensions, watched."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any

from kengine.errors import CandidateFault
from kengine.model import Candidate
from kengine.native import faults, observe
from kengine.native.lines import LineMap, locate
from kengine.native.memory import EXPOSED

if TYPE_CHECKING:
    from kengine.extension import Extension
    from kengine.native.emulator import Emulator

FULL_SECONDS = 90.0
"""What a unit may take to compile with torch's own headers: a runner has 120 s for all of a candidate's compile."""


@contextmanager
def replace(driver: Emulator) -> Iterator[None]:
    """Inside the block, and for what was imported in it, extensions are built for the emulator of a driver."""
    from torch.utils import cpp_extension

    before = cpp_extension.load_inline, cpp_extension.load
    cpp_extension.load_inline = functools.partial(_build, driver, "load_inline")
    cpp_extension.load = functools.partial(_build, driver, "load")
    try:
        yield
    finally:
        cpp_extension.load_inline, cpp_extension.load = before


def _build(driver: Emulator, how: str, *args: Any, **kwargs: Any) -> Extension:
    from kengine import extension
    from kengine.simt import SimtError

    settings = extension.Settings(
        cache=driver.folder, tools=driver.folder, dialect=driver.dialect, lanes=64 if driver.limits.lanes == 64 else 32,
        check=driver.check, limits=driver.limits, arch=driver.limits.name, launch_seconds=driver.launch_seconds,
        full_seconds=FULL_SECONDS,
    )  # fmt: skip
    texts = texts_of(args, kwargs)
    try:
        made: Extension = getattr(extension, how)(*args, settings=settings, **kwargs)
    except CandidateFault as fault:
        placed = place_fault(fault, texts, driver.candidate)
        raise observe.current().failed(driver.explained(placed)) from None
    except SimtError as error:
        found = _maps(texts, driver)[-1] if texts else locate("", driver.candidate.main.text)
        problem = faults.from_simt(error, "cuda_sources.cu", found, driver.candidate.main.path)
        raise observe.current().failed(driver.explained(problem)) from None
    for name, value in list(vars(made).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, type):  # a class that the module binds: what its methods launch is the candidate's, too
            for method, function in list(vars(value).items()):
                if isinstance(function, FunctionType):
                    setattr(value, method, _watched(function, made, driver, ("self",)))
        elif callable(value):
            setattr(made, name, _watched(value, made, driver))
    driver.extensions.append(made)
    driver.follow()
    return made


def _watched(
    function: Callable[..., Any], extension: Extension, driver: Emulator, before: tuple[str, ...] = ()
) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        from kengine.simt import KernelFault, SimtError

        observation = observe.current()
        try:
            with _reachable(function.__name__, args[len(before) :], kwargs, extension, driver):
                return function(*args, **kwargs)
        except KernelFault as error:
            if error.fault.kind.value == "endless_loop" and driver.check:
                # With its checks built in it may only be slow.
                observation.restart = driver.give_up_checks
            raise observation.failed(translate(error, extension, driver)) from None
        except SimtError as error:
            if type(error).__name__ == "LaunchRefused":
                raise observe.LaunchRefused(str(error)) from None
            raise observation.failed(translate(error, extension, driver)) from None

    return call


@contextmanager
def _reachable(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], extension: Extension, driver: Emulator
) -> Iterator[None]:
    """Inside the block, kernels may touch memory whose address host code has taken, each within its own bounds."""
    program, blocks = extension.program, driver.exposed.all()
    if program is None or not blocks:
        yield
        return
    from kengine.extension.sources import parameter_names

    for block in blocks:
        program.register(EXPOSED, block.base, block.nbytes, block.itemsize)
    names = parameter_names(extension.sources.text, name) if extension.sources else []
    given = [(names[i] if i < len(names) else f"arg{i}", value) for i, value in enumerate(args)]
    for label, value in (*given, *kwargs.items()):
        found = driver.exposed.find(value) if isinstance(value, int) and not isinstance(value, bool) else None
        if found is not None:
            program.register(label, found.base, found.nbytes, found.itemsize)
    try:
        yield
    finally:
        for block in blocks:
            program.forget(block.base)


def translate(error: Any, extension: Extension, driver: Emulator) -> CandidateFault:
    """The fault behind what a function of an extension raised, with the candidate's line."""
    source = extension.program.source if extension.program else ""
    name = extension.program.filename if extension.program else "cuda_sources.cu"
    lines = locate(source, driver.candidate.main.text)
    return driver.explained(faults.from_simt(error, name, lines, driver.candidate.main.path))


def texts_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, str]:
    """The sources of a call of load_inline, by the names that messages give them."""
    given = {"cpp_sources": args[1] if len(args) > 1 else kwargs.get("cpp_sources"),
             "cuda_sources": args[2] if len(args) > 2 else kwargs.get("cuda_sources")}  # fmt: skip
    return {
        name: value if isinstance(value, str) else "\n".join(map(str, value)) for name, value in given.items() if value
    }


def _maps(texts: dict[str, str], driver: Emulator) -> list[LineMap]:
    return [locate(text, driver.candidate.main.text) for text in texts.values()]


def place_fault(fault: CandidateFault, texts: dict[str, str], candidate: Candidate) -> CandidateFault:
    """The same fault with lines of the candidate's file instead of its sources'."""
    match = re.match(r"(cpp_sources|cuda_sources):(\d+): ", fault.message)
    if match is None or match[1] not in texts:
        return CandidateFault(fault.status, fault.message, fault.log, 0)
    lines = locate(texts[match[1]], candidate.main.text)
    line = lines.line(int(match[2]))
    at = f" (line {line})" if line else ""
    suffix = "cpp" if match[1] == "cpp_sources" else "cu"
    rest = faults.reword(fault.message[match.end() :], _text(candidate, line))
    log = faults.renumber(fault.log, f"{match[1]}.{suffix}", lines, candidate.main.path)
    return CandidateFault(fault.status, f"{match[1]}: {rest}{at}", log, line)


def _text(candidate: Candidate, line: int) -> str:
    texts = candidate.main.text.split("\n")
    return texts[line - 1] if 0 < line <= len(texts) else ""
