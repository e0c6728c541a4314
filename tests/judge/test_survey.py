"""A survey of a task finds each thing that a wrong kernel could hide behind, and nothing in tasks that are sound."""

from __future__ import annotations

import pytest
from kengine import codec
from kengine.model import TaskFinding

torch = pytest.importorskip("torch")

MODULE = """
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}
    def forward(self, {names}):
        return {body}
def get_inputs():
    return [{inputs}]
def get_init_inputs():
    return []
"""


def module(body, inputs="torch.randn(16, 64)", init="pass", names="x"):
    return MODULE.format(body=body, inputs=inputs, init=init, names=names)


CONV = "self.c = nn.Conv2d(3, 8, 3); self.b = nn.BatchNorm2d(8)"
LINEAR = "self.g = nn.Linear(64, 32)"
PLAIN = "import torch\ndef make_inputs(seed, device, n=64):\n    g = torch.Generator(device).manual_seed(seed)\n"


def function(body, inputs="torch.randn(32, n, generator=g)", names="x"):
    return f"{PLAIN}    return [{inputs}]\ndef reference({names}):\n    return {body}\n"


ILL = {
    "zeros": (module("x * 0"), ("error", "zeros"), "zeros would pass"),
    "constant": (module("torch.softmax(x, 1).mean(1)"), ("error", "constant"), "a constant would pass"),
    "copy": (module("torch.relu(x)", "torch.rand(16, 64)"), ("error", "copy"), "a copy of an input"),
    "copy, why": (module("torch.relu(x)", "torch.rand(16, 64)"), ("warning", "idle-operator"), "aten::relu"),
    "insensitive": (
        module("torch.arange(1., 65.).expand(16, 64) + 1e-9 * x"),
        ("error", "insensitive"),
        "other inputs would pass",
    ),
    "cancelled": (
        module("(lambda y: F.gelu(y - y.mean(1, keepdim=True)))(self.g(x).amax(1, keepdim=True))", init=LINEAR),
        ("error", "zeros"),
        "before the last reduction",
    ),
    "dropout": (module("F.dropout(x, 0.1)"), ("error", "nondeterministic"), "two runs"),
    "fixed inputs": (function("x * 2", "torch.arange(9.)"), ("error", "fixed-inputs"), "for every seed"),
    "values as shapes": (function("x[x > 0]"), ("error", "shapes"), "depend on the values"),
    "raises": (function("x @ x @ x"), ("error", "broken"), "the reference raised"),
    "syntax": ("def reference(x:\n", ("error", "broken"), "SyntaxError"),
    "undefined": (module("torch.log(x)"), ("warning", "nonfinite"), "is not finite"),
    "overflow": (module("torch.exp(x * 40)"), ("warning", "overflow"), "overflows in its own precision"),
    "infinite for a reason": (
        module("(x * 2).masked_fill(x > 1, float('-inf'))"),
        ("note", "nonfinite"),
        "no value is compared",
    ),
    "bias cancelled by a norm": (
        module("self.b(self.c(x))", "torch.randn(4, 3, 8, 8)", CONV),
        ("warning", "identity"),
        "c.bias (zeros will do)",
    ),
    "mask of ones": (
        module("(x * 2).masked_fill(~m, 0)", "torch.randn(16, 64), torch.ones(16, 64, dtype=torch.bool)", names="x, m"),
        ("warning", "identity"),
        "input m (true will do)",
    ),
    "unused input": (
        function("x.cumsum(-1)", "torch.randn(8, n, generator=g), torch.randn(n, generator=g)", "x, w"),
        ("warning", "unbound"),
        "input w",
    ),
    "unused layer": (
        module("(self.h(x), self.g(x))[1]", init=LINEAR + "; self.h = nn.Linear(64, 9)"),
        ("warning", "unbound"),
        "parameters h.weight, h.bias",
    ),
    "dead call": (module("(x.cumsum(1), x.exp())[1]"), ("warning", "dead-operator"), "aten::cumsum at line 10"),
    "dead in place": (
        "import torch\ndef make_inputs(seed, device):\n    return [torch.randn(8, 9, generator=torch.Generator()"
        ".manual_seed(seed))]\ndef reference(x):\n    y = x.exp()\n    y.mul_(3)\n    return x.cumsum(1)\n",
        ("warning", "dead-operator"),
        "aten::exp at line 5, aten::mul_ at line 6",
    ),
    "idle clamp": (module("self.g(x).clamp(-1e9, 1e9)", init=LINEAR), ("warning", "idle-operator"), "clamp"),
    "logsumexp of one": (
        module("torch.logsumexp(torch.logsumexp(self.g(x), 1, keepdim=True), 1, keepdim=True)", init=LINEAR),
        ("warning", "idle-operator"),
        "aten::logsumexp",
    ),
    "small": (module("x.cumsum(1)"), ("note", "small"), "KiB"),
    "numpy": (
        "import numpy as np\ndef forward(x):\n    return np.cumsum(x, 1)\n"
        "def get_inputs():\n    return [np.random.randn(6, 50).astype(np.float32)]\n",
        ("note", "untraced"),
        "cannot be traced",
    ),
}  # fmt: skip


