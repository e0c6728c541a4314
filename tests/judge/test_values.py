"""Values beside listed cases: valid where make_inputs draws something special, masks left alone, honest ways right."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kengine.judge.inputs import Drawn  # noqa: E402
from kengine.judge.values import apply_values, factors, is_mask  # noqa: E402
from kengine.tasks import parse_task  # noqa: E402

HEAD = """# /// kengine
# [[cases]]
# n = 48
# ///
import torch
import torch.nn.functional as F

def make_inputs(seed, device, n):
    g = torch.Generator(device).manual_seed(seed)
    normal = lambda *s: torch.randn(*s, generator=g, device=device)
    uniform = lambda *s: torch.rand(*s, generator=g, device=device)
    whole = lambda high, *s: torch.randint(0, high, s, generator=g, device=device)
    return INPUTS

def reference(ARGS):
    return BODY
"""
BOTH = ["large", "tiny"]


def cholesky(a):
    made = torch.zeros_like(a)
    for j in range(a.shape[0]):
        made[j, j] = (a[j, j] - made[j, :j].square().sum()).sqrt()
        made[j + 1 :, j] = (a[j + 1 :, j] - made[j + 1 :, :j] @ made[j, :j]) / made[j, j]
    return made


SPECIAL = {
    "float mask that multiplies": (
        "[normal(8, n), (uniform(8, n) < 0.5).float()]", "x, m", "(x * m).sum(-1)",
        lambda x, m: torch.where(m > 0, x, 0.0).sum(-1), BOTH,
    ),
    "scaled dropout mask": (
        "[normal(8, n), (uniform(8, n) < 0.75).float() / 0.75]", "x, m", "x * m",
        lambda x, m: torch.where(m != 0, x / 0.75, 0.0), BOTH,
    ),
    "mask that is added": (
        "[normal(n, n), torch.full((n, n), float('-inf')).triu(1)]", "x, m", "torch.softmax(x + m, -1)",
        lambda x, m: torch.softmax(x.masked_fill(m != 0, -torch.inf), -1), BOTH,
    ),
    "mask of a large negative number": (
        "[normal(8, n), (uniform(8, n) < 0.3) * -1e9]", "x, m", "torch.softmax(x + m, -1)",
        lambda x, m: torch.softmax(torch.where(m < -1e8, -torch.inf, x), -1), BOTH,
    ),
    "classes as one-hot rows": (
        "[normal(8, n), F.one_hot(whole(n, 8), n).float()]", "x, t", "F.cross_entropy(x, t, reduction='none')",
        lambda x, t: torch.logsumexp(x, -1) - x.gather(1, t.argmax(-1, keepdim=True))[:, 0], BOTH,
    ),
    "indices": (
        "[normal(64, n), whole(64, 20)]", "x, i", "x[i] * 2", lambda x, i: torch.index_select(x, 0, i) + x[i], BOTH,
    ),
    "probabilities": (
        "[uniform(8, n) * 0.98 + 0.01, (uniform(8, n) < 0.5).float()]", "p, t",
        "F.binary_cross_entropy(p, t, reduction='none')",
        lambda p, t: -torch.where(t > 0, p.log(), torch.log1p(-p)), ["tiny"],
    ),
    "rows that sum to one": (
        "[torch.softmax(normal(8, n), -1), torch.softmax(normal(8, n), -1)]", "p, q",
        "(p * (p.log() - q.log())).sum(-1)", lambda p, q: (p * (p / q).log()).sum(-1), BOTH,
    ),
    "positive-definite": (
        "[(lambda a: a @ a.T / n + torch.eye(n))(normal(n, n))]", "a", "torch.linalg.cholesky(a)", cholesky, BOTH,
    ),
    "variances": (
        "[normal(8, n), normal(n), uniform(n) + 0.1]", "x, m, v", "(x - m) / torch.sqrt(v + 1e-5)",
        lambda x, m, v: (x - m) * torch.rsqrt(v + 1e-5), BOTH,
    ),
    "what overflows soon": ("[normal(8, n)]", "x", "torch.exp(x)", torch.exp, BOTH),
    "whole numbers alone": (
        "[whole(100, 8, n)]", "x", "x.sum(-1)", lambda x: x.flip(-1).sum(-1), [],
    ),
    "a mask alone": (
        "[(uniform(8, n) < 0.5).float()]", "m", "m.cumsum(-1)", lambda m: (m != 0).float().cumsum(-1), [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECIAL)
def test_honest_ways_pass_where_inputs_are_special(bench, name) -> None:
    inputs, args, body, way, classes = SPECIAL[name]
    task = parse_task(HEAD.replace("INPUTS", inputs).replace("ARGS", args).replace("BODY", body), "t.py")
    opened = bench.open(task, screen=True)
    assert opened["ok"], opened
    assert [case["values"] for case in opened["cases"]] == ["drawn", *classes]
    assert set(opened["skipped"]) == {f"n=48 {values}" for values in BOTH if values not in classes}
    found = bench.run_all(way)
    assert {case: result.problem for case, result in found.items() if not result.ok} == {}


def test_what_is_left_out_has_a_reason(bench) -> None:
    inputs, args, body, _, _ = SPECIAL["probabilities"]
    task = parse_task(HEAD.replace("INPUTS", inputs).replace("ARGS", args).replace("BODY", body), "t.py")
    assert "between 0 and 1" in bench.open(task)["skipped"]["n=48 large"]
    inputs, args, body, _, _ = SPECIAL["a mask alone"]
    task = parse_task(HEAD.replace("INPUTS", inputs).replace("ARGS", args).replace("BODY", body), "t.py")
    assert set(bench.open(task)["skipped"].values()) == {
        "the task has no floating-point input whose values could be varied"
    }


WRONG = {
    "clamps": lambda x: torch.softmax(x.clamp(-10, 10), -1),
    "without the maximum": lambda x: x.exp() / x.exp().sum(-1, keepdim=True),
    "to float16": lambda x: torch.softmax(torch.where(x.abs() > 65504, torch.inf, x), -1),
}
WRONG_NORMS = {
    "another epsilon": lambda x: x * (x.square().mean(-1, keepdim=True) + 1e-8).rsqrt(),
    "without epsilon": lambda x: x * x.square().mean(-1, keepdim=True).rsqrt(),
    "flushes": lambda x: (lambda y: y * (y.square().mean(-1, keepdim=True) + 1e-6).rsqrt())(
        torch.where(x.abs() < 2.0**-14, 0.0, x)
    ),
    "a sum that saturates": lambda x: (
        x * (x.square().sum(-1, keepdim=True).clamp(max=65504.0) / x.shape[-1] + 1e-6).rsqrt()
    ),
}


@pytest.mark.parametrize(
    ("body", "way", "values"),
    [
        *[("torch.softmax(x, -1)", way, "large") for way in WRONG.values()],
        *[
            ("x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()", way, "large" if "saturates" in name else "tiny")
            for name, way in WRONG_NORMS.items()
        ],
    ],
    ids=[*WRONG, *WRONG_NORMS],
)
def test_wrong_ways_that_the_listed_cases_let_pass_are_seen(bench, body, way, values) -> None:
    source = HEAD.replace("INPUTS", "[normal(8, n)]").replace("ARGS", "x").replace("BODY", body)
    bench.open(parse_task(source, "t.py"))
    found = bench.run_all(way)
    assert found["n=48"].ok and not found[f"n=48 {values}"].ok


@pytest.mark.parametrize("make", [torch.tensor, np.array], ids=["torch", "numpy"])
def test_a_mask_is_zeros_and_one_other_value(make) -> None:
    inf = float("inf")
    assert all(is_mask(make(v)) for v in ([0.0, 1.0, 1.0], [[0.0, -inf], [0.0, 0.0]], [1.25, 0.0], [-1e9, 0.0]))
    assert not any(is_mask(make(v)) for v in ([1.0, 1.0], [0.0, 0.0], [0.0, 1.0, 2.0], [1.0, 2.0], [0.0], [1.0]))
    assert not any(is_mask(make(v)) for v in ([], [float("nan"), 0.0, float("nan")]))


def test_masks_neither_change_nor_decide_how_far_the_rest_may_go() -> None:
    x, mask = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([0.0, -1e9, 0.0])
    assert factors("large", Drawn([x, mask])) == factors("large", Drawn([x])) == (2.0**16, 2.0**10, 2.0**6, 2.0**3)
    assert factors("tiny", Drawn([x, mask]))[0] == 2.0**-16
    assert factors("large", Drawn([mask])) == factors("outlier", Drawn([mask])) == ()
    for values in ("large", "tiny", "outlier"):
        drawn = Drawn([x.clone(), {"m": mask.clone()}])
        apply_values(drawn, values, 8.0, 1)
        assert not torch.equal(drawn.args[0], x) and torch.equal(drawn.args[1]["m"], mask)
    drawn = Drawn([x.clone(), mask.clone()])
    apply_values(drawn, "zeros", 1.0, 1)
    assert not drawn.args[1].any()


def test_an_outlier_stands_at_the_ends_of_rows_more_often_than_elsewhere() -> None:
    columns: list[int] = []
    rows: set[int] = set()
    for seed in range(200):
        drawn = Drawn([np.ones((5, 40), np.float32)])
        apply_values(drawn, "outlier", 8.0, seed)
        (row,), (column,) = np.nonzero(drawn.args[0] == 8.0)
        rows.add(int(row))
        columns.append(int(column))
    assert rows == set(range(5))
    assert 75 <= columns.count(39) <= 130 and 30 <= columns.count(0) <= 75
    assert len({c for c in columns if 0 < c < 39}) > 15


@pytest.mark.parametrize("shape", [(7,), (2, 1), (1, 2, 3)])
def test_an_outlier_has_a_place_in_every_shape(shape: tuple[int, ...]) -> None:
    for seed in range(20):
        drawn = Drawn([np.ones(shape, np.float32)])
        apply_values(drawn, "outlier", 8.0, seed)
        assert sorted(drawn.args[0].reshape(-1)) == [1.0] * (np.prod(shape) - 1) + [8.0]
