"""Floors under times: what must move and be multiplied is counted, and honest short cuts stay above them."""

from __future__ import annotations

import time

import pytest
from kengine.judge import ceilings, roofline
from kengine.judge.ceilings import Ceilings
from kengine.judge.clock import HostInstruments

torch = pytest.importorskip("torch")

HEAD = """
import torch
import torch.nn.functional as F
def make_inputs(seed, device):
    g = torch.Generator(device).manual_seed(seed)
    draw = lambda *s: torch.randn(*s, generator=g, device=device)
    return INPUTS
def reference(ARGS):
    return BODY
"""
BIG = 512 * 1024 * 4


RATES = Ceilings(1e9, {"float16": 1e12, "float32": 1e11})


class Device(HostInstruments):
    """A device with a cache of 64 KiB whose memory moves a byte each nanosecond."""

    def __init__(self, peak=None, rates=RATES, cache=1 << 16):
        self.peak, self.rates, self.cache = peak, rates, cache

    def cache_bytes(self):
        return self.cache

    def bandwidth(self):
        return self.peak

    def ceilings(self):
        return self.rates


@pytest.fixture
def session(bench, make_task):
    def make(body, inputs="[draw(512, 1024)]", args="x", **spec):
        source = HEAD.replace("INPUTS", inputs).replace("ARGS", args).replace("BODY", body)
        opened = bench.open(make_task(source, **spec), cases=1)
        assert opened["ok"], opened
        return bench.judge.sessions[opened["task_id"]]

    return make


def work(made):
    return roofline.estimate(made, made.cases[0], 1 << 16)


def test_elementwise_reads_and_writes(session):
    found = work(session("torch.tanh(x * 0.01)"))
    assert found.written == BIG - (1 << 16)
    assert found.read == pytest.approx(0.4 * BIG - (1 << 16), rel=1e-3)
    assert found.operations == 0


READS = {
    "a sum": ("x.sum(-1)", True),
    "a maximum": ("x.amax()", True),
    "one row": ("x[3] * 2", False),
    "a half": ("x[:, ::2] * 2", False),
    "a masked half": ("x.masked_fill(torch.arange(1024) % 2 == 0, 0.0) * 3", False),
    "a gather": ("F.embedding(torch.arange(0, 512, 4), x)", False),
}


@pytest.mark.parametrize("kind", READS)
def test_what_must_be_read(session, kind):
    body, must = READS[kind]
    assert (work(session(body)).read > 0) is must


def test_zeros_need_not_be_read(session):
    dense = work(session("x.cumsum(-1)")).read
    triangle = work(session("x.cumsum(-1)", "[draw(512, 1024).tril()]")).read
    assert triangle < 0.5 * dense


def test_views_need_not_be_written_and_written_inputs_count_for_nothing(session):
    assert work(session("x.T")).written == 0
    assert work(session("x.T.contiguous()")).written > 0
    source = "x.index_put_((torch.arange(3),), torch.zeros(3, 1024))"
    assert work(session(f"({source}, None)[1]", writes=("x",))) == roofline.Work()


PRODUCTS = {
    "product": ("x @ y", 2.0 * 512 * 1024 * 512 / 4),
    "with an activation": ("torch.relu(x @ y)", 2.0 * 512 * 1024 * 512 / 4),
    "linear": ("F.linear(x, y.T, x[0, :512])", 2.0 * 512 * 1024 * 512 / 4),
    "summed afterwards": ("(x @ y).sum(-1)", 0.0),
    "sliced afterwards": ("(x @ y)[:, ::2] * 1.5", 0.0),
    "of something computed": ("torch.diag(x[0, :512]) @ y.T", 0.0),
    "with a constant": ("x @ torch.ones(1024, 512)", 0.0),
}


@pytest.mark.parametrize("kind", PRODUCTS)
def test_products(session, kind):
    body, operations = PRODUCTS[kind]
    assert work(session(body, "[draw(512, 1024), draw(1024, 512)]", "x, y")).operations == pytest.approx(
        operations, rel=1e-4
    )


def test_products_of_triangles_count_what_is_not_zero(session):
    found = work(session("torch.tril(x @ y)", "[draw(256, 256).tril(), draw(256, 256).tril()]", "x, y"))
    # An honest kernel does a sixth of the products of two triangles.
    assert found.operations < 2.0 * 256**3 / 6


def test_convolutions(session):
    small = work(session("F.conv2d(x, w)", "[draw(2, 8, 32, 32), draw(16, 8, 3, 3)]", "x, w"))
    assert small.operations == pytest.approx(2.0 * 2 * 16 * 30 * 30 * 8 * 9 / 6)
    large = work(session("F.conv2d(x, w)", "[draw(2, 8, 32, 32), draw(16, 8, 7, 7)]", "x, w"))
    assert large.operations == 0


