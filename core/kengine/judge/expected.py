"""The expected answer of one case: exact and honest values and the allowed error of every output, ready to compare."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from kengine.array import ITEMSIZE, contiguous_strides
from kengine.errors import InfraError, TaskError
from kengine.judge import arena, moved, reference, scaling, transforms
from kengine.judge.leaves import dtype_name, element_strides, is_torch, map_leaves, shape_of
from kengine.judge.module import TaskModule
from kengine.judge.packing import Packed, leaves
from kengine.judge.reference import Answer
from kengine.judge.structure import Form, fill, untyped
from kengine.judge.tolerance import (
    OUTLIER_STEPS,
    SMALL_STEPS,
    UNIT_ROUNDOFF,
    allowed_error,
    arithmetic_roundoff,
    estimate_reduction,
    is_inexact,
    is_steep,
    root_mean_square,
    sensitivities,
)
from kengine.model import TensorSpec, Tolerance, ValueClass

MOVES = 3
"""Runs on moved inputs that sensitivity is measured with; fewer for a reference that takes long."""
_SLOW_NS = 1_000_000_000
WHOLE_ERROR = 0.25
"""Error that a whole number may have: room for a transform's fractions, none for a term that is left out."""
LOST = 0.05
"""Relative RMS error of the honest answer beyond which the exact one says nothing about it."""


@dataclass(frozen=True)
class ExpectedArray:
    """One output. exact, honest and allowed are wide (float64, complex128) or, for exact dtypes, native and None.

    Where no value is special, honest is not kept, and the others are float32 if the output is no wider. All are numpy
    arrays on the host and torch tensors on a device; a scalar has the shape (1,) here, because numpy turns arrays
    without dimensions into something else. special: some value is not finite. differs: honest and exact are too far
    apart to be one function. whole: honest and exact are the same whole numbers, in a case of binary inputs.
    steep: the last digits of the inputs decide a good part of it.
    """

    form: Form
    exact: Any
    honest: Any
    allowed: Any
    special: bool
    differs: bool = False
    whole: bool = False
    steep: bool = False

    @property
    def nbytes(self) -> int:
        """Size of the contiguous bytes of such an output."""
        return prod(self.form.spec.shape) * ITEMSIZE[self.form.spec.dtype]

    @property
    def held(self) -> int:
        """Memory that this object takes."""
        arrays = (a for a in (self.exact, self.honest, self.allowed) if a is not None)
        return sum(int(a.nbytes) for a in arrays)


@dataclass
class Expected:
    """All outputs of one case: nested values with a `Form` for each array, and the arrays depth first.

    elapsed_ns: what the reference and its variations took. notes: what a reader of the verdict should know.
    result: what the reference returned, kept for a task that turns a kernel's answer into it. whole: every value is a
    whole number that the task's own precision holds, and exactness is asked for.
    homogeneous: it scales as its (tiny) inputs do.
    """

    structure: list[Any]
    outputs: list[ExpectedArray]
    elapsed_ns: int = 0
    notes: tuple[str, ...] = ()
    native: bool = False
    result: Any = None
    whole: bool = False
    homogeneous: bool = False

    @property
    def held(self) -> int:
        """Memory that this object takes, in bytes."""
        return sum(o.held + (o.nbytes if self.result is not None else 0) for o in self.outputs)


