"""Downgrades, shortcuts and damage are caught and honest ways of computing are not, over operators and dtypes.

Answers are held against the default cases of a task in the layer that compares, without a runner. A wrong way is caught
when some case rejects it; an honest one must pass in all.
"""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from kengine.judge import trial  # noqa: E402

M, K, N = 24, 256, 20
HEAD = """
import torch
import torch.nn.functional as F
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    draw = lambda *s: torch.randn(*s, generator=g, device=device).to(torch.DTYPE)
    return INPUTS
def reference(ARGS):
    return BODY
"""
ROWS = f"[draw({M}, {K})]"
REFERENCES = {
    "matmul": (f"[draw({M}, {K}), draw({K}, {N})]", "x, y", "x @ y"),
    "linear": (f"[draw({M}, {K}), draw({N}, {K}), draw({N})]", "x, w, b", "F.linear(x, w, b)"),
    "softmax": (ROWS, "x", "torch.softmax(x, -1)"),
    "logsumexp": (ROWS, "x", "torch.logsumexp(x, -1)"),
    "layernorm": (f"[draw({M}, {K}), draw({K}), draw({K})]", "x, w, b", f"F.layer_norm(x, ({K},), w, b)"),
    "rmsnorm": (f"[draw({M}, {K}), draw({K})]", "x, w", "x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w"),
    "sum": (ROWS, "x", "x.sum(-1)"),
    "mean": (ROWS, "x", "x.mean(-1)"),
    "var": (ROWS, "x", "x.var(-1)"),
    "cumsum": (ROWS, "x", "x.cumsum(-1)"),
    "gelu": (ROWS, "x", "F.gelu(x)"),
    "conv2d": ("[draw(2, 8, 12, 12), draw(6, 8, 3, 3), draw(6)]", "x, w, b", "F.conv2d(x, w, b)"),
    "cross entropy": (f"[draw(64, {K}), torch.arange(64)]", "x, t", "F.cross_entropy(x, t, reduction='none')"),
    "attention": ("[draw(2, 32, 64), draw(2, 32, 64), draw(2, 32, 64)]", "q, k, v",
                  "F.scaled_dot_product_attention(q, k, v)"),
    "clamp": (ROWS, "x", "torch.clamp(x, -1.5, 1.5) * 2"),
}  # fmt: skip
FLOATS = ("float32", "float16", "bfloat16")


@pytest.fixture(scope="module")
def open_task():
    from kengine import codec
    from kengine.judge.server import Judge
    from kengine.model import Task

    judge = Judge()
    opened = {}

    def open_once(name, dtype):
        if (name, dtype) not in opened:
            inputs, args, body = REFERENCES[name]
            source = HEAD.replace("INPUTS", inputs).replace("ARGS", args).replace("BODY", body).replace("DTYPE", dtype)
            task = codec.to_json(Task(f"{name} {dtype}", "function", source))
            body = {"op": "open", "task": task, "salt": "5a" * 16, "device": "cpu", "screen": False}
            answer, _ = judge.answer(body, [])
            assert answer["ok"], answer
            opened[name, dtype] = judge.sessions[answer["task_id"]]
        return opened[name, dtype]

    yield open_once
    judge.shut()


def verdicts(session, way):
    """Name of each case and whether the answer of `way` is accepted there."""
    found = {}
    for case in session.cases:
        packed = session.entry(case, "check").packed
        args = packed.values(packed.image.copy())
        spec = session.expected(case, "check").outputs[0].form.spec
        answer = way(*args).to(getattr(torch, spec.dtype))
        found[case.name] = trial.passes(session, case, [answer])
    return found


# Ways of rounding and summing.


def to_tf32(x):
    """Rounded to 10 bits of mantissa, as matrix units take float32."""
    bits = x.float().contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def narrow(function, dtype):
    """The whole function in a narrow dtype."""
    return lambda *args: function(*(a.to(dtype) if a.is_floating_point() else a for a in args))


