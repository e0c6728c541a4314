"""A reference that runs in its own precision only: what its terms weigh is found by moving its inputs."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.judge import moved

torch = pytest.importorskip("torch")

SOURCE = """
import torch
def make_inputs(seed, device, N=4096):
    x = torch.randn(N, generator=torch.Generator(device).manual_seed(seed), device=device)
    return [torch.cat([x, -x, torch.ones(1, device=device)])]
def reference(x):
    assert x.dtype == torch.float32, "a kernel for float32 alone"
    return x.sum().reshape(1)
"""


def test_a_sum_whose_terms_cancel_may_have_the_rounding_of_its_terms(bench, make_task, monkeypatch):
    def allowed(salt):
        opened = bench.open(make_task(SOURCE), cases=1, salt=salt)
        assert opened["ok"] and any("float64" in note for note in opened["notes"]), opened
        session = bench.judge.sessions[opened["task_id"]]
        (output,) = session.expected(session.cases[0], "check").outputs
        return float(np.asarray(output.allowed)[0])

    with monkeypatch.context() as without:
        without.setattr(moved, "run_moved", lambda *a: [])
        as_of_the_answer = allowed("77" * 16)
    # Terms that come to 90 weigh as much, and not as the one that is left.
    assert 20 < allowed("5a" * 16) / as_of_the_answer < 500
    assert bench.run(lambda x: x.flip(0).cumsum(0)[-1:].clone()).ok
    wrong = bench.run(lambda x: x[:-1].sum().reshape(1))
    assert not wrong.ok and wrong.wrong == 1


def test_moves_keep_dtype_and_whole_numbers_and_are_copies():
    for make in (np.asarray, torch.tensor):
        halves = make([0.5, -2.25, 3.125]).astype(np.float32) if make is np.asarray else make([0.5, -2.25, 3.125])
        found = moved.move_own(halves, 1)
        assert found.dtype == halves.dtype
        change = abs(np.asarray(found) / np.asarray(halves) - 1)
        assert (change >= 0.59 * moved.STEP).all() and (change <= 1.41 * moved.STEP).all()
        whole = make([1.0, 0.0, -4.0])
        same = moved.move_own(whole, 1)
        assert same is not whole and (np.asarray(same) == np.asarray(whole)).all()


def test_a_move_is_far_above_the_rounding_of_any_array():
    assert moved.own_step([np.zeros(2, np.float32)]) == moved.STEP
    assert moved.own_step([torch.zeros(2, dtype=torch.bfloat16), np.zeros(2, np.float32)]) > 2 * moved.STEP
    assert moved.own_step([np.arange(3)]) == moved.STEP