def look(bench, task):
    answer, _ = bench.ask("screen", task=codec.to_json(task), salt="5a" * 16, device="cpu", cases=None)
    assert answer["ok"], answer
    return [codec.from_json(f, TaskFinding) for f in answer["findings"]]


def form_of(source):
    return "module" if "class Model" in source else "numpy" if "def forward" in source else "function"


@pytest.mark.parametrize("kind", ILL)
def test_what_is_found(bench, make_task, kind, monkeypatch):
    source, (severity, check), text = ILL[kind]
    if kind == "numpy":
        monkeypatch.delitem(__import__("sys").modules, "torch")
    found = look(bench, make_task(source, form=form_of(source)))
    hits = [f for f in found if (f.severity, f.check) == (severity, check)]
    assert hits, found
    assert text in hits[0].message or text in hits[0].fix, hits
    assert all(f.fix for f in found), found


def test_a_gain_of_ones_is_told_unless_other_values_make_it_bind(bench, make_task):
    source = function("torch.tanh(x) * w", "torch.randn(8, n, generator=g), torch.ones(n)", "x, w")
    (hit,) = [f for f in look(bench, make_task(source, cases=[{"name": "own"}])) if f.check == "identity"]
    assert "input w (ones will do)" in hit.message
    assert not [f for f in look(bench, make_task(source)) if f.severity != "note"]  # "large" makes it 1024


def test_what_a_task_allows_is_not_told(bench, make_task):
    source = ILL["dead call"][0]
    assert "dead-operator" in {f.check for f in look(bench, make_task(source, form="module"))}
    allowing = make_task(source, form="module", allow=("dead-operator",))
    assert "dead-operator" not in {f.check for f in look(bench, allowing)}


def test_a_loose_tolerance_is_told_and_a_tight_one_is_not(bench, make_task):
    from kengine.model import Tolerance

    source = function("torch.tanh(x) * 2")
    loose = look(bench, make_task(source, tolerance=Tolerance(rtol=2e-2)))
    (hit,) = [f for f in loose if f.check == "loose"]
    assert "bfloat16 passes in every case (rtol = 0.02)" in hit.message and "lower rtol" in hit.fix
    half = look(bench, make_task(source, tolerance=Tolerance(rtol=2e-3)))
    assert "float16 passes" in next(f.message for f in half if f.check == "loose")
    assert not [f for f in look(bench, make_task(source)) if f.check == "loose"]


