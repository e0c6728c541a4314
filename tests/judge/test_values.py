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


KINDS = {
    "both signs": lambda draw, shape: draw.standard_normal(shape),
    "positive": lambda draw, shape: draw.random(shape),
    "negative": lambda draw, shape: draw.random(shape) - 1.5,
}
EXTREMES = {"max": np.max, "min": np.min}


def missed(array, axis: int) -> list[str]:
    """Reductions along an axis whose answer is the same everywhere, within 5 %, when one end is left out."""
    found = []
    length = array.shape[axis]
    for name, reduce in EXTREMES.items():
        for end, places in (("last", range(length - 1)), ("first", range(1, length))):
            whole, part = (reduce(a, axis=axis) for a in (array, np.take(array, places, axis=axis)))
            if not (np.abs(whole - part) > 0.05 * np.abs(whole)).any():
                found.append(f"{name} without the {end} along {axis}")
    return found


def raised(*arrays: np.ndarray, factor: float = 1024.0, seed: int = 1) -> list[np.ndarray]:
    drawn = Drawn([a.copy() for a in arrays])
    apply_values(drawn, "outlier", factor, seed)
    return drawn.args


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(4, 300), (2, 50), (6, 64), (32, 64), (100, 3), (5, 6, 7), (2, 3, 8, 8)])
def test_both_ends_decide_a_maximum_and_a_minimum_along_every_axis_in_every_draw(kind: str, shape: tuple) -> None:
    for seed in range(40):
        first = KINDS[kind](np.random.default_rng(seed), shape).astype(np.float32)
        # Columns of two elements, and lines that meet in few elements, are decided along the last axis only.
        axes = [axis for axis in range(len(shape)) if axis == len(shape) - 1 or shape[axis] > 3]
        for array in raised(first, first * 3, factor=(1024.0, 2.0)[seed % 2], seed=seed):
            assert [what for axis in axes for what in missed(array, axis)] == []


@pytest.mark.parametrize("shape", [(64,), (1, 64), (64, 1)])
@pytest.mark.parametrize("kind", KINDS)
def test_of_one_line_each_end_is_the_largest_in_some_draws(kind: str, shape: tuple[int, ...]) -> None:
    drawn = KINDS[kind](np.random.default_rng(5), shape).astype(np.float32)
    places = [(int(a.argmax()), int(a.argmin())) for seed in range(40) for a in raised(drawn, seed=seed)]
    assert set(places) == {(63, 0), (0, 63)} and 8 <= places.count((63, 0)) <= 32


def test_one_element_is_raised_inside_the_first_array_and_in_a_corner_of_others() -> None:
    for seed in range(40):
        shape = (12, 40)
        drawn = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        arrays = raised(drawn, drawn, seed=seed)
        (row, column), other = (np.argwhere(np.abs(a) > 100 * np.abs(drawn).max())[0] for a in arrays)
        assert 0 < row < 11 and 0 < column < 39 and other[0] in (0, 11) and other[1] in (0, 39)
        for array in arrays:
            assert 8 <= (array != drawn).sum() <= 9


def test_raised_elements_keep_their_sign_and_zeros_stay() -> None:
    for seed in range(40):
        draw = np.random.default_rng(seed)
        for drawn in (
            np.tril(draw.standard_normal((40, 40))),
            np.maximum(draw.standard_normal((12, 30)), 0),
            draw.standard_normal((50, 40)) * (draw.random((50, 40)) < 0.3),
            draw.random((40, 4)) * np.array([1, -1, 1, -1]),
        ):
            (found,) = raised(drawn, seed=seed)
            assert (np.sign(found) == np.sign(drawn)).all() and (found != drawn).any()


def test_what_is_not_finite_stays_and_raises_nothing_beyond() -> None:
    drawn = np.random.default_rng(1).standard_normal((16, 16)).astype(np.float32)
    drawn[np.triu_indices(16, 1)] = -np.inf
    drawn[3, 3] = np.nan
    for seed in range(20):
        (found,) = raised(drawn, seed=seed)
        assert (np.isfinite(found) == np.isfinite(drawn)).all() and np.abs(found[np.isfinite(found)]).max() > 100
    assert raised(np.zeros((3, 3)))[0].any() == np.False_


ORDERED = {
    "rises": np.sort(np.random.default_rng(1).standard_normal((4, 20)), -1),
    "falls": -np.sort(np.random.default_rng(2).random(20)),
    "rises in a column": np.linspace(0, 1, 20)[:, None],
    "symmetric": (lambda a: a + a.T)(np.random.default_rng(3).standard_normal((9, 9))),
    "several symmetric": (lambda a: a @ a.swapaxes(1, 2))(np.random.default_rng(4).standard_normal((2, 5, 5))),
}


