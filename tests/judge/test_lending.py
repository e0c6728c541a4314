"""What is lent is fresh and poisoned; what comes back is copied before anything of it is looked at."""

from __future__ import annotations

import os

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


def starts(answer):
    """Where the first input of each bundle begins."""
    return [bundle["args"][0]["at"] for bundle in answer["bundles"]]


def ask(bench, *cases, **how):
    phases = how.pop("phases", None) or ["check"] * len(cases)
    body = {"task_id": bench.opened["task_id"], "cases": list(cases), "phases": phases, "holder": "r1", **how}
    return bench.ask("lend", **body)[0]


def test_a_loan_elsewhere_lies_where_the_first_did_not_and_is_compared_there(bench, make_task, lent_type):
    bench.open(make_task(SOURCE), cases=2)
    ask(bench, 0, 1, room=[4, 3])
    arena = bench.judge.holders["r1"].arena
    found = set()
    for _ in range(30):
        answer, fds = bench.ask(
            "lend", task_id=bench.opened["task_id"], cases=[1], phase="check", holder="r1", elsewhere=True
        )
        found.update(starts(answer))
        (lent,) = (lent_type(b, os.dup(fds[0]), torch=True) for b in answer["bundles"])
        outputs = lent.describe([lent.args[0] * lent.args[1]])
        assert bench.compare(1, outputs)["comparison"]["ok"]
        assert bench.judge.holders["r1"].arena is arena and max(at for at, _ in place_ends(bench)) <= arena.nbytes
    assert 0 not in found and len(found) > 5 and all(at % 256 == 0 for at in found)
    assert starts(ask(bench, 1)) == [0]


def place_ends(bench):
    return [(place.end, place.base) for place in bench.judge.holders["r1"].places]


def test_without_room_a_loan_stays_where_it_is(bench, make_task):
    bench.open(make_task(SOURCE), cases=1)
    phases = [f"p{n}" for n in range(40)]
    ask(bench, *[0] * 40, phases=phases)
    arena = bench.judge.holders["r1"].arena
    assert starts(ask(bench, *[0] * 40, phases=phases, elsewhere=True))[0] < 4096
    assert bench.judge.holders["r1"].arena is arena


def test_with_room_the_memory_need_not_be_moved(bench, make_task):
    bench.open(make_task(SOURCE), cases=1)
    ask(bench, 0, room=[4, 3])
    arena = bench.judge.holders["r1"].arena
    ask(bench, *[0] * 7, phases=[f"p{n}" for n in range(7)])
    assert bench.judge.holders["r1"].arena is arena


@pytest.mark.parametrize("room", [[1], [1, 2, 3], [-1, 0], [0, 17], [True, 0], ["1", 0], 7])
def test_room_is_two_small_numbers(bench, make_task, room):
    bench.open(make_task(SOURCE), cases=1)
    answer = ask(bench, 0, room=room)
    assert answer["ok"] is False and "want two numbers from 0 to 16" in answer["message"]


def test_what_is_written_into_holds_the_earlier_answer_for_nearly_the_same_inputs_alone(bench, make_task):
    bench.open(make_task(SOURCE), cases=1)

    def lend(phase):
        (one,) = bench.lend(0, phase=phase)
        return one, one.destination[0].clone()

    one, found = lend("check")
    assert found.isnan().all()
    answer = one.args[0] * one.args[1]
    one.destination[0].copy_(answer)
    one, found = lend("check~pair")
    assert torch.equal(found, answer) and not torch.equal(one.args[0] * one.args[1], answer)
    holder = bench.judge.holders["r1"]
    assert all(set(bytes(one.view[at : at + nbytes])) == {255} for at, nbytes in holder.places[0].sinks)
    for phase in ("check", "fresh", "check~pair", "fresh~pair", "without"):
        one.destination[0].copy_(answer)
        one, found = lend(phase)
        # `check~pair` comes after a loan of other inputs.
        assert found.isnan().all(), phase


def test_an_empty_case_does_not_come_first(bench, make_task):
    source = SOURCE.replace("device):", "device, n=8):").replace("randn(8", "randn(n")
    sizes = [{"n": 0}, {"n": 3}, {"n": 0, "name": "again"}, {"n": 2}]
    cases = [{"name": s.get("name", f"n{s['n']}"), "params": {"n": s["n"]}} for s in sizes]
    opened = bench.open(make_task(source, cases=cases))
    assert [c["name"] for c in opened["cases"]][:4] == ["n3", "n2", "n0", "again"]
    assert [v["index"] for v in opened["views"]] == list(range(len(opened["cases"])))
    assert opened["views"][0]["outputs"][0]["shape"] == [3, 32]
