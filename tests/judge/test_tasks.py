"""Real tasks from open to comparison: right candidates pass every case, wrong ones fail in the way that is said."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

torch = pytest.importorskip("torch")

RMSNORM = """
import torch
def reference(x, w, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * w
def make_inputs(seed, device, rows=16, cols=256, dtype="float32"):
    g = torch.Generator(device).manual_seed(seed)
    x = torch.randn(rows, cols, generator=g, device=device)
    w = torch.rand(cols, generator=g, device=device) + 0.5
    return [x.to(getattr(torch, dtype)), w.to(getattr(torch, dtype)), 1e-6]
"""


def rmsnorm(x, w, eps):
    y = x.float()
    total = torch.zeros(y.shape[0])
    for start in range(0, y.shape[1], 64):  # another order of summing
        total += (y[:, start : start + 64] ** 2).sum(1)
    return ((y * (total / y.shape[1] + eps).rsqrt()[:, None]) * w.float()).to(x.dtype)


def test_rmsnorm_passes_every_default_case(bench, make_task):
    answer = bench.open(make_task(RMSNORM), screen=True)
    assert answer["ok"], answer
    assert bench.names() == ["draw0", "outlier", "draw1", "large", "tiny", "zeros", "draw2"]
    assert answer["skipped"] == {}
    assert answer["arity"] == 3 and answer["module"] is False
    for name, c in bench.run_all(rmsnorm).items():
        assert c.ok, (name, c)
        assert c.problem == "" and c.wrong == 0 and c.total == 16 * 256 and c.error_ratio < 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_rmsnorm_in_narrow_dtypes(bench, make_task, dtype):
    params = {"rows": 8, "cols": 1000, "dtype": dtype}
    bench.open(make_task(RMSNORM, cases=[{"name": "n", "params": params}]), screen=True)
    assert bench.opened["ok"], bench.opened
    assert bench.run(rmsnorm).ok
    assert not bench.run(lambda x, w, eps: rmsnorm(x - x.mean(-1, keepdim=True), w, eps)).ok
    assert not bench.run(lambda x, w, eps: rmsnorm(x, w, eps) * 1.02).ok


def half_sum(x, w, eps):
    total = torch.zeros(x.shape[0], dtype=torch.float16)
    for column in (x.half() ** 2).T:
        total = total + column
    return (x.float() * (total.float() / x.shape[1] + eps).rsqrt()[:, None] * w.float()).to(x.dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_rmsnorm_that_sums_in_half_fails_on_a_long_row(bench, make_task, dtype):
    params = {"rows": 4, "cols": 8192, "dtype": dtype}
    bench.open(make_task(RMSNORM, cases=[{"name": "long", "params": params}]))
    assert bench.run(rmsnorm).ok
    c = bench.run(half_sum)
    assert not c.ok and c.error_ratio > 1.5 and "elements are wrong" in c.problem


SOFTMAX = """
import torch
def reference(x):
    return torch.softmax(x, -1)
def make_inputs(seed, device, n=512):
    return [torch.randn(32, n, generator=torch.Generator(device).manual_seed(seed), device=device)]
"""


def test_softmax_needs_its_maximum_on_large_values(bench, make_task):
    bench.open(make_task(SOFTMAX), screen=True)
    assert bench.opened["ok"], bench.opened

    def stable(x):
        e = torch.exp(x - x.amax(-1, keepdim=True))
        return e / e.sum(-1, keepdim=True)

    results = bench.run_all(stable)
    assert {n: c.ok for n, c in results.items()} == dict.fromkeys(bench.names(), True)
    naive = bench.run_all(lambda x: torch.exp(x) / torch.exp(x).sum(-1, keepdim=True))
    assert naive["draw0"].ok
    assert not naive["large"].ok and naive["large"].nonfinite > 0


MATMUL = """
import torch
def reference(a, b):
    return a @ b
def make_inputs(seed, device, m=64, k=512, n=96, positive=False):
    g = torch.Generator(device).manual_seed(seed)
    f = torch.rand if positive else torch.randn
    return [f(m, k, generator=g, device=device), f(k, n, generator=g, device=device)]
"""


def test_matmul_right_and_downgraded(bench, make_task):
    bench.open(make_task(MATMUL), screen=True)
    assert bench.opened["ok"], bench.opened
    assert all(c.ok for c in bench.run_all(lambda a, b: a @ b).values())
    for dtype in (torch.float16, torch.bfloat16):
        got = bench.run_all(lambda a, b, d=dtype: a.to(d).float() @ b.to(d).float())
        assert not got["draw0"].ok and not got["outlier"].ok


SUM = """
import torch
def reference(x):
    return x.sum()
def make_inputs(seed, device, n=1 << 20):
    return [torch.randn(n, generator=torch.Generator(device).manual_seed(seed), device=device)]
"""


def test_sum_of_a_million_in_sequence(bench, make_task):
    bench.open(make_task(SUM, cases=[{"name": f"d{i}", "draw": i} for i in range(4)]), screen=True)
    assert bench.opened["ok"], bench.opened
    sequential = lambda x: torch.from_numpy(np.cumsum(x.numpy(), dtype=np.float32)[-1:]).reshape(())  # noqa: E731
    for c in bench.run_all(sequential).values():
        assert c.ok, c
    for c in bench.run_all(lambda x: x[: len(x) // 2].sum()).values():
        assert not c.ok


TOPK = """
import torch
def reference(x):
    return torch.topk(x, 4, -1)
def make_inputs(seed, device):
    return [torch.randn(10, 100, generator=torch.Generator(device).manual_seed(seed), device=device)]
"""


def test_integer_outputs_are_exact_and_nesting_is_strict(bench, make_task):
    bench.open(make_task(TOPK), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    assert bench.run(lambda x: tuple(torch.topk(x, 4, -1))).ok

    def off_by_one(x):
        values, indices = torch.topk(x, 4, -1)
        indices = indices.clone()
        indices[3, 2] += 1
        return values, indices

    c = bench.run(off_by_one)
    assert not c.ok and c.wrong == 1 and c.worst.index == (3, 2) and c.worst.output == 1
    assert int(c.worst.got) == int(c.worst.expected) + 1 and c.max_abs_err == 1.0
    assert "list" in bench.run(lambda x: list(torch.topk(x, 4, -1))).problem
    assert "int32" in bench.run(lambda x: (torch.topk(x, 4, -1)[0], torch.topk(x, 4, -1)[1].int())).problem
    assert "an array" in bench.run(lambda x: torch.topk(x, 4, -1)[0]).problem
    assert "a tuple of 1, expected 2" in bench.run(lambda x: (torch.topk(x, 4, -1)[0],)).problem


COMPLEX = """
import torch
def reference(x):
    return torch.fft.fft(x)
def make_inputs(seed, device):
    return [torch.randn(8, 64, generator=torch.Generator(device).manual_seed(seed), device=device)]
"""


def test_complex(bench, make_task):
    bench.open(make_task(COMPLEX), cases=2, screen=True)
    assert bench.opened["ok"], bench.opened
    k = torch.arange(64, dtype=torch.float64)
    matrix = torch.exp(-2j * torch.pi * torch.outer(k, k) / 64).to(torch.complex64)
    assert bench.run(lambda x: x.to(torch.complex64) @ matrix).ok
    c = bench.run(lambda x: (x.to(torch.complex64) @ matrix).conj().resolve_conj())
    assert not c.ok and "j" in c.worst.expected


IN_PLACE = """
import torch
def reference(x, y):
    x.add_(y)
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    return [torch.randn(300, generator=g, device=device), torch.randn(300, generator=g, device=device)]
"""


def test_in_place_outputs(bench, make_task):
    bench.open(make_task(IN_PLACE, writes=("x",)), screen=True)
    assert bench.opened["ok"], bench.opened
    assert bench.opened["views"][0]["writes"] == [0]
    assert all(c.ok for c in bench.run_all(lambda x, y: (x.add_(y), None)[1]).values())
    c = bench.run(lambda x, y: None)
    assert not c.ok and c.mutated == ()
    c = bench.run(lambda x, y: (x.add_(y), y.zero_(), None)[2])
    assert not c.ok and c.mutated == ("y",) and "wrote to y" in c.problem


def test_undeclared_writes(bench, make_task):
    answer = bench.open(make_task(IN_PLACE))
    assert answer["error"] == "task" and "writes = ['x']" in answer["message"]


def test_mutated_input_fails_a_right_answer(bench, make_task):
    bench.open(make_task(SOFTMAX), cases=1)

    def candidate(x):
        y = torch.softmax(x, -1)
        x[3, 4] = 0
        return y

    c = bench.run(candidate)
    assert not c.ok and c.mutated == ("x",) and c.wrong == 0


def test_write_between_inputs_is_noticed(bench, make_task):
    bench.open(make_task(MATMUL), cases=1)
    (lent,) = bench.lend(0)
    first = lent.bundle["args"][0]
    result = lent.args[0] @ lent.args[1]
    lent.view[first["at"] + first["nbytes"] + 8] = 0
    answer = bench.compare(0, lent.describe([result]))
    assert not answer["comparison"]["ok"] and "out of bounds" in answer["comparison"]["problem"]


MODEL = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width, out):
        super().__init__()
        self.linear = torch.nn.Linear(width, out)
        self.norm = torch.nn.LayerNorm(out)
    def forward(self, x):
        return torch.relu(self.norm(self.linear(x)))
batch = 6
def get_inputs():
    return [torch.randn(batch, 32)]
def get_init_inputs():
    return [32, 24]
"""


def test_module_with_parameters(bench, make_task):
    bench.open(
        make_task(MODEL, form="module", cases=[{"name": "a"}, {"name": "b", "params": {"batch": 11}}]), screen=True
    )
    assert bench.opened["ok"], bench.opened
    assert bench.opened["module"] is True
    assert [v["outputs"][0]["shape"] for v in bench.opened["views"]] == [[6, 24], [11, 24]]

    def right(init, state, x):
        assert init == [32, 24]
        y = x @ state["linear.weight"].T + state["linear.bias"]
        y = (y - y.mean(-1, keepdim=True)) / torch.sqrt(y.var(-1, keepdim=True, unbiased=False) + 1e-5)
        return torch.relu(y * state["norm.weight"] + state["norm.bias"])

    assert all(c.ok for c in bench.run_all(right).values())

    def no_gain(init, state, x):
        return right(init, {**state, "norm.weight": torch.ones(24), "norm.bias": torch.zeros(24)}, x)

    assert not bench.run(no_gain).ok


NUMPY = """
import numpy as np
def forward(x, w):
    return np.maximum(x @ w, 0)
def get_inputs():
    return [np.random.randn(16, 40).astype(np.float32), np.random.randn(40, 8).astype(np.float32)]
"""


def test_numpy_form(bench, make_task):
    bench.open(make_task(NUMPY, form="numpy"), screen=True)
    assert bench.opened["ok"], bench.opened
    for name, c in bench.run_all(lambda x, w: np.maximum(np.einsum("ik,kj->ij", x, w), 0)).items():
        assert c.ok, (name, c)
    assert not bench.run(lambda x, w: np.maximum(x @ w, 0.5)).ok
    assert "float64" in bench.run(lambda x, w: np.maximum(x @ w, 0).astype(np.float64)).problem


def test_numpy_task_in_a_process_without_torch(tmp_path):
    program = textwrap.dedent(
        f"""
        import sys
        sys.modules["torch"] = None  # importing it raises
        import os, mmap
        from kengine import codec
        from kengine.judge.server import Judge
        from kengine.model import Task
        task = Task("n", "numpy", {NUMPY!r})
        judge = Judge()
        opened, _ = judge.answer({{"op": "open", "task": codec.to_json(task), "salt": "00" * 8, "device": "cpu",
                                  "cases": None, "screen": True}}, [])
        assert opened["ok"], opened
        lent, fds = judge.answer({{"op": "lend", "task_id": opened["task_id"], "cases": [0], "phase": "check",
                                  "holder": "r"}}, [])
        assert lent["ok"], lent
        bundle = lent["bundles"][0]
        spec = opened["views"][0]["outputs"][0]
        out = [{{"k": "array", "spec": {{"dtype": spec["dtype"], "shape": spec["shape"], "strides": []}},
                "type": "numpy.ndarray", "device": "cpu", "alias": "", "sink": 0}}]
        got, _ = judge.answer({{"op": "compare", "task_id": opened["task_id"], "case": 0, "phase": "check",
                               "holder": "r", "outputs": out}}, [])
        assert got["ok"] and not got["comparison"]["ok"] and got["comparison"]["nonfinite"] == 128, got
        assert "nothing had been written" in got["comparison"]["where"], got
        judge.shut()
        print("fine", sorted(m for m in sys.modules if m.startswith("torch")))
        """
    )
    import kengine

    root = str(next(iter(kengine.__path__))).rsplit("/", 1)[0]
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env={"PYTHONPATH": root}, timeout=120
    )
    assert done.stdout == "fine ['torch']\n", done.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
