"""One open task: its module, its cases, and the inputs and expected answers of each case and phase."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import binary, near, reference, ties, transforms
from kengine.judge import cases as case_list
from kengine.judge import expected as answers
from kengine.judge.arena import PLACES
from kengine.judge.cache import ByteCache
from kengine.judge.expected import Expected
from kengine.judge.inputs import Drawn, apply_dtype, draw
from kengine.judge.module import TaskModule
from kengine.judge.packing import Packed, pack
from kengine.judge.seeds import derive
from kengine.judge.tolerance import tighten
from kengine.judge.values import apply_values, factors
from kengine.model import Case, CaseView, Task, TensorSpec
from kengine.provenance import Facts

FAINT = 2.0**-10
"""Factor of tiny values below which a reference must scale with them: else a constant in it is what is compared."""


@dataclass
class Entry:
    """One case in one phase: packed inputs, the model that belongs to them, and the expected answer once asked for."""

    packed: Packed
    model: Any
    expected: Expected | None = None
    transformed: Packed | None = None

    @property
    def lent(self) -> Packed:
        """What a runner is given: the inputs, or what the task makes of them for a kernel."""
        return self.packed if self.transformed is None else self.transformed

    @property
    def held(self) -> int:
        """Memory that this entry takes, in bytes."""
        own = self.transformed.nbytes if self.transformed is not None else 0
        return self.packed.nbytes + own + (self.expected.held if self.expected else 0)


class Session:
    """An open task on one device. Raises TaskError from every method when the task is broken."""

    def __init__(
        self, task: Task, salt: str, device: str, key: str, cache: ByteCache[Entry], chip_error: float = 0.0
    ) -> None:
        self.task = task
        self.tolerance, self._tightened = tighten(task.spec.tolerance, chip_error)
        self.salt = salt
        self.device = device
        self.key = key
        self.module = TaskModule(task)
        self.cases: list[Case] = []
        self.views: list[CaseView] = []
        self.skipped: dict[str, str] = {}
        self.notes: list[str] = []
        self.comparers: tuple[tuple[str, str], ...] = ()
        self.elapsed_ns = 0
        self.profiles: dict[str, Facts] = {}
        self.near: dict[str, str] = {}
        self.works: dict[tuple[str, int], Any] = {}
        self.arity = 0
        self.names: tuple[str, ...] = ()
        self.writes: tuple[int, ...] = ()
        self._cache = cache
        self._factors: dict[str, float] = {}
        self._least: dict[str, list[float]] = {}

    def open(self, limit: int | None) -> None:
        """Take the first `limit` cases that are valid; leave out derived ones that are not, with the reason."""
        for case in case_list.expand(self.task):
            if limit is not None and len(self.cases) >= limit:
                break
            reason = self._admit(case)
            # That a task is not made of sums of products is no news, unless it lists this case itself.
            if reason and (case.values != "binary" or self.task.spec.cases):
                self.skipped[case.name] = reason
        if not self.cases:
            listed = "; ".join(f"{name}: {reason}" for name, reason in self.skipped.items())
            raise TaskError(f"task {self.task.name!r}: none of its cases is valid ({listed})")

        self._put_empty_last()

    def _put_empty_last(self) -> None:
        """Have the first case be one whose answer has elements: most of what is checked is checked on that one."""
        sizes = [sum(math.prod(spec.shape) for spec in view.outputs) for view in self.views]
        if sizes[0] == 0 and any(sizes):
            listed = sorted(range(len(sizes)), key=lambda n: sizes[n] == 0)
            self.cases = [self.cases[n] for n in listed]
            self.views = [replace(self.views[n], index=k) for k, n in enumerate(listed)]

    def _admit(self, case: Case) -> str:
        natural = case_list.is_natural(case)
        plain = None if natural else self._plain(case)
        reason = ""
        for factor in self._choices(case):
            self._factors[case.name] = factor
            try:
                found = self.expected(case, "check")
            except TaskError as error:
                if natural:
                    raise
                reason = " ".join(str(error).split())[:300]
                continue
            reason = "" if plain is None else _invalid(case, found, plain, factor)
            if not reason and ties.depends(self, case, found):
                reason = ties.REASON
            if not reason:
                self._accept(case, found)
                return ""
            self._cache.drop((self.key, case.name, "check"))
        if case.values == "binary" and not reason:
            return binary.REASON
        return reason or "the task has no floating-point input whose values could be varied"

    def _accept(self, case: Case, found: Expected) -> None:
        outputs = tuple(TensorSpec(o.form.spec.dtype, o.form.spec.shape, o.form.spec.strides) for o in found.outputs)
        self.views.append(CaseView(len(self.cases), outputs, self.writes))
        self.cases.append(case)
        self.elapsed_ns += found.elapsed_ns
        self.notes.extend(f"{case.name}: {note}" for note in found.notes)
        if self._tightened and any(spec.dtype == "float32" for spec in outputs):
            self.notes.append(self._tightened)
            self._tightened = ""

    def _choices(self, case: Case) -> tuple[float, ...]:
        if case_list.is_natural(case):
            return (1.0,)
        found = factors(case.values, self._draw(case, "check"))
        return self._densities(case, found) if case.values == "binary" else found

    def _densities(self, case: Case, choices: tuple[float, ...]) -> tuple[float, ...]:
        """The first share of ones with which the answer is whole numbers that are held exactly, if there is one."""
        for density in choices:
            drawn = self._draw(case, "check")
            apply_values(drawn, case.values, density, self.seed(case, "check"))
            whole, within = binary.counts(self, self._enter(drawn, case).packed, drawn.model, self.seed(case, "check"))
            if not whole or within:
                return (density,) if whole else ()
        return ()

    def _plain(self, case: Case) -> Expected:
        """The expected answer of the task's own draw of a derived case, to hold the derived one against."""
        for other in self.cases:
            if other == replace(case, name=other.name, values="drawn", draw=other.draw):
                return self.expected(other, "check")
        own = replace(case, name=f"{case.name}/drawn", values="drawn")
        return self.expected(own, "check")

    def entry(self, case: Case, phase: str) -> Entry:
        """Inputs of a case in a phase, drawn again when they are no longer kept: the seed makes them the same."""
        phase = near.shared(phase)
        key = (self.key, case.name, phase)
        entry = self._cache.get(key)
        if entry is None:
            entry = self._enter(self._make(case, phase), case)
            self._cache.put(key, entry, entry.held)
        return entry

    def _make(self, case: Case, phase: str) -> Drawn:
        base = near.base(phase)
        if base is not None:
            drawn = self._make(case, base)
            near.alter(drawn, self._make(case, phase + "/other"), self.seed(case, phase), phase)
            return drawn
        drawn = self._draw(case, phase)
        apply_values(drawn, case.values, self._factors.get(case.name, 1.0), self.seed(case, phase))
        return drawn

    def expected(self, case: Case, phase: str) -> Expected:
        """The expected answer of a case in a phase, computed once while it is kept."""
        phase = near.shared(phase)
        entry = self.entry(case, phase)
        if entry.expected is None:
            entry.expected = self.compute(case, phase, entry)
            self._cache.put((self.key, case.name, phase), entry, entry.held)
        return entry.expected

    def is_kept(self, case: Case, phase: str) -> bool:
        """Whether inputs and answer of a case in a phase are at hand."""
        entry = self._cache.get((self.key, case.name, near.shared(phase)))
        return entry is not None and entry.expected is not None

    def compute(self, case: Case, phase: str, entry: Entry) -> Expected:
        """Run the reference on an entry's inputs and prepare the comparison; nothing is kept."""
        least: Sequence[float] = ()
        if case.values in ("zeros", "tiny"):
            if case.name not in self._least:
                self._least[case.name] = answers.magnitudes(self._plain(case))
            least = self._least[case.name]
        seed = derive(self.salt, self.task.digest, case.name, phase + "/reference", case.draw)
        tolerance = self.tolerance
        return answers.compute(
            self.module, entry.packed, entry.model, self.writes, tolerance, seed, self.device, least, case.values
        )

    def seed(self, case: Case, phase: str) -> int:
        """Seed of a case in a phase; phases never share one."""
        return derive(self.salt, self.task.digest, case.name, phase, case.draw)

    def _draw(self, case: Case, phase: str) -> Drawn:
        drawn = draw(self.module, case, self.seed(case, phase), self.device)
        apply_dtype(drawn, case.dtype, self.task.name)
        if drawn.model is not None and self.device != "cpu" and hasattr(drawn.model, "to"):
            drawn.model = drawn.model.to(PLACES[self.device])
        if not self.names:
            self.arity = len(drawn.args)
            self.names = self.module.argument_names(self.arity)
            self.writes = self._written(self.task.spec.writes)
            if self.writes and transforms.find(self.module, transforms.TO_KERNEL) is not None:
                raise TaskError(
                    f"task {self.task.name!r}: writes names inputs of forward, but {transforms.TO_KERNEL} gives the "
                    "kernel others; leave one of the two out"
                )
        return drawn

    def _enter(self, drawn: Drawn, case: Case) -> Entry:
        given = transforms.kernel_arguments(self.module, drawn.args)
        if given is None:
            return Entry(self._pack(drawn, case), drawn.model)
        self.arity = len(given)
        plain = self._pack(drawn, replace(case, layout="contiguous"))
        names = tuple(f"arg {i}" for i in range(len(given)))
        lent = pack(given, [], {}, names, case.layout, self.device, self.task.name)
        return Entry(plain, drawn.model, transformed=lent)

    def _written(self, names: tuple[str, ...]) -> tuple[int, ...]:
        result = []
        for name in names:
            if name in self.names:
                result.append(self.names.index(name))
            elif name.isdigit() and int(name) < self.arity:
                result.append(int(name))
            else:
                raise TaskError(
                    f"task {self.task.name!r}: writes names {name!r}, but the reference's arguments are "
                    f"{', '.join(self.names)}"
                )
        return tuple(result)

    def _pack(self, drawn: Drawn, case: Case) -> Packed:
        state: dict[str, Any] = {}
        if drawn.model is not None and hasattr(drawn.model, "state_dict"):
            state = dict(drawn.model.state_dict())
        names = self.module.argument_names(len(drawn.args))
        return pack(drawn.args, drawn.init_args, state, names, case.layout, self.device, self.task.name)

    def measuring(self) -> contextlib.AbstractContextManager[None]:
        """The settings under which the reference is timed: those under which it is run."""
        return reference.quiet(self.task.spec.tolerance.precision)

    def close(self) -> None:
        """Forget everything that is kept for this task."""
        self._cache.drop_all(self.key)
        self.module.close()


