"""What the tolerance accepts and rejects: honest orders of summing pass, downgrades and damage do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kengine.judge.tolerance import UNIT_ROUNDOFF, allowed_error, estimate_reduction, floors, sensitivities
from kengine.model import Tolerance

torch = pytest.importorskip("torch")


def sequential(x, axis=-1):
    return np.cumsum(x.astype(np.float32), axis=axis, dtype=np.float32).take(-1, axis)


def reversed_order(x):
    return sequential(x[..., ::-1])


def pairwise(x):
    return x.astype(np.float32).sum(-1)


def blocked(x):
    pad = -x.shape[-1] % 128
    parts = np.concatenate([x, np.zeros((*x.shape[:-1], pad), np.float32)], -1).reshape(*x.shape[:-1], -1, 128)
    return sequential(sequential(parts.astype(np.float32)))


def lanes(x):
    pad = -x.shape[-1] % 32
    parts = np.concatenate([x, np.zeros((*x.shape[:-1], pad), np.float32)], -1).reshape(*x.shape[:-1], -1, 32)
    return pairwise(sequential(parts.astype(np.float32), axis=-2))


ORDERS = {f.__name__: f for f in (sequential, reversed_order, pairwise, blocked, lanes)}


def limits(exact_fn, inputs, honest, dtype="float32", tolerance=None):
    """Exact answer and allowed error for a numpy function of float inputs."""
    tolerance = tolerance or Tolerance()
    wide = [np.asarray(a, dtype=np.float64) for a in inputs]
    exact = exact_fn(*wide)
    generator = np.random.default_rng(7)
    step = 2.0**-22
    moved = ([exact_fn(*(a * (1 + step * generator.choice([-1, 1], a.shape)) for a in wide))] for _ in range(3))
    (sensitivity,) = sensitivities([exact], moved, step, np)
    n = estimate_reduction([a.shape for a in inputs], exact.shape)
    h = np.asarray(honest, dtype=np.float64)
    return exact, allowed_error(exact, h, sensitivity, dtype, tolerance, n, np)


def ratio(got, exact, allowed):
    return float((np.abs(np.asarray(got, np.float64) - exact) / allowed).max())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sign", ["both", "one"])
@pytest.mark.parametrize("n", [10, 1000, 65_537, 1_000_000])
def test_honest_orders_of_summing_are_accepted(order, sign, n):
    generator = np.random.default_rng(n)
    rows = max(2, 20_000 // n)
    x = generator.standard_normal((rows, n)) if sign == "both" else generator.random((rows, n))
    x = x.astype(np.float32)
    exact, allowed = limits(lambda a: a.sum(-1), [x], x.sum(-1))
    assert ratio(ORDERS[order](x), exact, allowed) < 1


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 20_000),
    order=st.sampled_from(sorted(ORDERS)),
    mean=st.sampled_from([0.0, 1.0, 100.0]),
    scale=st.sampled_from([1e-20, 1.0, 1e20]),
)
def test_one_sum_in_any_order_is_accepted(seed, n, order, mean, scale):
    x = ((np.random.default_rng(seed).standard_normal((1, n)) + mean) * scale).astype(np.float32)
    exact, allowed = limits(lambda a: a.sum(-1), [x], x.sum(-1))
    assert ratio(ORDERS[order](x), exact, allowed) < 1


def rounded(a, bits):
    """float32 rounded to so many bits of significand, as matrix units take their operands."""
    mantissa, exponent = np.frexp(np.asarray(a, np.float64))
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent).astype(np.float32)


BITS = {"tf32": 11, "bf16": 8, "fp16": 11}


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("k", [16, 128, 1024, 4096])
@pytest.mark.parametrize("sign", ["both", "one"])
def test_downgraded_matmul_is_rejected(kind, k, sign):
    generator = np.random.default_rng(k)
    draw = generator.standard_normal if sign == "both" else generator.random
    a, b = draw((128, k)).astype(np.float32), draw((k, 160)).astype(np.float32)
    exact, allowed = limits(np.matmul, [a, b], a @ b)
    assert ratio(a @ b, exact, allowed) < 1
    assert ratio(rounded(a, BITS[kind]) @ rounded(b, BITS[kind]), exact, allowed) > 1.1


@pytest.mark.parametrize("sign", ["both", "one"])
def test_matmul_summed_in_sequence_is_accepted(sign):
    generator = np.random.default_rng(3)
    draw = generator.standard_normal if sign == "both" else generator.random
    a, b = draw((24, 4096)).astype(np.float32), draw((4096, 16)).astype(np.float32)
    exact, allowed = limits(np.matmul, [a, b], a @ b)
    total = np.zeros((24, 16), np.float32)
    for i in range(4096):
        total = (total + np.outer(a[:, i], b[i])).astype(np.float32)
    assert ratio(total, exact, allowed) < 1


def test_tf32_is_accepted_where_the_task_allows_it():
    generator = np.random.default_rng(3)
    a, b = (generator.standard_normal(s).astype(np.float32) for s in ((64, 512), (512, 64)))
    exact, allowed = limits(np.matmul, [a, b], a @ b, tolerance=Tolerance(precision="tf32"))
    assert ratio(rounded(a, 11) @ rounded(b, 11), exact, allowed) < 1
    assert ratio(rounded(a, 8) @ rounded(b, 8), exact, allowed) > 1


def half_sequential(x):
    total = np.zeros(x.shape[:-1], np.float16)
    for i in range(x.shape[-1]):
        total = (total + x[..., i].astype(np.float16)).astype(np.float16)
    return total


@pytest.mark.parametrize("sign", ["both", "one"])
@pytest.mark.parametrize("n", [256, 4096, 16_384])
def test_rows_summed_in_half_are_rejected(n, sign):
    generator = np.random.default_rng(n)
    x = generator.standard_normal((64, n)) if sign == "both" else generator.random((64, n))
    x = x.astype(np.float16)
    honest = x.astype(np.float32).sum(-1).astype(np.float16)
    exact, allowed = limits(lambda a: a.sum(-1), [x], honest, "float16")
    assert ratio(honest, exact, allowed) < 1
    assert ratio(sequential(x.astype(np.float32)).astype(np.float16), exact, allowed) < 1
    assert ratio(half_sequential(x), exact, allowed) > 1.5


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_matmul_keeps_a_wide_accumulator(dtype):
    torch.manual_seed(5)
    a, b = (torch.randn(s).to(getattr(torch, dtype)) for s in ((48, 1024), (1024, 40)))
    wide = (a.float() @ b.float()).to(a.dtype)
    exact, allowed = limits(np.matmul, [a.double().numpy(), b.double().numpy()], wide.double().numpy(), dtype)
    assert ratio(wide.double().numpy(), exact, allowed) < 1
    total = torch.zeros(48, 40, dtype=a.dtype)
    for i in range(1024):
        total = total + torch.outer(a[:, i], b[i])
    assert ratio(total.double().numpy(), exact, allowed) > 3


def damage_scaled(y):
    return y * np.float32(1.001)


def damage_element(y):
    y = y.copy()
    y[5, 7] += 0.01
    return y


def damage_tail(y):
    y = y.copy()
    y[-1, -3:] = 0
    return y


def damage_row(y):
    return np.roll(y, 1, axis=0)


def damage_column(y):
    return np.roll(y, 1, axis=1)


def damage_truncated(y):
    return y.astype(np.float16).astype(np.float32)


DAMAGE = [damage_scaled, damage_element, damage_tail, damage_row, damage_column, damage_truncated]


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", ["gelu", "rmsnorm", "matmul"])
def test_damage_is_rejected(damage, name):
    torch.manual_seed(1)
    x = torch.randn(32, 64)
    w = torch.randn(64, 64)
    functions = {
        "gelu": lambda x, w: torch.nn.functional.gelu(x),
        "rmsnorm": lambda x, w: x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w[0],
        "matmul": lambda x, w: x @ w,
    }
    function = functions[name]
    honest = function(x, w).numpy()
    exact, allowed = limits(
        lambda a, b: function(torch.from_numpy(a), torch.from_numpy(b)).numpy(), [x.numpy(), w.numpy()], honest
    )
    assert ratio(honest, exact, allowed) < 1
    assert ratio(damage(honest), exact, allowed) > 1


def test_small_columns_are_not_excused_by_large_ones():
    generator = np.random.default_rng(2)
    gain = np.where(np.arange(64) % 2, 1.0, 1e-2).astype(np.float32)
    x = generator.standard_normal((32, 64)).astype(np.float32)
    exact, allowed = limits(lambda a, g: a * g, [x, gain], x * gain)
    damaged = (x * gain).copy()
    damaged[:, ::2] *= np.float32(1.001)
    assert ratio(damaged, exact, allowed) > 1


def test_floors():
    assert floors("float32", Tolerance(), 1) == (3 * 2.0**-24, 64 * 2.0**-24)
    assert floors("float32", Tolerance(), 10_000)[1] == 316 * 2.0**-24
    assert floors("float16", Tolerance(), 1) == (3 * 2.0**-11, 64 * 2.0**-24)
    assert floors("float64", Tolerance(), 1)[1] == 64 * 2.0**-53
    assert floors("float8_e4m3fn", Tolerance(), 1)[0] == 2.0**-3
    assert floors("float32", Tolerance(rtol=1e-2), 1)[0] == 1e-2
    assert floors("float32", Tolerance(rtol=1e-7), 1) == (1e-7, 1e-7)
    assert floors("float32", Tolerance(), 1, native=True)[1] == 128 * 2.0**-24
    assert set(UNIT_ROUNDOFF) >= {"float16", "bfloat16", "float32", "float64", "complex64", "complex128"}


@pytest.mark.parametrize(
    ("inputs", "output", "n"),
    [
        ([(64, 512), (512, 96)], (64, 96), 512),
        ([(4096, 4096), (4096, 4096)], (4096, 4096), 4096),
        ([(1 << 20,)], (), 1 << 20),
        ([(32, 1000)], (32,), 1000),
        ([(8, 16, 30, 30), (64, 16, 3, 3)], (8, 64, 28, 28), 16 * 30 * 30),
        ([()], (), 1),
        ([(0, 5)], (5,), 5),
    ],
)
def test_estimated_reduction(inputs, output, n):
    assert estimate_reduction(inputs, output) == n


def test_non_finite_answers_allow_nothing_and_poison_nothing():
    exact = np.array([[1.0, np.nan, np.inf, -2.0] * 4])
    with np.errstate(invalid="ignore"):
        allowed = allowed_error(exact, exact.copy(), np.zeros_like(exact), "float32", Tolerance(), 16, np)
    assert np.isfinite(allowed).all()
    assert (allowed[0, 1::4] == 0).all() and (allowed[0, 2::4] == 0).all() and (allowed[0, ::4] > 0).all()


def test_torch_and_numpy_agree():
    generator = np.random.default_rng(0)
    exact = generator.standard_normal((20, 33))
    honest = exact + 1e-7 * generator.standard_normal(exact.shape)
    (sens,) = sensitivities([exact], [[exact * (1 + 2.0**-22)]], 2.0**-22, np)
    np.testing.assert_allclose(sens, np.abs(exact), rtol=1e-6)
    a = allowed_error(exact, honest, sens, "float32", Tolerance(), 33, np)
    t = [torch.from_numpy(v) for v in (exact, honest, sens)]
    b = allowed_error(*t, "float32", Tolerance(), 33, torch)
    np.testing.assert_allclose(a, b.numpy(), rtol=1e-12)


def test_terms_of_two_inputs_that_cancel_in_one_move_add_up_in_another(bench, make_task):
    """x sin(y) moves by x sin(y) for x and by x y cos(y) for y: where the two are alike, each has its say."""
    source = "import torch\ndef make_inputs(seed, device):\n    return [torch.rand(4000) + 1, torch.rand(4000) + 1]\n"
    opened = bench.open(make_task(source + "def reference(x, y):\n    return torch.log(x) - torch.log(y)\n"), cases=1)
    session = bench.judge.sessions[opened["task_id"]]
    (output,) = session.expected(session.cases[0], "check").outputs
    # Each logarithm moves by as much as its argument does: together by the root of two, never by nothing.
    step = 2.0**-24 * 64
    assert output.allowed.min() > 0.9 * step
    assert bench.run(lambda x, y: torch.log2(x) * 0.6931471805599453 - torch.log(y)).ok


OPPOSED = {
    "torch": """
