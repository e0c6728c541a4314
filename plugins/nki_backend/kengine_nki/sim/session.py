"""A session: the options, counts, warnings and launches of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .buffers import MemoryRegion, Storage
from .dtypes import DType
from .errors import NkiError
from .options import Options
from .program import Program
from .stats import Launch, Stats, Warning_


def _alone(kernel: str, arguments: list[Any], returned: list[Any]) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


class Session:
    """What kernels run under; see `session`.

    stats: counts of all launches. launches: one Launch for each kernel call. warnings: what runs here but is undefined
    or invalid on hardware. faults: what kernels raised, also when the host code went on. knockout: None, "noop"
    (kernels return poisoned outputs) or "raise" (they raise KnockedOut). follow: around each launch that runs: the
    kernel's name, its array arguments, and a list that it fills with the arrays that are returned.
    """

    def __init__(self, options: Options) -> None:
        self.options = options
        self.stats = Stats()
        self.launches: list[Launch] = []
        self.warnings: list[Warning_] = []
        self.faults: list[NkiError] = []
        self.knockout: str | None = None
        self.follow: Callable[[str, list[Any], list[Any]], contextlib.AbstractContextManager[None]] = _alone
        self.work = 0
        self.sources: set[str] = set()
        self._seen: set[Warning_] = set()

    def add_warning(self, message: str, file: str | None, line: int | None) -> None:
        """Record a warning once for each line."""
        warning = Warning_(message, file, line)
        if warning not in self._seen:
            self._seen.add(warning)
            self.warnings.append(warning)


class LaunchState:
    """One kernel call while it runs: its programs and the HBM tensors that they share."""

    def __init__(
        self, session: Session, kernel: str, generation: str, grid: tuple[int, ...], tensor_class: type[Any]
    ) -> None:
        self.session, self.kernel, self.generation, self.grid = session, kernel, generation, grid
        self.tensor_class = tensor_class
        self.grid_ndim = len(grid)
        self.number = len(session.launches)
        self.programs: list[Program] = []
        self.rendezvous: Any = None
        self._shared: list[tuple[tuple[int, ...], DType, Storage]] = []

    def shared_storage(
        self, program: Program, shape: tuple[int, ...], dtype: DType, region: MemoryRegion, name: str
    ) -> Storage:
        """The storage of the program's next shared allocation, made by whichever program comes first."""
        place = program.shared
        program.shared += 1
        if place < len(self._shared):
            known_shape, known_dtype, storage = self._shared[place]
            if known_shape != shape or known_dtype is not dtype:
                raise NkiError(
                    f"shared HBM allocation {place} has shape {shape} and dtype {dtype} in program {program.pid}, but "
                    f"{known_shape} and {known_dtype} in another: all programs must allocate the same tensors"
                )
            return storage
        nbytes = dtype.itemsize
        for size in shape:
            nbytes *= size
        storage = Storage(nbytes, dtype, region, 0, name or "unnamed", program)
        self._shared.append((shape, dtype, storage))
        return storage


_stack: list[Session] = []


def active_session() -> Session | None:
    """The innermost open session."""
    return _stack[-1] if _stack else None


@contextlib.contextmanager
def session(options: Options | None = None) -> Iterator[Session]:
    """Run kernels under `options`; yields the Session."""
    opened = Session(options or Options())
    _stack.append(opened)
    try:
        yield opened
    finally:
        _stack.remove(opened)