def compute(
    module: TaskModule,
    packed: Packed,
    model: Any,
    writes: tuple[int, ...],
    tolerance: Tolerance,
    seed: int,
    device: str,
    least_size: Sequence[float] = (),
    values: ValueClass = "drawn",
) -> Expected:
    """Run the reference on private copies of the inputs and prepare the comparison.

    least_size: for each output the magnitude of the answer to the task's own draw, for a case of zeros or of tiny
    values. values: the class of the inputs' values. Raises TaskError when the reference raises, returns no array, or
    writes an input that it does not declare.
    """
    begun = time.perf_counter_ns()
    task = module.task.name
    memory = arena.duplicate(packed.image)
    honest = reference.run_honest(module, packed.values(memory), model, writes, seed, tolerance.precision)
    arena.synchronize(device)
    _refuse_writes(task, packed, memory, writes)
    reference.check_answer(task, honest)
    exact, note = _exact(module, packed, model, writes, seed, honest)
    homogeneous = (
        values == "tiny" and exact is not None and scaling.is_homogeneous(module, packed, model, writes, seed, exact)
    )
    if homogeneous:
        least_size = ()
    to_host = "cpu" in module.task.source
    answer = _Preparation(device, tolerance, _input_shapes(packed), list(least_size), values, to_host)
    if exact is None:
        quick = time.perf_counter_ns() - begun < _SLOW_NS
        own = moved.run_moved(module, packed, model, writes, tolerance, seed, honest) if quick else ()
        outputs = answer.prepare(honest.arrays(), None, own, moved.own_step(packed.values(packed.image)))
    else:
        slow = time.perf_counter_ns() - begun > 2 * _SLOW_NS
        moves = (
            _exact_run(module, packed, model, writes, seed, honest, seed + 1 + n // 2, n % 2 == 1).arrays()
            for n in range(1 if slow else MOVES)
        )
        outputs = answer.prepare(honest.arrays(), exact.arrays(), moves)
        if any(o.differs for o in outputs):
            exact = None
            nudged = [map_leaves(lambda a: reference.nudge(a, seed), v) for v in packed.values(packed.image)]
            again = reference.run_honest(module, nudged, model, writes, seed, tolerance.precision)
            _refuse_noise(task, honest, again, device)
            note = (
                "the reference in float64 is another function than in its own precision (it looks at its dtype); "
                "answers are held against its own precision, with doubled floors"
            )
            outputs = answer.prepare(honest.arrays(), None, ())
    whole = values == "binary" and all(o.whole for o in outputs)
    if whole:
        outputs = [demand_whole(o, device) for o in outputs]
    forms = iter([o.form for o in outputs])
    structure = [fill(honest.value, forms), *(untyped(fill(w, forms)) for w in honest.written)]
    elapsed = time.perf_counter_ns() - begun
    result = honest.value if transforms.find(module, transforms.FROM_KERNEL) else None
    return Expected(structure, outputs, elapsed, (note,) if note else (), exact is None, result, whole, homogeneous)


def demand_whole(output: ExpectedArray, device: str) -> ExpectedArray:
    """The output with less error allowed than would hide that one term of a sum of whole numbers is missing."""
    xp = namespace(device)
    return replace(output, allowed=xp.minimum(output.allowed, WHOLE_ERROR + 0 * output.allowed))


def _refuse_noise(task: str, honest: Answer, again: Answer, device: str) -> None:
    """Raise TaskError when inputs moved by two steps of their dtype give another result: all digits are rounding."""
    xp = namespace(device)
    for a, b in zip(honest.arrays(), again.arrays()):
        if not is_inexact(dtype_name(a)) or shape_of(a) != shape_of(b):
            continue
        h, other = at_least_1d(wide(a, device)), at_least_1d(wide(b, device))
        with np.errstate(all="ignore"):
            change = xp.abs(other - h)
            sizes = [xp.where(xp.isfinite(v), v, xp.zeros_like(v)) for v in (change, xp.abs(h))]
            if root_mean_square(sizes[0], xp) > LOST * root_mean_square(sizes[1], xp):
                raise TaskError(
                    f"task {task!r}: the reference's result is rounding noise: its own precision and float64 have no "
                    "digit in common, so that zeros would pass; compare before the last reduction, or before what "
                    "cancels"
                )


def _exact(
    module: TaskModule, packed: Packed, model: Any, writes: tuple[int, ...], seed: int, honest: Answer
) -> tuple[Answer | None, str]:
    """The exact answer; None, with a note, where it cannot be had."""
    try:
        return _exact_run(module, packed, model, writes, seed, honest, None), ""
    except (KeyboardInterrupt, MemoryError, InfraError):
        raise
    except Exception as error:
        line = module.line_of(error)
        at = f" at line {line}" if line else ""
        text = " ".join(str(error).split())[:200]
        note = f"the reference does not run in float64 ({type(error).__name__}{at}: {text}); answers are held against "
        return None, note + "its own precision, with doubled floors"


def _exact_run(
    module: TaskModule,
    packed: Packed,
    model: Any,
    writes: tuple[int, ...],
    seed: int,
    honest: Answer,
    move: int | None,
    alternate: bool = False,
) -> Answer:
    answer = reference.run_exact(module, packed.values(packed.image), model, writes, seed, move, alternate)
    shapes = [shape_of(a) for a in answer.arrays()]
    if shapes != [shape_of(a) for a in honest.arrays()]:
        raise ValueError(f"in float64 the outputs have shapes {shapes}")
    return answer


def _refuse_writes(task: str, packed: Packed, memory: Any, writes: tuple[int, ...]) -> None:
    allowed = [leaf for i in writes for leaf in leaves(packed.args[i])]
    for name, leaf in packed.names:
        inside = slice(leaf.at, leaf.at + leaf.nbytes)
        if leaf not in allowed and not arena.same_bytes(memory[inside], packed.image[inside]):
            raise TaskError(
                f"task {task!r}: the reference writes into its input {name!r}, which the task does not declare; "
                f"add writes = [{name!r}] to its block, or clone the input first"
            )


def _input_shapes(packed: Packed) -> list[tuple[int, ...]]:
    return [leaf.spec.shape for _, leaf in packed.names if leaf.spec.dtype in ITEMSIZE]


@dataclass
class _Preparation:
    device: str
    tolerance: Tolerance
    shapes: list[tuple[int, ...]]
    least_size: list[float]
    values: ValueClass
    to_host: bool

    def prepare(
        self,
        honest: list[Any],
        exact: list[Any] | None,
        moves: Iterable[list[Any]],
        step: float = reference.STEP,
    ) -> list[ExpectedArray]:
        """Everything that comparing needs; `exact` is None where only the honest answer is to be had. step: by how much
        of themselves the inputs of `moves` were moved."""
        xp = namespace(self.device)
        inexact = [n for n, a in enumerate(honest) if is_inexact(dtype_name(a))]
        sensitivity: dict[int, Any] = {}
        wides: dict[int, Any] = {}
        if exact is not None and inexact:
            wides = {n: self._wide(exact[n]) for n in inexact}
            runs = ([self._wide(run[n]) for n in inexact] for run in moves)
            with np.errstate(all="ignore"):
                found = sensitivities(list(wides.values()), runs, reference.STEP, xp)
            sensitivity = dict(zip(inexact, found))
        elif inexact and moves:
            with np.errstate(all="ignore"):
                own = [self._wide(honest[n]) for n in inexact]
                found = sensitivities(own, ([self._wide(run[n]) for n in inexact] for run in moves), step, xp)
            sensitivity = dict(zip(inexact, found))
        outputs = []
        for n, array in enumerate(honest):
            # A reference's answer to a question of form (`torch.arange(n)`) may be the host's as well.
            anywhere = self.to_host or n not in inexact
            form = Form(_spec(array), is_torch(array), _device_of(array), anywhere=anywhere)
            least = self.least_size[n] if n < len(self.least_size) else 0.0
            if n in inexact:
                outputs.append(self._close(form, self._wide(array), wides.get(n), sensitivity.get(n), least))
            else:
                # An integer that float64 changes (an index at a near tie) is right either way.
                pair = (array, array if exact is None else exact[n])
                h, e = (at_least_1d(native(a, self.device)) for a in pair)
                outputs.append(ExpectedArray(form, e, h, None, False))
        return outputs

    def _wide(self, array: Any) -> Any:
        return at_least_1d(wide(array, self.device))

    def _close(self, form: Form, h: Any, exact: Any, sensitivity: Any, least: float) -> ExpectedArray:
        name = form.spec.dtype
        xp = namespace(self.device)
        e = h if exact is None else exact
        reduction = estimate_reduction(self.shapes, form.spec.shape)
        tiny = self.values == "tiny"
        with np.errstate(all="ignore"):
            allowed = allowed_error(
                e,
                h,
                sensitivity,
                name,
                self.tolerance,
                reduction,
                xp,
                native=exact is None,
                least_size=0.0 if tiny else least,
                least_error=self._least_error(e, name, least, xp),
            )
            differs = exact is not None and _differs(e, h, sensitivity, UNIT_ROUNDOFF[name], xp)
        special = not bool(xp.isfinite(e).all() and xp.isfinite(h).all())
        steep = self.values == "large" and is_steep(e, sensitivity, xp)
        real = self.values == "binary" and not name.startswith("complex")
        whole = real and not special and bool((e == h).all() and (e == xp.round(e)).all())
        if special or UNIT_ROUNDOFF[name] < UNIT_ROUNDOFF["float32"]:
            return ExpectedArray(form, e, h, allowed, special, differs, whole, steep)
        # Rounding the exact values to float32 costs a 64th of what is allowed, and half of the memory.
        narrow = e if name == "complex64" else _single(e, xp)
        return ExpectedArray(form, narrow, None, _single(allowed, xp), special, differs, whole, steep)

    def _least_error(self, exact: Any, name: str, least: float, xp: Any) -> float:
        if self.values == "tiny":
            return SMALL_STEPS * arithmetic_roundoff(name) * least
        if self.values == "outlier":
            size = xp.abs(exact)
            usual = root_mean_square(xp.where(xp.isfinite(size), size, xp.zeros_like(size)), xp)
            return OUTLIER_STEPS * arithmetic_roundoff(name) * usual
        return 0.0


def _differs(exact: Any, honest: Any, sensitivity: Any, u: float, xp: Any) -> bool:
    """Whether honest and exact are too far apart to be one function: beyond LOST of the magnitude, beyond the dtype's
    own coarseness, and beyond what roundings of the inputs explain."""
    error = xp.abs(honest - exact)
    loss = root_mean_square(xp.where(xp.isfinite(error), error, xp.zeros_like(error)), xp)
    size = xp.abs(exact)
    size = root_mean_square(xp.where(xp.isfinite(size), size, xp.zeros_like(size)), xp)
    return loss > max(LOST, 2 * u) * size and loss > 8 * u * root_mean_square(sensitivity, xp)


def namespace(device: str) -> Any:
    """numpy for the host, torch for a device: the two agree on every function that is used here."""
    if device == "cuda":
        import torch

        return torch
    return np


def wide(array: Any, device: str) -> Any:
    """A floating-point or complex array in float64 or complex128, where the comparison happens."""
    return native(reference.widen(array), device)


def _single(array: Any, xp: Any) -> Any:
    with np.errstate(over="ignore"):
        return array.astype(np.float32) if xp is np else array.to(xp.float32)


def at_least_1d(array: Any) -> Any:
    """An array without dimensions as one of one element; others as they are."""
    return array if len(array.shape) else array.reshape(1)


def native(array: Any, device: str) -> Any:
    """An array where the comparison happens: numpy on the host, torch on the device."""
    if device == "cuda":
        import torch

        tensor = array if is_torch(array) else torch.from_numpy(np.ascontiguousarray(array))
        return tensor.detach().to(arena.PLACES[device])
    if is_torch(array):
        return array.detach().resolve_conj().resolve_neg().cpu().numpy()
    return np.asarray(array)


def _spec(array: Any) -> TensorSpec:
    shape = shape_of(array)
    strides = element_strides(array)
    plain = strides == contiguous_strides(shape) or prod(shape) <= 1
    return TensorSpec(dtype_name(array), shape, () if plain else strides)


def _device_of(array: Any) -> str:
    return str(array.device.type) if is_torch(array) else "cpu"


def magnitudes(expected: Expected) -> list[float]:
    """RMS of each output, 0.0 for exact dtypes: the least size for a case whose own answer has none."""
    return [0.0 if o.allowed is None else magnitude(o) for o in expected.outputs]


def magnitude(output: ExpectedArray) -> float:
    """RMS of the finite values of an inexact output."""
    xp = np if isinstance(output.exact, np.ndarray) else sys.modules["torch"]
    size = xp.abs(output.exact)
    return root_mean_square(xp.where(xp.isfinite(size), size, xp.zeros_like(size)), xp)


def has_float_input(packed: Packed) -> bool:
    """Whether any argument is a floating-point array, so that its values can be varied."""
    return any(leaf.spec.dtype.startswith(("float", "bfloat")) for a in packed.args for leaf in leaves(a))