SOUND = {
    "softmax": module("torch.softmax(x, 1)"),
    "linear": module("self.g(x)", init=LINEAR),
    "gain": module("torch.tanh(x) * self.s", init="self.s = nn.Parameter(torch.ones(1))"),
    "frozen norm": module("self.b(x)", "torch.rand(4, 8, 6, 6)", "self.b = nn.BatchNorm2d(8); self.eval()"),
    "clamp": module("F.gelu(F.hardtanh(self.g(x) * 4, -2, 2))", init=LINEAR),
    "loss": module("F.cross_entropy(x, t)", "torch.randn(64, 10), torch.randint(0, 10, (64,))", names="x, t"),
    "masked": module("(x * m).cumsum(1)", "torch.randn(8, 90), torch.randint(0, 2, (8, 90)).bool()", names="x, m"),
    "causal": module("torch.softmax(x.masked_fill(torch.ones(9, 9).triu(1) > 0, float('-inf')), -1)",
                     "torch.randn(4, 9, 9)"),
    "rms": function("x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()"),
    "argmax": function("x.argmax(-1)"),
    "gather": function("torch.gather(x, 1, i)",
                       "torch.randn(9, n, generator=g), torch.randint(0, n, (9, 5), generator=g)", "x, i"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SOUND)
def test_nothing_is_found_in_sound_tasks(bench, make_task, kind):
    found = look(bench, make_task(SOUND[kind], form=form_of(SOUND[kind])))
    assert [f for f in found if f.severity != "note"] == []


def test_time_is_bounded(bench, make_task):
    from kengine.judge import survey

    bench.open(make_task(function("x" + ".tanh()" * 80)), cases=1)
    (session,) = bench.judge.sessions.values()
    found = list(survey.survey(session, budget_s=30))
    assert "64 of 80 operators" in next(f.message for f in found if f.check == "untraced")
    found = list(survey.find_dead_operators(session, 0.0))
    assert [f.message for f in found] == ["0 of 80 operators of the reference were altered"]


def checks(found):
    return {(f.severity, f.check) for f in found if f.severity != "note"}


@pytest.mark.parametrize("kind", ["dropout", "fixed inputs", "values as shapes", "insensitive"])
def test_after_an_error_nothing_further_is_looked_for(bench, make_task, kind):
    source, wanted, _ = ILL[kind]
    found = look(bench, make_task(source, form=form_of(source)))
    assert {f.severity for f in found} == {"error"} and wanted in checks(found)


def test_what_a_norm_has_seen_in_training_is_no_part_of_its_answer(bench, make_task):
    source = module("self.b(x)", "torch.randn(4, 8, 6, 6)", "self.b = nn.BatchNorm2d(8)")
    found = look(bench, make_task(source, "module"))
    assert not [f for f in found if "running_" in f.message]


def test_places_that_every_draw_has_alike_are_not_shaken(bench, make_task):
    source = function("x[:, i].cumsum(-1)", "torch.randn(9, n, generator=g), torch.arange(5).flip(0)", "x, i")
    assert not [f for f in look(bench, make_task(source)) if f.check in ("unbound", "identity")]


def test_an_operator_that_only_some_cases_have_is_not_called_dead(bench, make_task):
    source = PLAIN + (
        "    return [torch.randn(32, n, generator=g)]\ndef reference(x):\n"
        "    if x.shape[1] == 64:\n        x.exp()\n    return x.cumsum(1)\n"
    )
    both = [{"name": "a", "params": {"n": 64}}, {"name": "b", "params": {"n": 32}}]
    assert checks(look(bench, make_task(source, cases=both[:1]))) >= {("warning", "dead-operator")}
    assert not [f for f in look(bench, make_task(source, cases=both)) if f.check == "dead-operator"]


def test_what_changes_little_is_told_from_what_does_nothing(bench, make_task):
    own = [{"name": "own"}]
    found = look(bench, make_task(function("x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()"), cases=own))
    assert "faint-operator" in {f.check for f in found} and "idle-operator" not in {f.check for f in found}
    found = look(bench, make_task(function("x.clamp(-1e9, 1e9).cumsum(-1)"), cases=own))
    assert "idle-operator" in {f.check for f in found} and "faint-operator" not in {f.check for f in found}


def test_few_bytes_with_many_operations_are_not_small(bench, make_task):
    body = "(((((x @ x) / 12) @ x / 12) @ x / 12) @ x / 12) @ x / 12"
    found = look(bench, make_task(function(body, "torch.randn(128, 128, generator=g)")))
    assert not [f for f in found if f.check == "small"]
    found = look(bench, make_task(function("x @ x", "torch.randn(128, 128, generator=g)")))
    assert [f for f in found if f.check == "small"]


def test_a_task_that_breaks_while_it_is_looked_at_is_broken(bench, make_task, monkeypatch):
    from kengine.errors import TaskError
    from kengine.judge import suitability

    def fail(session):
        raise TaskError("task 't': its reference gave up; mend it")
        yield

    monkeypatch.setattr(suitability, "find", fail)
    (hit,) = [f for f in look(bench, make_task(function("x.cumsum(-1)"))) if f.check == "broken"]
    assert (hit.severity, hit.message, hit.fix) == ("error", "its reference gave up", "mend it")


def test_no_answer_passes_and_no_time_finds_nothing(bench, make_task):
    import time

    from kengine.judge import binding, trial

    source, _, _ = ILL["unused input"]
    bench.open(make_task(source), cases=1)
    (session,) = bench.judge.sessions.values()
    assert not trial.passes(session, session.cases[0], None)
    assert not trial.passes(session, session.cases[0], [])
    right = trial.run(session, session.cases[0])
    assert trial.passes(session, session.cases[0], right)
    assert not trial.passes(session, session.cases[0], [right[0].reshape(-1)])
    assert list(binding.find(session, time.monotonic() - 1)) == []
    assert [f.check for f in binding.find(session, time.monotonic() + 60)] == ["unbound"]