def test_parameters_of_a_module_are_operands(bench, make_task):
    source = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.l = torch.nn.Linear(300, 200)\n    def forward(self, x):\n        return self.l(x)\n"
    source += "def get_inputs():\n    return [torch.randn(100, 300)]\ndef get_init_inputs():\n    return []\n"
    opened = bench.open(make_task(source, form="module"), cases=1)
    assert work(bench.judge.sessions[opened["task_id"]]).operations == pytest.approx(
        2.0 * 100 * 300 * 200 / 4, rel=1e-4
    )


def test_floors(session):
    made = session("torch.tanh(x * 0.01)")
    case = made.cases[0]
    ns, what = roofline.floor(made, case, Device())
    assert ns == pytest.approx((1.4 * BIG - (2 << 16)) / 1.25, rel=1e-3)
    assert what == "reading its inputs and writing its outputs"
    assert roofline.floor(made, case, Device(peak=4e9))[0] == pytest.approx(ns * 1.25 / 4, rel=1e-3)
    assert roofline.floor(made, case, Device(rates=Ceilings())) is None
    assert roofline.floor(made, case, HostInstruments()) is None
    assert roofline.floor(made, case, Device(cache=BIG)) is None
    made = session("x @ y", "[draw(512, 1024), draw(1024, 512)]", "x, y")
    ns, what = roofline.floor(made, made.cases[0], Device(rates=Ceilings(1e15, {"float16": 1e9})))
    assert ns == pytest.approx(2.0 * 512 * 1024 * 512 / 4 / 1.25, rel=1e-4) and what == "its matrix products"


def test_a_reference_that_cannot_be_traced_has_no_floor(session, monkeypatch):
    made = session("torch.tanh(x)")
    monkeypatch.setattr(roofline, "_trace", lambda *a: (_ for _ in ()).throw(RuntimeError("no")))
    assert roofline.floor(made, made.cases[0], Device()) is None


def test_ceilings_are_the_best_of_what_was_measured():
    calls = []

    def clock(batch):
        calls.append(len(batch))
        batch[0]()
        return [1000 * (n + 1) for n in range(len(batch))]

    found = ceilings.measure(clock, "cpu", nbytes=1 << 16, size=16)
    assert found.bytes_per_s == pytest.approx(2 * (1 << 16) / 1e-6)
    assert dict(found.operations_per_s) == pytest.approx(dict.fromkeys(ceilings.DTYPES, 2 * 16**3 / 1e-6))
    assert found.best == max(found.operations_per_s.values()) and calls == [ceilings.REPEATS] * 6
    assert Ceilings().best == 0.0


def test_what_a_case_needs_is_worked_out_once(session, monkeypatch):
    made, asked = session("x * 2.0"), []
    inner = roofline.estimate
    monkeypatch.setattr(roofline, "estimate", lambda *given: (asked.append(given[2]), inner(*given))[1])
    first = roofline.floor(made, made.cases[0], Device())
    assert first == roofline.floor(made, made.cases[0], Device()) and first[0] > 0
    assert asked == [1 << 16]
    roofline.floor(made, made.cases[0], Device(cache=1 << 20))
    assert asked == [1 << 16, 1 << 20]


def test_measured_rates_are_plausible_on_this_host():
    def clock(batch):
        times = []
        for call in batch:
            begun = time.perf_counter_ns()
            call()
            times.append(time.perf_counter_ns() - begun)
        return times

    found = ceilings.measure(clock, "cpu", nbytes=1 << 24, size=256)
    assert 1e8 < found.bytes_per_s < 1e13 and 1e7 < found.best < 1e14


@pytest.mark.device
def test_honest_kernels_stay_above_the_floor_on_a_device():
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA or ROCm device")
    from kengine.judge.clock import DeviceInstruments

    tools = DeviceInstruments()
    found = tools.ceilings()
    assert found is tools.ceilings() and found.bytes_per_s > 1e10 and found.best > 1e12
    n = 8192
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out = torch.empty_like(a)
    best = min(tools.measure([lambda: torch.mm(a, b, out=out)] * 5, tools.methods()[0]))
    assert best > 2.0 * n**3 / 4 / (1.25 * found.best) * 1e9
    assert (
        min(tools.measure([lambda: out.copy_(a)] * 5, tools.methods()[0]))
        > 2 * a.nbytes / (1.25 * found.bytes_per_s) * 1e9
    )
