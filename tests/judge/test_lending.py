"""What is lent is fresh and poisoned; what comes back is copied before anything of it is looked at."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.judge import lending
from kengine.judge.structure import read_outputs

torch = pytest.importorskip("torch")

SOURCE = """
import torch
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    return [torch.randn(8, 32, generator=g), torch.randn(32, generator=g)]
def reference(x, w):
    return x * w
"""


@pytest.fixture
def lent(bench, make_task):
    bench.open(make_task(SOURCE), cases=1)
    (one,) = bench.lend(0)
    holder = bench.judge.holders["r1"]
    return one, holder, holder.places[0]


def test_what_changes_in_lent_memory_afterwards_changes_no_copy(lent):
    one, holder, place = lent
    _, arrays = read_outputs(one.describe([one.args[0] * one.args[1]]), len(place.sinks))
    (copy,) = lending.copy_out(holder, place, arrays)
    before = copy.copy()
    for at, nbytes in place.sinks:
        one.view[at : at + nbytes] = bytes(nbytes)
    assert np.array_equal(copy, before) and before.any()


def test_every_loan_has_the_inputs_as_they_were_drawn(bench, lent):
    one, _, _ = lent
    drawn = [a.clone() for a in one.args]
    for a in one.args:
        a.zero_()
    (again,) = bench.lend(0)
    assert all(torch.equal(a, b) for a, b in zip(again.args, drawn))


@pytest.mark.parametrize(("number", "name"), [(0, "x"), (1, "w")])
def test_a_written_input_is_named_and_one_that_may_be_written_is_not(lent, number, name):
    one, holder, place = lent
    assert lending.changed_inputs(holder, place, ()) == ()
    one.args[number].view(-1)[-1] += 1
    assert lending.changed_inputs(holder, place, ()) == (name,)
    assert lending.changed_inputs(holder, place, (number,)) == ()
    assert lending.changed_inputs(holder, place, (1 - number,)) == (name,)


def test_memory_beside_the_inputs_is_watched_too(lent):
    one, holder, place = lent
    leaf = place.entry.lent.names[0][1]
    one.view[place.base + leaf.at + leaf.nbytes] = 0
    for writes in ((), (0,), (0, 1)):
        assert lending.changed_inputs(holder, place, writes) == ("memory beside its inputs (out of bounds)",)