def _invalid(case: Case, found: Expected, plain: Expected, factor: float) -> str:
    """Why a derived case cannot be judged; "" when it can. `plain` is the answer to the task's own draw."""
    if case.values == "binary" and not found.whole:
        return binary.REASON
    if case.values == "tiny" and factor < FAINT and not found.homogeneous:
        return "something in the reference (an epsilon) is larger than such values"
    if case.values == "large" and any(o.steep for o in found.outputs):
        return "the last digits of such inputs decide the answer"
    for have, own in zip(found.outputs, plain.outputs):
        if have.form.spec.shape != own.form.spec.shape:
            return "the shape of the result depends on the values"
        if have.allowed is None:
            continue
        xp = np if isinstance(have.exact, np.ndarray) else sys.modules["torch"]
        with np.errstate(all="ignore"):
            if have.special and not own.special:
                return "the reference gives values that are not finite"
            if have.special and not bool((xp.isfinite(have.exact) == xp.isfinite(have.honest)).all()):
                return "the reference overflows in its own precision"
            if case.values == "zeros":
                continue
            size = xp.where(xp.isfinite(have.exact), xp.abs(have.exact), xp.zeros_like(have.allowed))
            if found.native and not plain.native:
                return "the reference itself loses its precision on such values"
            if answers.magnitude(have) > 0 and bool((size <= have.allowed).all()):
                return "an answer of zeros would be within the tolerance"
    return ""