import torch
def make_inputs(seed, device):
    large = 100 + 100 * torch.rand(4000, 1, generator=torch.Generator().manual_seed(seed))
    return [torch.cat([large, large * -0.999], 1)]
""",
    "numpy": """
import numpy as np
def make_inputs(seed, device):
    large = 100 + 100 * np.random.default_rng(seed).random((4000, 1), dtype=np.float32)
    return [np.concatenate([large, large * np.float32(-0.999)], 1)]
""",
}


@pytest.mark.parametrize("library", OPPOSED)
def test_two_large_terms_that_cancel_keep_their_say(bench, make_task, library):
    """The row and the column of an outlier cross in one element, the sum of two large terms: where these cancel, moves
    of one size would cancel with them, and leave the element with what it is allowed by its own small size."""
    opened = bench.open(make_task(OPPOSED[library] + "def reference(x):\n    return x.sum(-1)\n"), cases=1)
    session = bench.judge.sessions[opened["task_id"]]
    (output,) = session.expected(session.cases[0], "check").outputs
    share = output.allowed / (64 * 2.0**-24 * 100)
    assert (share > 0.1).mean() > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_every_element_of_a_large_matmul_summed_in_sequence_is_accepted(seed):
    generator = np.random.default_rng(seed)
    a, b = (generator.standard_normal(s).astype(np.float32) for s in ((300, 512), (512, 300)))
    a[40, 7] = b[300, 50] = 4096.0
    exact, allowed = limits(np.matmul, [a, b], a @ b)
    total = np.zeros(exact.shape, np.float32)
    for i in range(512):
        total = (total + np.outer(a[:, i].astype(np.float64), b[i])).astype(np.float32)
    assert ratio(total, exact, allowed) < 0.9


@pytest.mark.parametrize("gap", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_two_large_logits_that_nearly_tie_condemn_no_honest_softmax(seed, gap):
    draw = np.random.default_rng(seed)
    x = (draw.standard_normal((4, 64)) * 2.0**17).astype(np.float32)
    top = int(x[0].argmax())
    x[0, (top + 5) % 64] = x[0, top] - np.float32(gap)

    def softmax(v):
        e = np.exp(v - v.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    exact, step = softmax(x.astype(np.float64)), 2.0**-22
    runs = [
        [softmax(x * (1 + step * draw.choice([-1, 1], x.shape) * draw.uniform(0.6, 1.4, x.shape)))] for _ in range(3)
    ]
    sens = sensitivities([exact], runs, step, np)[0]
    allowed = allowed_error(exact, softmax(x).astype(np.float64), sens, "float32", Tolerance(), 64, np)
    most = x.max(-1, keepdims=True)
    through = np.exp(x - (most + np.log(np.exp(x - most).sum(-1, keepdims=True))))
    twos = x * np.float32(np.log2(np.e))
    twos = np.exp2(twos - twos.max(-1, keepdims=True))
    for honest in (through, twos / twos.sum(-1, keepdims=True)):
        assert (np.abs(honest - exact) <= allowed).all()
    off = exact.copy()
    off[3, -1] += 1e-3
    assert (np.abs(softmax(x.clip(-10, 10)) - exact) > allowed).any() and (np.abs(off - exact) > allowed).any()
