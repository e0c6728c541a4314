"""Tasks whose answer names places among equal elements are refused, where such elements are really there."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

HEAD = """
import torch
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    whole = lambda high, *s: torch.randint(0, high, s, generator=g)
    normal = lambda *s: torch.randn(*s, generator=g)
    return [INPUTS]
def reference(ARGS):
    return BODY
"""
FEW, MANY = "whole(9, 8, 40)", "whole(1 << 40, 8, 40)"
HALF = "normal(8, 400).half()"


def task_of(make_task, body: str, inputs: str, **spec):
    names = "x, y" if "y" in body else "x"
    return make_task(HEAD.replace("INPUTS", inputs).replace("ARGS", names).replace("BODY", body), **spec)


BROKEN = {
    "sort": ("torch.sort(x)", FEW, "torch.sort"),
    "sort of halves": ("torch.sort(x, -1, True)", HALF, "torch.sort"),
    "sort along another axis": ("x.sort(0)[1]", "whole(9, 40, 3)", "torch.sort"),
    "argsort": ("torch.argsort(x)", FEW, "torch.sort"),
    "argsort, descending": ("x.float().argsort(descending=True)", FEW, "torch.sort"),
    "unstable by name": ("torch.sort(x, stable=False)", FEW, "torch.sort"),
    "topk": ("x.topk(5)", FEW, "torch.topk"),
    "least topk of bfloat16": ("torch.topk(x, 7, 0, largest=False)", "normal(400, 3).bfloat16()", "torch.topk"),
    "topk in no order": ("torch.topk(x, 7, sorted=False)", "normal(8, 400)", "torch.topk"),
    "kthvalue": ("torch.kthvalue(x, 9, -1)", FEW, "torch.kthvalue"),
    "median": ("x.float().median(0, keepdim=True)", "whole(5, 41, 6)", "torch.median"),
    "mode": ("torch.mode(x)", FEW, "torch.mode"),
    "what goes with the keys": ("y[torch.argsort(x)]", "whole(9, 64), normal(64)", "torch.sort"),
    "float payload of topk": ("y.gather(1, x.topk(4)[1])", f"{FEW}, normal(8, 40)", "torch.topk"),
}
SOUND = {
    "values of sort": ("torch.sort(x)[0]", FEW),
    "values of topk": ("x.topk(5)[0]", FEW),
    "stable": ("torch.sort(x, stable=True)", FEW),
    "stable argsort": ("torch.argsort(x, stable=True)", FEW),
    "argmax promises the first": ("x.argmax(-1)", FEW),
    "max promises the first": ("x.max(-1)", FEW),
    "distinct": ("torch.sort(x)", MANY),
    "distinct halves": ("x.topk(3)", "torch.stack([torch.randperm(64, generator=g) for _ in range(8)]).half()"),
    "order that the answer undoes": ("y.gather(1, x.topk(4)[1]).sum(-1)", f"{MANY}, normal(8, 40)"),
    "all of them": ("y[torch.argsort(x)].sum()", "whole(9, 64), normal(64)"),
    "topk in no order, summed": ("x.topk(7, sorted=False)[0].sum(-1)", "normal(8, 400)"),
    "median alone": ("x.float().median()", "normal(41, 6)"),
    "quantile": ("torch.quantile(x, 0.3, -1)", "normal(8, 40)"),
    "a word alone": ("x * 3  # sorted", "normal(8, 40)"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_task_that_asks_for_one_of_several_right_orders_is_refused(bench, make_task, name: str) -> None:
    body, inputs, operator = BROKEN[name]
    answer = bench.open(task_of(make_task, body, inputs), screen=True)
    assert answer["ok"] is False and answer["error"] == "task", answer
    assert f"an order that {operator} does not promise" in answer["message"]
    assert "torch.randperm" in answer["message"] and "stable=True" in answer["message"]
    assert bench.open(task_of(make_task, body, inputs, allow=("ties",)), screen=True)["ok"]


@pytest.mark.parametrize("name", SOUND)
def test_a_task_that_no_order_of_equal_elements_matters_to_is_sound(bench, make_task, name: str) -> None:
    answer = bench.open(task_of(make_task, *SOUND[name]), screen=True)
    assert answer["ok"], answer


def test_one_case_with_equal_elements_is_named(bench, make_task) -> None:
    source = HEAD.replace("(seed, device)", "(seed, device, high=1 << 40)").replace("INPUTS", "whole(high, 6, 30)")
    source = source.replace("ARGS", "x").replace("BODY", "x.argsort(-1)")
    cases = [{"name": "wide"}, {"name": "narrow", "params": {"high": 7}}]
    assert bench.open(make_task(source, cases=cases[:1]), screen=True)["ok"]
    assert (
        "inputs of case 'narrow' have equal elements"
        in bench.open(make_task(source, cases=cases), screen=True)["message"]
    )


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("np.argsort(x)", "numpy.argsort"),
        ("x.argsort(axis=0)", "numpy.argsort"),
        ("argsort(x * 2, axis=None)", "numpy.argsort"),
        ("np.argpartition(x, 5)[..., :5]", "numpy.argpartition"),
        ("np.take_along_axis(y, np.argsort(x), -1)", "numpy.argsort"),
        ("np.argsort(x, kind='stable')", ""),
        ("np.argsort(y)", ""),
        ("np.sort(x)", ""),
        ("np.argmax(x, -1)", ""),
        ("np.argpartition(y, 5)[..., :5]", "numpy.argpartition"),
        ("np.sort(np.argpartition(y, 5)[..., :5])", ""),
        ("np.unique(x, return_inverse=True)[1].reshape(x.shape) + 1", ""),
        ("np.lexsort((x[0], y[0]))", ""),
    ],
)
def test_a_numpy_reference_is_judged_likewise(bench, make_task, body: str, refused: str) -> None:
    source = (
        "import numpy as np\nfrom numpy import argsort\ndef get_inputs():\n"
        "    return [np.random.randint(0, 9, (6, 30)), np.random.permutation(180).reshape(6, 30) * 1.5]\n"
        f"def forward(x, y):\n    return {body}\n"
    )
    answer = bench.open(make_task(source, form="numpy"), screen=True)
    assert answer["ok"] is not bool(refused), answer
    if refused:
        assert f"an order that {refused} does not promise" in answer["message"]


def test_derived_cases_with_equal_elements_are_left_out(bench, make_task) -> None:
    body = "y.gather(1, x.argsort(-1)) + x.argsort(-1)"
    answer = bench.open(task_of(make_task, body, "normal(4, 50), normal(4, 50)"), screen=True)
    assert answer["ok"], answer
    assert "any order is right" in answer["skipped"]["zeros"] and "outlier" in bench.names()


def test_an_open_task_finds_the_same_answer_after_it_was_looked_at(bench, make_task) -> None:
    """What the other order is tried on are copies."""
    bench.open(task_of(make_task, "x.sort(-1)", MANY), screen=True)
    assert bench.run(lambda x: tuple(x.sort(-1))).ok
    (before,) = bench.lend(0)
    assert torch.equal(before.args[0].sort(-1)[0].sort(-1)[1], torch.arange(40).expand(8, 40))
