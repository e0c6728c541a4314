"""Answers to moved inputs in a task's own precision, for a reference that cannot be run in a wider one.

How much of an answer's last digits terms decide that cancel shows in no other way: a sum of four thousand numbers that
comes to one has the rounding of a sum that comes to sixty.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import reference
from kengine.judge.leaves import arrays, dtype_name, is_float, is_torch, map_leaves, shape_of
from kengine.judge.module import TaskModule
from kengine.judge.packing import Packed
from kengine.judge.reference import Answer, is_whole
from kengine.judge.tolerance import UNIT_ROUNDOFF
from kengine.model import Tolerance

RUNS = 3
"""Moves that are tried."""
STEP = 2.0**-8
"""Relative size of the moves where rounding is far below it."""


def run_moved(
    module: TaskModule,
    packed: Packed,
    model: Any,
    writes: tuple[int, ...],
    tolerance: Tolerance,
    seed: int,
    honest: Answer,
) -> list[list[Any]]:
    """Answers in the task's own precision to moved inputs: how much terms that cancel weigh shows in no other way.

    Empty where one of them cannot be had or has another form.
    """
    shapes = [shape_of(a) for a in honest.arrays()]
    runs = []
    try:
        for n in range(RUNS):
            moved = [map_leaves(partial(move_own, seed=seed + n), v) for v in packed.values(packed.image)]
            runs.append(reference.run_honest(module, moved, model, writes, seed, tolerance.precision).arrays())
    except TaskError:
        return []
    return runs if all([shape_of(a) for a in run] == shapes for run in runs) else []


def move_own(array: Any, seed: int) -> Any:
    """A copy of an array; of floating-point numbers that are not whole with every element moved by 0.6 to 1.4 times
    `own_step` of itself, in its own dtype."""
    if not is_float(array) or is_whole(array):
        return array.clone() if is_torch(array) else np.array(array)
    draw = np.random.default_rng(seed).uniform(-1.0, 1.0, tuple(array.shape))
    draw = 0.8 * draw + np.copysign(0.6, draw)
    step = own_step([array])
    if is_torch(array):
        import torch

        factor = 1.0 + step * torch.from_numpy(np.asarray(draw)).to(array.device)
        return (array.to(torch.float64) * factor).to(array.dtype)
    return (np.asarray(array, dtype=np.float64) * (1.0 + step * draw)).astype(array.dtype)


def own_step(values: Any) -> float:
    """The relative size of those moves: far above the rounding of the widest dtype among some arrays."""
    found = [UNIT_ROUNDOFF[dtype_name(a)] for a in arrays(values) if is_float(a)]
    return max(STEP, 8.0 * max(found, default=0.0))
