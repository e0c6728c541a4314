"""The brief comparison says the same as the full one, on right and on wrong answers of every kind."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

SOURCE = """
import torch

def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    return torch.randn(33, 65, generator=g, device=device), torch.randint(0, 9, (7,), generator=g, device=device)

def reference(x, i):
    y = torch.softmax(x, -1)
    return y, i * 2, y > 0.02, {"big": x.half(), "sum": x.sum(), "rows": len(x), "way": "last"}
"""


def right(x, i):
    y = torch.exp(x - x.amax(-1, keepdim=True))
    y = y / y.sum(-1, keepdim=True)
    return y, i + i, torch.softmax(x, -1) > 0.02, {"big": x.half(), "sum": x.sum(), "rows": len(x), "way": "last"}


def change(place, how):
    def candidate(x, i):
        parts = list(right(x, i))
        parts[place] = how(parts[place])
        return tuple(parts)

    return candidate


def poke(t):
    t = t.clone()
    t.view(-1)[-1] += 1
    return t


def nan(t):
    t = t.clone()
    t[3, 4] = float("nan")
    return t


CANDIDATES = {
    "right": (right, True),
    "scaled": (change(0, lambda t: t * 1.001), False),
    "one element": (change(0, poke), False),
    "nan": (change(0, nan), False),
    "zeros": (change(0, torch.zeros_like), False),
    "int off by one": (change(1, poke), False),
    "flipped bool": (change(2, lambda t: ~t), False),
    "shape": (change(0, lambda t: t[:-1]), False),
    "dtype": (change(0, lambda t: t.double()), False),
    "number": (change(3, lambda d: {**d, "rows": 34}), False),
    "word": (change(3, lambda d: {**d, "way": "first"}), False),
    "nesting": (change(3, lambda d: d["big"]), False),
    "nothing": (lambda x, i: None, False),
}


@pytest.mark.parametrize("name", CANDIDATES)
def test_agrees_with_the_full_comparison(bench, make_task, name):
    candidate, ok = CANDIDATES[name]
    bench.open(make_task(SOURCE), cases=1)
    (lent,) = bench.lend(0)
    outputs = lent.describe([candidate(*lent.args)])
    answers = []
    for brief in (True, False):
        body = {"task_id": bench.opened["task_id"], "case": 0, "phase": "check", "holder": "r1", "outputs": outputs}
        answer, _ = bench.ask("compare", brief=brief, **body)
        assert answer["ok"], answer
        answers.append(answer["comparison"]["ok"])
    assert answers == [ok, ok]


def test_an_answer_whose_bytes_are_not_at_hand_is_not_right(bench, make_task):
    bench.open(make_task(SOURCE), cases=1)
    (lent,) = bench.lend(0)
    (tree,) = lent.describe([right(*lent.args)])
    tree["items"][0]["sink"] = None
    body = {"task_id": bench.opened["task_id"], "case": 0, "phase": "check", "holder": "r1", "outputs": [tree]}
    for brief in (True, False):
        answer, _ = bench.ask("compare", brief=brief, **body)
        assert answer["ok"] and answer["comparison"]["ok"] is False, answer


def test_a_written_input_is_not_right(bench, make_task):
    def writes(x, i):
        result = right(x, i)
        x[0, 0] = 7.0
        return result

    bench.open(make_task(SOURCE), cases=1)
    (lent,) = bench.lend(0)
    outputs = lent.describe([writes(*lent.args)])
    body = {"task_id": bench.opened["task_id"], "case": 0, "phase": "check", "holder": "r1", "outputs": outputs}
    answer, _ = bench.ask("compare", brief=True, **body)
    assert answer["comparison"]["ok"] is False