@pytest.mark.parametrize("make", [torch.tensor, np.array], ids=["torch", "numpy"])
@pytest.mark.parametrize("name", ORDERED)
def test_an_outlier_leaves_order_and_symmetry_alone(name: str, make) -> None:
    array = make(ORDERED[name].tolist())
    drawn = Drawn([array])
    assert factors("outlier", drawn) == () and factors("large", drawn)[-1] == 8.0
    apply_values(drawn, "outlier", 8.0, 3)
    assert (drawn.args[0] == array).all()
    changed = make(ORDERED[name].tolist())
    changed.reshape(-1)[1] = 7.0
    assert factors("outlier", Drawn([changed])) == (1024.0, 32.0, 2.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_tensors_are_raised_as_arrays_are(dtype: torch.dtype) -> None:
    drawn = torch.randn(12, 40, generator=torch.Generator().manual_seed(1)).to(dtype)
    for tensor in (drawn, drawn.t().contiguous().t()):
        (found,) = raised_tensors(tensor)
        assert found.dtype is dtype and found.shape == drawn.shape
        (expected,) = raised(drawn.double().numpy(), factor=64.0)
        assert torch.equal(found, torch.from_numpy(expected).to(dtype))


def raised_tensors(*tensors: torch.Tensor) -> list[torch.Tensor]:
    drawn = Drawn([t.clone() for t in tensors])
    apply_values(drawn, "outlier", 64.0, 1)
    return drawn.args


@pytest.mark.parametrize("shape", [(), (1,), (0, 3), (1, 1)])
def test_what_has_no_ends_stays_as_it_is(shape: tuple[int, ...]) -> None:
    assert (raised(np.ones(shape, np.float32))[0] == 1).all()


STRUCTURED = {
    "triangular": ("[normal(n, n).tril(), normal(n, n).tril()]", "(a @ b).tril()"),
    "symmetric": ("[(lambda a: a + a.T)(normal(n, n)), (lambda a: a + a.T)(normal(n, n))]", "a @ b"),
    "sorted": ("[normal(n).sort().values, normal(40)]", "torch.searchsorted(a, b)"),
}
WAYS = {
    "triangular": lambda a, b: (a.tril() @ b.tril()).tril(),
    "symmetric": lambda a, b: (b.tril() + b.tril(-1).T) @ (a.triu() + a.triu(1).T).T,
    "sorted": lambda a, b: (a[None, :] < b[:, None]).sum(-1),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_kernels_that_rely_on_the_structure_of_their_inputs_pass(bench, name: str) -> None:
    inputs, body = STRUCTURED[name]
    source = HEAD.replace("n = 48", 'n = 48\n# values = ["drawn", "outlier"]')
    task = parse_task(source.replace("INPUTS", inputs).replace("ARGS", "a, b").replace("BODY", body), "t.py")
    way = (lambda a, b: WAYS[name](a, b).T) if name == "symmetric" else WAYS[name]
    for n in range(20):
        assert bench.open(task, screen=True, salt=f"{n:02x}" * 16)["ok"]
        assert {case: found.problem for case, found in bench.run_all(way).items() if not found.ok} == {}


def without(end: int, axis: int):
    return lambda x: x.narrow(axis, 0 if end else 1, x.shape[axis] - 1)


LEFT_OUT = {
    "amax without the last column": ("x.amax(-1)", lambda x: without(-1, 1)(x).amax(-1)),
    "amin without the first column": ("x.amin(-1)", lambda x: without(0, 1)(x).amin(-1)),
    "argmax from the second column": ("x.argmax(-1)", lambda x: without(0, 1)(x).argmax(-1) + 1),
    "argmin without the last column": ("x.argmin(-1)", lambda x: without(-1, 1)(x).argmin(-1)),
    "amax without the last row": ("x.amax(0)", lambda x: without(-1, 0)(x).amax(0)),
    "argmin from the second row": ("x.argmin(0)", lambda x: without(0, 0)(x).argmin(0) + 1),
    "any without the last column": ("(x > 5.5).any(-1)", lambda x: (without(-1, 1)(x) > 5.5).any(-1)),
}


@pytest.mark.parametrize("inputs", ["normal(8, 300)", "uniform(300, 9) * 5"])
@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_reduction_without_one_end_is_wrong_in_every_draw(bench, name: str, inputs: str) -> None:
    body, way = LEFT_OUT[name]
    source = HEAD.replace("n = 48", 'n = 48\n# values = ["drawn", "outlier"]')
    task = parse_task(source.replace("INPUTS", f"[{inputs}]").replace("ARGS", "x").replace("BODY", body), "t.py")
    for n in range(12):
        opened = bench.open(task, cases=2, salt=f"{n:02x}" * 16)
        assert len(opened["cases"]) == 2, opened
        assert not bench.run(way, 1).ok
