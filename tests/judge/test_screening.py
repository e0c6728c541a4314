"""Broken tasks are refused with a sentence that says what is broken and what to do; sound ones are not."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

HEAD = """
import torch
def make_inputs(seed, device, n=64):
    g = torch.Generator(device).manual_seed(seed)
    return [torch.randn(32, n, generator=g, device=device)]
"""

RAND = HEAD.replace("randn", "rand")


def doing(body, head=HEAD):
    """A task whose reference has this body, one statement a line."""
    return head + "def reference(x):\n" + "".join(f"    {line}\n" for line in body.split("; "))


BROKEN = {
    "raises": (
        doing("y = x.sum(); return x.nothing_of_the_kind"),
        ":8)",
        "nothing_of_the_kind",
    ),
    "no array": (doing("return None"), "returns no array", "writes"),
    "a string": (doing("return {'a': object()}"), "its result['a'] is a object", "arrays"),
    "nondeterministic": (
        doing("return x * torch.rand(1)"),
        "nondeterministic",
        "random numbers",
    ),
    "dropout": (doing("return torch.dropout(x, 0.5, True)"), "nondeterministic", "dropout"),
    "state": (HEAD + "n = [0]\ndef reference(x):\n    n[0] += 1\n    return x * n[0]\n", "", ""),
    "zeros": (doing("return (x - x.mean()).mean()"), "zeros would pass", "before the last"),
    "constant": (
        doing("return torch.softmax(x, -1).mean(-1)"),
        "a constant would pass",
        "nearly the same",
    ),
    "insensitive": (
        doing("return torch.arange(1.0, 65.0).expand(32, 64) + 1e-9 * x"),
        "the answer to other inputs would pass",
        "hardly depends",
    ),
    "copy": (
        doing("return torch.relu(x)", RAND),
        "a copy of an input",
        "normal",
    ),
    "fixed inputs": (
        doing("return x * 2", "import torch\ndef make_inputs(seed, device):\n    return [torch.arange(9.0)]\n"),
        "same inputs for every seed",
        "draw from its seed",
    ),
    "shapes": (doing("return x[x > 0]"), "depend on the values", "fixed size"),
    "syntax": ("def reference(x:\n    return x\n", ":1)", "SyntaxError"),
    "import": ("import no_such_module_at_all\n", ":1)", "ModuleNotFoundError"),
    "exit": (HEAD + "raise SystemExit(3)\n", "SystemExit", "cannot be executed"),
    "missing": (HEAD + "def refrence(x):\n    return x\n", "'reference' is missing", "did you mean 'refrence'"),
    "empty": ("", "'reference' is missing", "must define"),
    "binary": ("\0\1\2", "not text", "NUL"),
    "inputs raise": (
        "import torch\ndef make_inputs(seed, device):\n    return [torch.randn(2, 3) @ torch.randn(2, 3)]\n"
        "def reference(x):\n    return x\n",
        ":3)",
        "make_inputs raised",
    ),
    "inputs no list": (
        "import torch\ndef make_inputs(seed, device):\n    return 3\ndef reference(x):\n    return x\n",
        "returned int",
        "list or tuple",
    ),
    "inputs unknown": (
        "import torch\ndef make_inputs(seed, device):\n    return [open]\ndef reference(x):\n    return x\n",
        "input x is a builtin_function_or_method",
        "arrays, numbers",
    ),
    "sparse": (doing("return x.to_sparse()"), "dense", "sparse"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_task(bench, make_task, kind):
    source, first, second = BROKEN[kind]
    answer = bench.open(make_task(source, name="broken"), screen=True)
    if kind == "state":  # a factor of 1 in the first run hides nothing: runs differ
        first, second = "nondeterministic", "state from call to call"
    assert answer["ok"] is False and answer["error"] == "task", answer
    assert "'broken'" in answer["message"]
    assert first in answer["message"] and second in answer["message"], answer["message"]


def test_a_reference_that_looks_at_its_dtype_is_held_against_itself(bench, make_task):
    body = "return torch.where(x > 1.5, torch.finfo(x.dtype).max / 2, x * 3)"
    bench.open(make_task(doing(body)), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    assert "looks at its dtype" in bench.opened["notes"][0]
    right = lambda x: torch.where(x > 1.5, torch.finfo(x.dtype).max / 2, x * 3)  # noqa: E731
    assert bench.run(right).ok
    assert not bench.run(lambda x: torch.where(x > 1.5, torch.finfo(x.dtype).max / 4, x * 3)).ok


def test_allowed_copies(bench, make_task):
    source = doing("return x.clone()")
    assert "a copy of an input" in bench.open(make_task(source), screen=True)["message"]
    assert bench.open(make_task(source, allow=("copy",)), screen=True)["ok"]


def test_relu_is_sound_once_a_case_has_negative_values(bench, make_task):
    source = doing("return torch.relu(x)", RAND)
    cases = [{"name": "own"}, {"name": "normal", "values": "normal"}]
    assert bench.open(make_task(source, cases=cases), screen=True)["ok"]
    c = bench.run(lambda x: x.clone(), 1)
    assert not c.ok


def test_unseeded_generators_are_seeded(bench, make_task):
    source = "import torch\nimport random\ndef get_inputs():\n    return [torch.rand(40) + random.random()]\n"
    source += "class Model(torch.nn.Module):\n    def forward(self, x):\n        return x.cumsum(0)\n"
    task = make_task(source, form="module")
    bench.open(task, screen=True)
    assert bench.opened["ok"], bench.opened
    (first,) = bench.lend(0)
    before = first.args[0].clone()
    bench.judge.sessions.clear()
    bench.judge.caches["cpu"]._entries.clear()
    bench.open(task)
    (second,) = bench.lend(0)
    assert torch.equal(before, second.args[0])
    (other,) = bench.lend(0, phase="without")
    assert not torch.equal(before, other.args[0])


def test_a_reference_that_needs_float32_is_held_against_itself(bench, make_task):
    source = HEAD + "W = torch.eye(64) * 3\ndef reference(x):\n    return torch.mm(x, W) + x\n"
    bench.open(make_task(source), cases=1, screen=True)
    assert bench.opened["ok"], bench.opened
    assert "does not run in float64" in bench.opened["notes"][0] and ":" in bench.opened["notes"][0]
    assert bench.run(lambda x: x * 4).ok
    assert not bench.run(lambda x: x * 4.004).ok


def test_explicit_float32_in_a_reference_means_float64_when_it_is_exact(bench, make_task):
    source = (
        HEAD
        + "def reference(x):\n    return x.half().to(torch.float32).double().float().cumsum(-1, dtype=torch.float32)\n"
    )
    bench.open(make_task(source), cases=1)
    session = next(iter(bench.judge.sessions.values()))
    expected = session.expected(session.cases[0], "check")
    x = session.entry(session.cases[0], "check").packed
    value = x.values(x.image)[0].half().double().cumsum(-1)
    assert torch.equal(torch.from_numpy(expected.outputs[0].exact).double(), value.float().double())


def test_derived_cases_that_are_not_valid_are_left_out_with_the_reason(bench, make_task):
    source = doing("return torch.log(x.abs()).exp() / x")
    answer = bench.open(make_task(source))
    assert answer["ok"], answer
    assert "not finite" in answer["skipped"]["zeros"]
    source = doing("assert x.abs().max() < 20, 'too large'; return x * 2")
    answer = bench.open(make_task(source))
    assert "too large" in answer["skipped"]["outlier"] and "large" in answer["skipped"]
    assert [c["name"] for c in answer["cases"]] == ["draw0", "draw1", "tiny", "binary", "zeros", "draw2"]
    source = HEAD.replace("torch.randn(32, n, generator=g, device=device)", "torch.randint(9, (5,), generator=g)")
    answer = bench.open(make_task(source + "def reference(x):\n    return x * 3 - 1\n"))
    assert set(answer["skipped"]) == {"outlier", "large", "tiny", "zeros"}
    assert "no floating-point input" in answer["skipped"]["large"]


def test_positive_inputs_stay_positive(bench, make_task):
    source = doing("assert (x >= 0).all(); return x.sqrt().cumsum(-1)", RAND)
    answer = bench.open(make_task(source), screen=True)
    assert answer["ok"] and answer["skipped"] == {}, answer


def test_limit_takes_valid_cases(bench, make_task):
    source = doing("assert x.abs().max() < 20; return x * 2")
    answer = bench.open(make_task(source), cases=3)
    assert [c["name"] for c in answer["cases"]] == ["draw0", "draw1", "tiny"]


def test_case_names(bench, make_task):
    source = doing("return x * 2")
    assert "listed twice" in bench.open(make_task(source, cases=[{"name": "a"}, {"name": "a"}]))["message"]
    twice = bench.open(make_task(source, cases=[{"name": "a"}, {"name": "a", "draw": 1}]))
    assert "name them apart" in twice["message"]
    bad = bench.open(make_task(source, cases=[{"name": "a", "params": {"k": 3}}]))
    assert bad["error"] == "task" and "'k'" in bad["message"]
    bad = bench.open(make_task(source, cases=[{"name": "a", "dtype": "float17"}]))
    assert bad["error"] == "task" and "float17" in bad["message"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize("layout", ["strided", "offset", "contiguous"])
def test_dtype_and_layout_variants(bench, make_task, dtype, layout):
    source = doing("return x.cumsum(0)")
    bench.open(make_task(source, cases=[{"name": "v", "dtype": dtype, "layout": layout}]), screen=True)
    assert bench.opened["ok"], bench.opened
    (lent,) = bench.lend(0)
    x = lent.args[0]
    assert str(x.dtype) == f"torch.{dtype}"
    assert x.is_contiguous() is (layout != "strided")
    spec = lent.bundle["args"][0]["spec"]
    assert (spec["offset"] > 0) is (layout == "offset")
    assert bench.run(lambda x: x.cumsum(0)).ok
    assert not bench.run(lambda x: torch.as_strided(x, x.shape, (64, 1)).cumsum(0) + (layout != "strided")).ok