@pytest.mark.parametrize("made", ["torch.Generator('cuda')", "torch.ones(4, device='cuda')", "torch.cuda.Stream()"])
def test_a_task_that_asks_for_a_gpu_itself_is_told_what_to_do(bench, make_task, made):
    text = f"import torch\ndef reference(x): return x\ndef make_inputs(seed, device):\n    {made}\n    return (1,)\n"
    answer = bench.open(make_task(text))
    assert not answer["ok"]
    assert "it asks for a GPU itself: make its arrays on the device that it is given" in str(answer), answer
    assert "must accept seed" not in str(answer)


ORDER = """
import torch
def reference(x):
    return EXPRESSION
def make_inputs(seed, device, rows=4, cols=50):
    return (torch.randn(rows, cols, generator=torch.Generator(device).manual_seed(seed), device=device),)
"""


@pytest.mark.parametrize(
    ("expression", "left_out"),
    [
        ("x.topk(5)", True),
        ("torch.argsort(x)", True),
        ("x.median(-1)", True),
        ("x.topk(5)[0]", False),  # values alone are the same whichever of equal elements is taken
        ("x.argmax(-1)", False),  # promises the first
        ("(x > 0).sum(-1)", False),
    ],
)
def test_places_among_equal_elements_are_not_asked_for(bench, make_task, expression, left_out):
    answer = bench.open(make_task(ORDER.replace("EXPRESSION", expression)), screen=True)
    assert answer["ok"], answer
    assert ("zeros" in bench.names()) is not left_out
    assert ("any order is right" in answer["skipped"].get("zeros", "")) is left_out