def add_up(terms, dtype, dim=-1):
    """Sequential sum with an accumulator of a dtype."""
    terms = terms.movedim(dim, 0)
    total = torch.zeros_like(terms[0], dtype=dtype)
    for term in terms:
        total = (total.float() + term.float()).to(dtype)
    return total.float()


def add_blocks(terms, dim=-1, size=32):
    return sum(part.float().sum(dim) for part in terms.split(size, dim))


def add_kahan(terms, dim=-1):
    terms = terms.float().movedim(dim, 0)
    total = lost = torch.zeros_like(terms[0])
    for term in terms:
        y = term - lost
        new = total + y
        lost, total = (new - total) - y, new
    return total


def add_fused(x, y):
    """Dot products with one rounding for each multiplication and addition together."""
    total = torch.zeros(x.shape[0], y.shape[1])
    for k in range(x.shape[1]):
        total = (total.double() + x[:, k : k + 1].double() * y[k : k + 1].double()).float()
    return total


def split_three(x, y):
    """float32 out of three products of bfloat16, as tensor cores are used for it: nearly all bits."""
    parts = []
    for a in (x.float(), y.float()):
        high = a.bfloat16().float()
        middle = (a - high).bfloat16().float()
        parts.append((high, middle, (a - high - middle).bfloat16().float()))
    (a, b, c), (d, e, f) = parts
    return (a @ f + b @ e + c @ d) + (a @ e + b @ d) + a @ d


def welford(x):
    x = x.float()
    mean, m2 = torch.zeros_like(x[..., 0]), torch.zeros_like(x[..., 0])
    for n in range(x.shape[-1]):
        delta = x[..., n] - mean
        mean = mean + delta / (n + 1)
        m2 = m2 + delta * (x[..., n] - mean)
    return mean[..., None], m2[..., None]


def online(x, size=32):
    """Largest value and sum of exponentials of each row, block by block."""
    x = x.float()
    top = torch.full_like(x[..., :1], -math.inf)
    total = torch.zeros_like(top)
    for part in x.split(size, -1):
        new = torch.maximum(top, part.amax(-1, keepdim=True))
        total = total * torch.exp(top - new) + torch.exp(part - new).sum(-1, keepdim=True)
        top = new
    return top, total


def softmax(x, add=lambda e: e.sum(-1, keepdim=True), shift=True):
    x = x.float()
    e = torch.exp2((x - x.amax(-1, keepdim=True) * shift) * 1.4426950408889634)
    return e / add(e)


def online_softmax(x):
    top, total = online(x)
    return torch.exp(x.float() - top) / total


def layernorm(x, w, b, eps=1e-5, statistics=None):
    x = x.float()
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    if statistics is not None:
        mean, m2 = statistics(x)
        var = m2 / x.shape[-1]
    return (x - mean) * torch.rsqrt(var + eps) * w.float() + b.float()


def rmsnorm(x, w, eps=1e-6, add=lambda s: s.sum(-1)):
    x = x.float()
    return x / torch.sqrt(add(x * x)[..., None] / x.shape[-1] + eps) * w.float()


def attention(q, k, v, rounded=lambda p: p, product=torch.matmul):
    scores = product(q.float(), k.float().mT) / math.sqrt(q.shape[-1])
    top, total = online(scores)
    return product(rounded(torch.exp(scores - top)), v.float()) / total


def conv2d(x, w, b, product=torch.matmul):
    columns = torch.nn.functional.unfold(x.float(), 3)
    made = product(w.float().reshape(w.shape[0], -1), columns) + b.float()[:, None]
    return made.reshape(x.shape[0], w.shape[0], 10, 10)


