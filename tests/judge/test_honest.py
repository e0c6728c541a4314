"""Honest rewritings of common operations pass every default case, in every dtype that they are asked for."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

HEAD = """
import torch
import torch.nn.functional as F
def make_inputs(seed, device, dtype="float32", m=24, n=160):
    g = torch.Generator(device).manual_seed(seed)
    draw = lambda *s: torch.randn(*s, generator=g, device=device).to(getattr(torch, dtype))
    return [draw(m, n), draw(m, n), draw(n)]
"""


def sigmoid(x):
    return 1 / (1 + torch.exp(-x))


def tanh(x):
    # As kernels write it: from the exponential of the negative magnitude.
    e = torch.exp(-2 * x.abs())
    return torch.sign(x) * (1 - e) / (1 + e)


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x * 0.7071067811865476))


def gelu_tanh(x):
    return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


def softmax(x):
    e = torch.exp2((x - x.amax(-1, keepdim=True)) * 1.4426950408889634)
    return e / e.sum(-1, keepdim=True)


def online_softmax(x):
    top = torch.full((x.shape[0], 1), float("-inf"))
    total = torch.zeros(x.shape[0], 1)
    for part in x.split(32, -1):
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        total = total * torch.exp(top - new) + torch.exp(part - new).sum(-1, keepdim=True)
        top = new
    return torch.exp(x - top) / total


def layer_norm(x, w):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) * torch.rsqrt(var + 1e-5) * w


def rms_norm(x, w):
    return x / torch.sqrt((x * x).sum(-1, keepdim=True) / x.shape[-1] + 1e-6) * w


def attention(x, y):
    scores = x @ y.T / x.shape[-1] ** 0.5
    return online_softmax(scores) @ y


def cross_entropy(x):
    top = x.amax(-1, keepdim=True)
    return (torch.log(torch.exp(x - top).sum(-1, keepdim=True)) + top - x[:, :1]).squeeze(-1)


def block_scan(x):
    carry, parts = torch.zeros(x.shape[0], 1), []
    for part in x.split(32, -1):
        parts.append(part.cumsum(-1) + carry)
        carry = parts[-1][:, -1:]
    return torch.cat(parts, -1)


def matmul(x, y):
    return sum(a @ b.T for a, b in zip(x.split(8, -1), y.split(8, -1)))


def cosine(x, y):
    return (x * y).sum(-1) / ((x * x).sum(-1) * (y * y).sum(-1)).sqrt().clamp(min=1e-8)


def huber(d):
    return torch.where(d.abs() < 1, 0.5 * d**2, d.abs() - 0.5).mean()


def rope(x, y):
    return x * torch.sin(y + 1.5707963267948966) - y * torch.sin(x)


OPS = {
    "add": ("x + y", lambda x, y, w: x + y),
    "axpy": ("x * 0.3 + y", lambda x, y, w: torch.add(y, x, alpha=0.3)),
    "relu": ("torch.relu(x)", lambda x, y, w: torch.where(x > 0, x, torch.zeros_like(x))),
    "sigmoid": ("torch.sigmoid(x)", lambda x, y, w: sigmoid(x)),
    "silu": ("F.silu(x)", lambda x, y, w: x * sigmoid(x)),
    "swiglu": ("F.silu(x) * y", lambda x, y, w: x / (1 + torch.exp(-x)) * y),
    "tanh": ("torch.tanh(x)", lambda x, y, w: tanh(x)),
    "gelu": ("F.gelu(x)", lambda x, y, w: gelu(x)),
    "gelu tanh": ("F.gelu(x, approximate='tanh')", lambda x, y, w: gelu_tanh(x)),
    "softplus": ("F.softplus(x)", lambda x, y, w: torch.clamp(x, min=0) + torch.log1p(torch.exp(-x.abs()))),
    "softmax": ("torch.softmax(x, -1)", lambda x, y, w: softmax(x)),
    "online softmax": ("torch.softmax(x, -1)", lambda x, y, w: online_softmax(x)),
    "log softmax": ("torch.log_softmax(x, -1)", lambda x, y, w: x - torch.logsumexp(x, -1, keepdim=True)),
    "layer norm": ("F.layer_norm(x, (x.shape[-1],), w)", lambda x, y, w: layer_norm(x, w)),
    "rms norm": ("x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w", lambda x, y, w: rms_norm(x, w)),
    "matmul": ("x @ y.T", lambda x, y, w: matmul(x, y)),
    "linear gelu": ("F.gelu(x @ y.T)", lambda x, y, w: gelu(matmul(x, y))),
    "attention": ("F.scaled_dot_product_attention(x[None], y[None], y[None])[0]", lambda x, y, w: attention(x, y)),
    "sum": ("x.sum()", lambda x, y, w: x.T.reshape(-1).cumsum(0)[-1]),
    "mean rows": ("x.mean(-1)", lambda x, y, w: x.cumsum(-1)[:, -1] / x.shape[-1]),
    "variance": ("x.var(-1)", lambda x, y, w: ((x - x.mean(-1, keepdim=True)) ** 2).sum(-1) / (x.shape[-1] - 1)),
    "norm": ("torch.linalg.vector_norm(x, dim=-1)", lambda x, y, w: (x * x).sum(-1).sqrt()),
    "cosine": ("F.cosine_similarity(x, y, dim=-1)", lambda x, y, w: cosine(x, y)),
    "cumsum": ("x.cumsum(-1)", lambda x, y, w: block_scan(x)),
    "max": ("x.amax(-1)", lambda x, y, w: x.sort(-1).values[:, -1]),
    "cross entropy": ("-torch.log_softmax(x, -1)[:, 0]", lambda x, y, w: cross_entropy(x)),
    "mse": ("F.mse_loss(x, y)", lambda x, y, w: ((x - y) ** 2).sum(0).sum() / x.numel()),
    "huber": ("F.smooth_l1_loss(x, y)", lambda x, y, w: huber(x - y)),
    "exp": ("torch.exp(x)", lambda x, y, w: torch.exp2(x * 1.4426950408889634)),
    "rope": ("x * torch.cos(y) - y * torch.sin(x)", lambda x, y, w: rope(x, y)),
    "log": ("torch.log(x.abs() + 1)", lambda x, y, w: torch.log2(1 + x.abs()) * 0.6931471805599453),
    "division": ("x / (y.abs() + 0.5)", lambda x, y, w: x * (1 / (y.abs() + 0.5))),
    "causal": (
        "torch.softmax((x @ y.T).masked_fill(torch.ones(24, 24).triu(1) > 0, float('-inf')), -1)",
        lambda x, y, w: softmax((x @ y.T).masked_fill(torch.arange(24)[:, None] < torch.arange(24), -1e30)),
    ),
}  # fmt: skip


BLUNT = {("mse", "bfloat16"), ("huber", "bfloat16")}
"""A mean over thousands of draws is one constant to bfloat16: refused as tasks."""

PAIRS = [(n, d) for n in OPS for d in ("float32", "float16", "bfloat16") if (n, d) not in BLUNT]


@pytest.mark.parametrize(("name", "dtype"), PAIRS)
def test_honest_rewriting(bench, make_task, name, dtype):
    body, candidate = OPS[name]
    values = ("drawn", "outlier", "large", "tiny", "zeros")
    cases = [{"name": v, "values": v, "params": {"dtype": dtype}} for v in values]
    cases.append({"name": "odd", "params": {"dtype": dtype, "m": 24, "n": 1000}})
    opened = bench.open(make_task(HEAD + f"def reference(x, y, w):\n    return {body}\n", cases=cases), screen=True)
    assert opened["ok"], opened
    assert len(opened["cases"]) >= 2

    def wide(*args):
        return candidate(*(a.float() for a in args)).to(args[0].dtype).contiguous()

    bad = {case: c.problem for case, c in bench.run_all(wide).items() if not c.ok}
    assert bad == {}
    damaged = bench.run_all(lambda *args: wide(*args) * 1.02)
    assert not damaged["drawn"].ok