def winograd(x, w, b):
    """F(2x2, 3x3): fewer multiplications, another order and quarters in between."""
    B = torch.tensor([[1.0, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
    G = torch.tensor([[1.0, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
    A = torch.tensor([[1.0, 1, 1, 0], [0, 1, -1, -1]])
    tiles = x.float().unfold(2, 4, 2).unfold(3, 4, 2)
    data = B @ tiles @ B.T
    kernel = G @ w.float() @ G.T
    made = A @ torch.einsum("ncijuv,kcuv->nkijuv", data, kernel) @ A.T
    return made.permute(0, 1, 2, 4, 3, 5).reshape(x.shape[0], w.shape[0], 10, 10) + b.float()[:, None, None]


def by_fft(x, w, b):
    size = (12, 12)
    f = torch.fft.rfft2(x.float(), size)[:, None] * torch.fft.rfft2(w.float(), size).conj()
    return torch.fft.irfft2(f.sum(2), size)[..., :10, :10] + b.float()[:, None, None]


def cross_entropy(x, t, shift=True, terms=slice(None)):
    x = x.float()
    top = x.amax(-1, keepdim=True) * shift
    return ((x - top)[:, terms].exp().sum(-1, keepdim=True).log() + top - x.gather(1, t[:, None]))[:, 0]


def lse(x, shift=True):
    top = x.float().amax(-1, keepdim=True) * shift
    return ((x.float() - top).exp().sum(-1, keepdim=True).log() + top)[:, 0]


def scan(x, size=32):
    carry, parts = torch.zeros(x.shape[0], 1), []
    for part in x.float().split(size, -1):
        parts.append(part.cumsum(-1) + carry)
        carry = parts[-1][:, -1:]
    return torch.cat(parts, -1)


def gelu(x):
    x = x.float()
    return x * 0.5 * (1 + torch.erf(x * 0.7071067811865476))


def variance(x, mean=None, count=K - 1):
    x = x.float()
    mean = x.mean(-1, keepdim=True) if mean is None else mean
    return ((x - mean) ** 2).sum(-1) / count


PLAIN = {
    "matmul": lambda x, y: x @ y,
    "linear": lambda x, w, b: torch.nn.functional.linear(x, w, b),
    "softmax": lambda x: torch.softmax(x, -1),
    "logsumexp": lambda x: torch.logsumexp(x, -1),
    "layernorm": lambda x, w, b: torch.nn.functional.layer_norm(x, (K,), w, b),
    "rmsnorm": lambda x, w: x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w,
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(-1),
    "var": lambda x: x.var(-1),
    "cumsum": lambda x: x.cumsum(-1),
    "gelu": lambda x: torch.nn.functional.gelu(x),
    "conv2d": lambda x, w, b: torch.nn.functional.conv2d(x, w, b),
    "cross entropy": lambda x, t: torch.nn.functional.cross_entropy(x, t, reduction="none"),
    "attention": lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v),
    "clamp": lambda x: torch.clamp(x, -1.5, 1.5) * 2,
}


def wide(name):
    """The plain function in float32, whatever it is given."""
    return narrow(PLAIN[name], torch.float32)


HONEST = {
    "matmul": {
        "blocks": lambda x, y: sum(a.float() @ b.float() for a, b in zip(x.split(32, 1), y.split(32, 0))),
        "one after the other": lambda x, y: add_up(x[:, :, None].float() * y[None].float(), torch.float32, 1),
        "backwards": lambda x, y: add_up((x[:, :, None].float() * y[None].float()).flip(1), torch.float32, 1),
        "fused": lambda x, y: add_fused(x.float(), y.float()),
        "split into three": split_three,
        "kahan": lambda x, y: add_kahan(x[:, :, None].float() * y[None].float(), 1),
    },
    "linear": {"bias first": lambda x, w, b: torch.addmm(b.float().expand(M, N), x.float(), w.float().T)},
    "softmax": {
        "exp2": softmax,
        "online": online_softmax,
        "reciprocal": lambda x: torch.exp(x.float() - x.float().amax(-1, keepdim=True)) * (1 / online(x)[1]),
        "through logsumexp": lambda x: torch.exp(x.float() - lse(x)[:, None]),
    },
    "logsumexp": {"online": lambda x: (online(x)[1].log() + online(x)[0])[:, 0], "two passes": lse},
    "layernorm": {
        "two passes": layernorm,
        "welford": lambda x, w, b: layernorm(x, w, b, statistics=welford),
        "division": lambda x, w, b: (x.float() - x.float().mean(-1, keepdim=True))
        / (x.float().var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt() * w.float() + b.float(),
    },
    "rmsnorm": {
        "root": rmsnorm,
        "blocks": lambda x, w: rmsnorm(x, w, add=add_blocks),
        "one after the other": lambda x, w: rmsnorm(x, w, add=lambda s: add_up(s, torch.float32)),
    },
    "sum": {
        "blocks": add_blocks,
        "pairwise": lambda x: x.float().reshape(M, 2, -1).sum(-1).sum(-1),
        "one after the other": lambda x: add_up(x, torch.float32),
        "backwards": lambda x: add_up(x.flip(-1), torch.float32),
        "kahan": add_kahan,
    },
    "mean": {
        "scaled first": lambda x: (x.float() * (1 / K)).sum(-1),
        "one after the other": lambda x: add_up(x, torch.float32) / K,
        "running": lambda x: welford(x)[0][:, 0],
    },
    "var": {"two passes": variance, "welford": lambda x: (welford(x)[1] / (K - 1))[:, 0]},
    "cumsum": {"blocks": scan, "one after the other": lambda x: scan(x, 1)},
    "gelu": {"erf": gelu, "halved": lambda x: 0.5 * x.float() * torch.erfc(-x.float() * 0.7071067811865476)},
    "conv2d": {
        "as a product": conv2d,
        "split into three": lambda x, w, b: conv2d(x, w, b, product=split_three),
        "winograd": winograd,
        "fft": by_fft,
    },
    "cross entropy": {"two passes": cross_entropy},
    "attention": {"online": attention},
    "clamp": {"minimum of maximum": lambda x: torch.maximum(x.float() * 2, torch.tensor(-3.0)).clamp(max=3.0)},
}  # fmt: skip
UNIT = (torch.ones(K), torch.zeros(K))
HALF_HONEST = {
    "attention": {"weights rounded": lambda q, k, v: attention(q, k, v, rounded=lambda p: p.to(q.dtype).float())},
    "softmax": {"stored first": lambda x: torch.softmax(x.float(), -1).to(x.dtype)},
    "rmsnorm": {"rounded before the gain": lambda x, w: rmsnorm(x, torch.ones(K)).to(x.dtype) * w},
    "layernorm": {"rounded first": lambda x, w, b: w.float() * layernorm(x, *UNIT).to(x.dtype).float() + b.float()},
    "linear": {"rounded before the bias": lambda x, w, b: (x.float() @ w.float().T).to(x.dtype) + b},
}  # fmt: skip


def tail(name):
    """The last hundredth of the answer, at least one element, is off by a hundredth of its largest one."""

    def way(*args):
        out = wide(name)(*args).clone()
        flat = out.reshape(-1)
        flat[-max(1, flat.numel() // 100) :] += 0.02 * float(flat.abs().max())
        return flat.reshape(out.shape)

    return way


def one(name):
    def way(*args):
        out = wide(name)(*args).clone()
        out.view(-1)[out.numel() // 3] += 0.05 * float(out.abs().max())
        return out

    return way


BROKEN = {
    "matmul": {
        "half the terms": lambda x, y: 2 * (x[:, ::2].float() @ y[::2].float()),
        "without the last term": lambda x, y: x[:, :-1].float() @ y[:-1].float(),
    },
    "linear": {"without bias": lambda x, w, b: x.float() @ w.float().T},
    "softmax": {
        "without maximum": lambda x: softmax(x, shift=False),
        "half the terms": lambda x: softmax(x, lambda e: 2 * e[..., ::2].sum(-1, keepdim=True)),
        "first order": lambda x: (1 + x.float()).clamp(min=0) / (1 + x.float()).clamp(min=0).sum(-1, keepdim=True),
    },
    "logsumexp": {"without maximum": lambda x: lse(x, shift=False), "maximum alone": lambda x: x.float().amax(-1)},
    "layernorm": {
        "without eps": lambda x, w, b: layernorm(x, w, b, eps=0.0),
        "without bias": lambda x, w, b: layernorm(x, w, torch.zeros(K)),
        "without gain": lambda x, w, b: layernorm(x, torch.ones(K), b),
        "half the terms": lambda x, w, b: layernorm(x, w, b, statistics=lambda v: [2 * s for s in welford(v[:, ::2])]),
        "without mean": lambda x, w, b: rmsnorm(x, w, eps=1e-5) + b.float(),
    },
    "rmsnorm": {
        "without eps": lambda x, w: rmsnorm(x, w, eps=0.0),
        "without gain": lambda x, w: rmsnorm(x, torch.ones(K)),
        "half the terms": lambda x, w: rmsnorm(x, w, add=lambda s: 2 * s[..., ::2].sum(-1)),
        "with mean": lambda x, w: layernorm(x, w, torch.zeros(K), eps=1e-6),
    },
    "sum": {"half the terms": lambda x: 2 * x[:, ::2].float().sum(-1),
            "without the last": lambda x: x[:, :-1].float().sum(-1)},
    "mean": {"half the terms": lambda x: x[:, ::2].float().mean(-1),
             "without the last": lambda x: x[:, :-1].float().sum(-1) / K},
    "var": {"half the terms": lambda x: x[:, ::2].float().var(-1), "biased": lambda x: variance(x, count=K),
            "about zero": lambda x: variance(x, mean=0.0)},
    "cumsum": {"forgets the carry": lambda x: torch.cat([p.float().cumsum(-1) for p in x.split(128, -1)], -1)},
    "gelu": {"sigmoid": lambda x: x.float() * torch.sigmoid(1.702 * x.float()), "relu": lambda x: x.float().relu(),
             "first order": lambda x: 0.5 * x.float() + 0.3989423 * x.float() ** 2},
    "conv2d": {
        "without bias": lambda x, w, b: conv2d(x, w, torch.zeros_like(b)),
        "half the channels": lambda x, w, b: conv2d(x * torch.tensor([2, 0] * 4).reshape(8, 1, 1), w, b),
    },
    "cross entropy": {
        "without maximum": lambda x, t: cross_entropy(x, t, shift=False),
        "half the terms": lambda x, t: cross_entropy(x, t, terms=slice(0, None, 2)) + math.log(2),
    },
    "attention": {
        "without scale": lambda q, k, v: attention(q * 8, k, v),
        "half the keys": lambda q, k, v: attention(q, k[:, ::2], v[:, ::2]),
    },
    "clamp": {"without it": lambda x: x.float() * 2, "one side": lambda x: x.float().clamp(max=1.5) * 2},
}  # fmt: skip
for _name, _ways in BROKEN.items():
    _ways.update({"tail": tail(_name), "one element": one(_name)})

IN_NARROW = [n for n in REFERENCES if n != "clamp"]
CONTRACTIONS = {
    "matmul": lambda x, y: to_tf32(x) @ to_tf32(y),
    "linear": lambda x, w, b: torch.nn.functional.linear(to_tf32(x), to_tf32(w), b),
    "conv2d": lambda x, w, b: conv2d(to_tf32(x), to_tf32(w), b),
    "attention": lambda q, k, v: attention(q, k, v, product=lambda a, b: to_tf32(a) @ to_tf32(b)),
}
NARROW_SUMS = {
    "matmul": lambda d: lambda x, y: add_up(x[:, :, None].float() * y[None].float(), d, 1),
    "sum": lambda d: lambda x: add_up(x, d),
    "mean": lambda d: lambda x: add_up(x, d) / K,
    "softmax": lambda d: lambda x: softmax(x, lambda e: add_up(e, d)[..., None]),
    "rmsnorm": lambda d: lambda x, w: rmsnorm(x, w, add=lambda s: add_up(s, d)),
    "var": lambda d: lambda x: add_up((x.float() - x.float().mean(-1, keepdim=True)) ** 2, d) / (K - 1),
    "cumsum": lambda d: lambda x: torch.stack([add_up(x[:, : n + 1], d) for n in range(K)], -1),
}  # fmt: skip
NARROW = {"float16": torch.float16, "bfloat16": torch.bfloat16}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", REFERENCES)
def test_honest_ways_pass(open_task, name, dtype):
    session = open_task(name, dtype)
    ways = {"plain": wide(name), **HONEST[name], **(HALF_HONEST.get(name, {}) if dtype != "float32" else {})}
    refused = {}
    for label, way in ways.items():
        refused.update({f"{label}: {case}": 0 for case, ok in verdicts(session, way).items() if not ok})
    assert refused == {}


UNSEEN = {("var", "biased", "bfloat16")}
"""One part in 256 is half a step of bfloat16."""
WAYS = [(n, w, d) for n, ways in BROKEN.items() for w in ways for d in FLOATS if (n, w, d) not in UNSEEN]


@pytest.mark.parametrize(("name", "way", "dtype"), WAYS)
def test_broken_ways_are_caught(open_task, name, way, dtype):
    found = verdicts(open_task(name, dtype), BROKEN[name][way])
    assert not all(found.values()), found


@pytest.mark.parametrize("inner", NARROW)
@pytest.mark.parametrize("name", IN_NARROW)
def test_float32_computed_in_a_narrow_dtype_is_caught(open_task, name, inner):
    found = verdicts(open_task(name, "float32"), narrow(PLAIN[name], NARROW[inner]))
    assert not found["draw0"] and not found["draw1"], found


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_float32_in_tf32_is_caught(open_task, name):
    found = verdicts(open_task(name, "float32"), CONTRACTIONS[name])
    assert not found["draw0"], found


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", NARROW)
@pytest.mark.parametrize("name", NARROW_SUMS)
def test_narrow_accumulators_are_caught(open_task, name, inner, dtype):
    if inner == "float16" and dtype == "bfloat16":
        pytest.skip("a float16 accumulator is finer than bfloat16 itself")
    found = verdicts(open_task(name, dtype), NARROW_SUMS[name](NARROW[inner]))
    assert not all(found.values()), found


# What the value classes reach.


def extremes(session, case):
    packed = session.entry(case, "check").packed
    floats = [a.float().abs() for a in packed.values(packed.image.copy()) if a.is_floating_point()]
    return max(float(a.max()) for a in floats)


@pytest.mark.parametrize("name", ["matmul", "softmax", "rmsnorm", "gelu", "cross entropy", "attention"])
def test_large_values_are_beyond_the_range_of_float16(open_task, name):
    session = open_task(name, "float32")
    cases = {c.name: c for c in session.cases}
    assert extremes(session, cases["large"]) > 65504
    found = verdicts(
        session, lambda *args: wide(name)(*(a.clamp(-65504, 65504) if a.is_floating_point() else a for a in args))
    )
    assert found["draw0"]


@pytest.mark.parametrize("name", ["matmul", "sum", "cumsum", "var", "clamp"])
def test_tiny_values_are_below_the_normal_range_of_float16(open_task, name):
    session = open_task(name, "float32")
    cases = {c.name: c for c in session.cases}
    assert extremes(session, cases["tiny"]) < 6.1e-5


@pytest.mark.parametrize("name", ["matmul", "sum", "cumsum", "var"])
def test_flushing_what_float16_has_no_normal_numbers_for_is_caught(open_task, name):
    flush = lambda a: torch.where(a.abs() < 6.1e-5, torch.zeros_like(a), a)  # noqa: E731
    found = verdicts(open_task(name, "float32"), lambda *args: wide(name)(*map(flush, args)))
    assert not found["tiny"], found


@pytest.mark.parametrize("name", ["matmul", "sum", "cumsum"])
def test_rounding_tiny_values_to_float16_is_caught_where_the_answer_scales_with_them(open_task, name):
    found = verdicts(open_task(name, "float32"), lambda *args: wide(name)(*(a.half().float() for a in args)))
    assert not found["tiny"], found


# Binary inputs: exact answers are demanded where there are any.

COUNT = """
import torch
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    return [torch.randn(SHAPE, generator=g, device=device).to(torch.DTYPE)]
def reference(x):
    return x.sum(-1)
"""


def count_task(shape, dtype):
    from kengine import codec
    from kengine.judge.server import Judge
    from kengine.model import Case, Task, TaskSpec

    judge = Judge()
    source = COUNT.replace("SHAPE", shape).replace("DTYPE", dtype)
    task = Task("count", "function", source, spec=TaskSpec(cases=(Case("own"), Case("binary", values="binary"))))
    answer, _ = judge.answer({"op": "open", "task": codec.to_json(task), "salt": "5a" * 16, "device": "cpu"}, [])
    assert answer["ok"], answer
    return judge, judge.sessions[answer["task_id"]]


def test_one_missing_term_of_a_million_is_seen():
    judge, session = count_task("2, 1_000_000", "float32")
    without = lambda x: torch.stack([row[row.nonzero()[1:, 0]].double().sum() for row in x])  # noqa: E731
    found = verdicts(session, without)
    assert not found["binary"]
    assert verdicts(session, lambda x: x.double().sum(-1)) == {"own": True, "binary": True}
    assert verdicts(session, lambda x: add_blocks(x, size=1000)) == {"own": True, "binary": True}
    judge.shut()


def test_binary_inputs_thin_out_until_a_narrow_dtype_holds_the_sum():
    judge, session = count_task("4, 1000", "bfloat16")
    case = session.cases[1]
    packed = session.entry(case, "check").packed
    (x,) = packed.values(packed.image.copy())
    assert set(x.float().unique().tolist()) == {0.0, 1.0}
    assert x.float().sum(-1).max() <= 256 and session._factors["binary"] == 0.125
    assert not verdicts(session, lambda x: x.float().sum(-1) + 1)["binary"]
    judge.shut()


def test_binary_parameters_and_what_has_no_whole_answer(bench, make_task):
    source = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.l = torch.nn.Linear(64, 5)\n    def forward(self, x):\n        return self.l(x)\n"
    source += "def get_inputs():\n    return [torch.randn(12, 64)]\ndef get_init_inputs():\n    return []\n"
    opened = bench.open(make_task(source, form="module"))
    names = [c["name"] for c in opened["cases"]]
    right = lambda init, state, x: x.double() @ state["l.weight"].T.double() + state["l.bias"]  # noqa: E731
    (lent,) = bench.lend(names.index("binary"))
    assert set(lent.state["l.weight"].unique().tolist()) == {0.0, 1.0}
    assert bench.run(lambda *a: right(*a).float(), names.index("binary")).ok
    opened = bench.open(make_task(source.replace("self.l(x)", "self.l(x).tanh()"), form="module"))
    assert opened["skipped"] == {} and "binary" not in [c["name"] for c in opened["cases"]]
    cases = [{"name": "own"}, {"name": "ones", "values": "binary"}]
    opened = bench.open(make_task(source.replace("self.l(x)", "self.l(x).tanh()"), form="module", cases=cases))
    assert "whole numbers" in opened["skipped"]["ones"]
    # Ties: which of two equal places is named is the kernel's own affair.
    opened = bench.open(make_task(source.replace("self.l(x)", "self.l(x).argmax(-1)"), form="module", cases=cases))
    assert "ones" in opened["skipped"]
