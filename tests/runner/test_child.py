"""What an honest candidate gets and gives: arguments, results of every kind, faults with their line."""

from __future__ import annotations

import pytest
from kengine.config import Limits
from kengine.model import TaskView, TensorSpec

F4 = TensorSpec("float32", (4,))


def test_value_reaches_the_sink_and_is_described(runners, lend):
    lent = lend([F4, 2.5], [F4])
    reply = runners().run("def candidate(x, s):\n    return x * s\n", lent)
    assert reply["ok"], reply
    assert reply["outputs"] == [
        {
            "k": "array",
            "spec": {"dtype": "float32", "shape": [4], "strides": [1]},
            "type": "torch.Tensor",
            "device": "cpu",
            "alias": "",
            "sink": 0,
        }
    ]
    assert lent.sink(0) == [0.0, 2.5, 5.0, 7.5]
    assert reply["launches"] == [{"kernel": "k", "grid": [1], "count": 2}]
    assert reply["details"] == {"mode": "normal"}
    assert reply["elapsed_ns"] > 0


def test_one_runner_serves_many_launches_and_arenas(runners, lend):
    runner = runners()
    assert runner.compile("def candidate(x):\n    return x + 1\n")["ok"]
    for n in (4, 7, 1, 0):
        spec = TensorSpec("float32", (n,))
        lent = lend([spec], [spec])
        assert runner.launch(lent)["ok"]
        assert runner.launch(lent)["ok"]
        assert lent.sink(0) == [float(i + 1) for i in range(n)]


@pytest.mark.parametrize(
    ("value", "tree"),
    [
        ("None", {"k": "value", "v": None}),
        ("True", {"k": "value", "v": True}),
        ("7", {"k": "value", "v": 7}),
        ("1.5", {"k": "value", "v": 1.5}),
        ("float('nan')", {"k": "float", "v": "nan"}),
        ("-float('inf')", {"k": "float", "v": "-inf"}),
        ("complex(1, 2)", {"k": "complex", "v": [1.0, 2.0]}),
        ("torch.float16", {"k": "dtype", "v": "float16"}),
        ("[1, (2, 'a')]", {"k": "list", "items": [{"k": "value", "v": 1}, {"k": "tuple", "items": [
            {"k": "value", "v": 2}, {"k": "value", "v": "a"}]}]}),
        ("{'a': 1}", {"k": "dict", "items": {"a": {"k": "value", "v": 1}}}),
        ("{1: 1}", {"k": "other", "type": "dict with keys that are not strings"}),
        ("10 ** 400", {"k": "other", "type": "builtins.int"}),
        ("'x' * (1 << 20)", {"k": "other", "type": "builtins.str"}),
        ("complex('nan')", {"k": "other", "type": "builtins.complex"}),
        ("object()", {"k": "other", "type": "builtins.object"}),
        ("torch.nn.Parameter(torch.ones(2))", {"k": "other", "type": "torch.nn.parameter.Parameter"}),
        ("torch.ones(2).to_sparse()", {"k": "other", "type": "torch.Tensor (torch.sparse_coo)"}),
        ("torch.ones(2, device='meta')", {"k": "other", "type": "torch.Tensor (on meta)"}),
        ("type('T', (torch.Tensor,), {})()", {"k": "other", "type": "kernel.T"}),
        ("type('L', (list,), {})([1])", {"k": "other", "type": "kernel.L"}),
        ("numpy.array([object()])", {"k": "other", "type": "numpy.ndarray of object"}),
    ],
)  # fmt: skip
def test_results_are_described_by_exact_type(runners, value, tree):
    reply = runners().run(f"import torch, numpy\ndef candidate(x):\n    return {value}\n")
    assert reply["ok"], reply
    assert reply["outputs"] == [tree]


@pytest.mark.parametrize(
    ("value", "spec", "kind", "alias", "sink", "bytes_"),
    [
        ("x", ("float32", [4], [1]), "torch.Tensor", "arg 0", 0, [0.0, 1.0, 2.0, 3.0]),
        ("x[1:3]", ("float32", [2], [1]), "torch.Tensor", "arg 0", 0, [1.0, 2.0, None, None]),
        ("x.reshape(2, 2).t()", ("float32", [2, 2], [1, 2]), "torch.Tensor", "arg 0", 0, [0.0, 2.0, 1.0, 3.0]),
        ("x.clone().requires_grad_()", ("float32", [4], [1]), "torch.Tensor", "", 0, [0.0, 1.0, 2.0, 3.0]),
        ("torch.ones(1).expand(4)", ("float32", [4], [0]), "torch.Tensor", "", 0, [1.0] * 4),
        ("torch.ones(1).expand(1 << 40)", ("float32", [1 << 40], [0]), "torch.Tensor", "", None, [None] * 4),
        ("torch.ones(5)", ("float32", [5], [1]), "torch.Tensor", "", None, [None] * 4),
        ("torch.ones(2, dtype=torch.float64)", ("float64", [2], [1]), "torch.Tensor", "", 0, None),
        ("torch.tensor(3.0)", ("float32", [], []), "torch.Tensor", "", 0, [3.0, None, None, None]),
        ("x.numpy()[::-1]", ("float32", [4], [-1]), "numpy.ndarray", "arg 0", 0, [3.0, 2.0, 1.0, 0.0]),
        ("numpy.float32(5)", ("float32", [], []), "numpy.float32", "", 0, [5.0, None, None, None]),
        ("torch.view_as_complex(x.clone().reshape(2, 2)).conj()", ("complex64", [2], [1]), "torch.Tensor", "", 0,
         [0.0, -1.0, 2.0, -3.0]),
    ],
)  # fmt: skip
def test_arrays_keep_layout_in_words_and_lie_contiguous(runners, lend, value, spec, kind, alias, sink, bytes_):
    lent = lend([F4], [F4])
    reply = runners().run(f"import torch, numpy\ndef candidate(x):\n    return {value}\n", lent)
    assert reply["ok"], reply
    (tree,) = reply["outputs"]
    assert (tree["spec"]["dtype"], tree["spec"]["shape"], tree["spec"]["strides"]) == spec
    assert (tree["type"], tree["alias"], tree["sink"]) == (kind, alias, sink)
    if bytes_ is not None:
        # NaN is what the judge had poisoned the sink with.
        assert [None if v != v else v for v in lent.sink(0)] == bytes_


def test_sinks_go_depth_first_and_written_inputs_last(runners, lend):
    lent = lend([F4, F4], [F4, F4, F4], writes=(1,))
    text = "def candidate(x, y):\n    y.mul_(10)\n    return {'a': [x + 1, x + 2], 'b': x + 3}\n"
    reply = runners().run(text, lent, TaskView("function", "candidate", ("y",)))
    assert reply["ok"], reply
    assert len(reply["outputs"]) == 2
    assert reply["outputs"][1]["alias"] == "arg 1"
    assert reply["outputs"][1]["sink"] == 3
    assert [lent.sink(i)[0] for i in range(4)] == [1.0, 2.0, 3.0, 0.0]
    assert lent.sink(3) == [0.0, 10.0, 20.0, 30.0]


def test_named_tuple_of_torch_is_a_tuple(runners):
    reply = runners().run("import torch\ndef candidate(x):\n    return torch.max(x.reshape(2, 2), 1)\n")
    assert reply["outputs"][0]["k"] == "tuple"
    assert [i["spec"]["dtype"] for i in reply["outputs"][0]["items"]] == ["float32", "int64"]


def test_cycles_and_depth_end(runners):
    reply = runners().run("def candidate(x):\n    a = []\n    a.append(a)\n    return a\n")
    assert reply["ok"]
    reply = runners().run("def candidate(x):\n    return [0] * 100000\n")
    assert reply["outputs"] == [{"k": "other", "type": "list nested too deeply or too long"}]


def test_inputs_have_storages_of_their_own_and_layouts(runners, lend):
    strided = TensorSpec("float32", (2, 2), (3, 1), 1)
    lent = lend([F4, strided, [F4, 3, None], TensorSpec("bfloat16", (3,))], [F4])
    text = (
        "def candidate(x, y, z, b):\n"
        "    assert x.untyped_storage().nbytes() == 16, x.untyped_storage().nbytes()\n"
        "    assert y.stride() == (3, 1) and y.storage_offset() == 1\n"
        "    assert y.untyped_storage().nbytes() == 24, y.untyped_storage().nbytes()\n"
        "    assert y.tolist() == [[1.0, 2.0], [4.0, 5.0]]\n"
        "    assert type(z) is list and z[1:] == [3, None] and z[0].shape == (4,)\n"
        "    assert b.tolist() == [0.0, 1.0, 2.0]\n"
        "    return x\n"
    )
    reply = runners().run(text, lent)
    assert reply["ok"], reply


def test_destination_passing(runners, lend):
    lent = lend([F4], [F4], destination=True)
    reply = runners().run("def candidate(x, out):\n    out.copy_(x * 3)\n", lent)
    assert reply["ok"], reply
    assert reply["outputs"][0]["alias"] == ""
    assert lent.sink(0) == [0.0, 3.0, 6.0, 9.0]
    lent = lend([F4], [F4, F4], destination=True)
    reply = runners().run("def candidate(x, a, b):\n    a.fill_(1)\n    b.fill_(2)\n", lent)
    assert reply["outputs"][0]["k"] == "tuple"
    assert (lent.sink(0), lent.sink(1)) == ([1.0] * 4, [2.0] * 4)


@pytest.mark.parametrize(
    ("signature", "parts"),
    [
        ("()", ["candidate()", "1 argument (float32[4])"]),
        ("(x, y, z)", ["candidate(x, y, z)", "1 argument (float32[4])", "2 when it writes its outputs"]),
        ("(x, *, scale)", ["demands scale by name"]),
    ],
)
def test_wrong_arity_names_both_sides(runners, lend, signature, parts):
    reply = runners().run(f"def candidate{signature}:\n    return 1\n", lend([F4], [F4], destination=True))
    assert reply["fault"]["status"] == "launch_failed"
    for part in parts:
        assert part in reply["fault"]["message"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("out.fill_(NAN); return x * 3", True),  # what poison is, left as it was
        ("out.copy_(x * 3); return x * 3", False),
        ("out.fill_(NAN); return out", False),
        ("out.fill_(NAN)", False),
    ],
)
def test_an_input_too_many_is_no_place_for_outputs(runners, lend, body, refused):
    text = f"NAN = float('nan')\ndef candidate(x, out):\n    {body}\n"
    reply = runners().run(text, lend([F4], [F4], destination=True))
    assert reply["ok"] is not refused, reply
    if refused:
        assert reply["fault"]["status"] == "launch_failed"
        assert reply["fault"]["message"] == (
            "the task calls it with 1 argument; with more, the last are where it writes its outputs, but it returned "
            "a Tensor and wrote nothing into out"
        )


@pytest.mark.parametrize("signature", ["(x)", "(*a)", "(x, y=1)", "(x, out=None)", "(x, **k)"])
def test_forms_that_take_the_inputs(runners, lend, signature):
    name = "a[0]" if "*a" in signature else "x"
    reply = runners().run(f"def candidate{signature}:\n    return {name} + 1\n", lend([F4], [F4], destination=True))
    assert reply["ok"], reply


@pytest.mark.parametrize(
    ("text", "status", "line", "part"),
    [
        ("def candidate(x):\n    return (x\n", "compile_failed", 2, "SyntaxError"),
        ("def candidate(x):\n  a\n b\n", "compile_failed", 3, "IndentationError"),
        ("", "compile_failed", 0, "does not define 'candidate'"),
        ("def candidatte(x):\n    return x\n", "compile_failed", 0, "did you mean 'candidatte'"),
        ("x = \0\n", "compile_failed", None, "null byte"),
        ("x = '\ud800'\n", "compile_failed", None, "not Python source"),
        ("import nothing_like_this\n", "compile_failed", 1, "ModuleNotFoundError"),
        ("candidate = 3\n", "launch_failed", 0, "is a int, not a function"),
        ("\n\nraise SystemExit(0)\n", "launch_failed", 3, "tried to end the process"),
        ("def candidate(x):\n    raise SystemExit\n", "launch_failed", 2, "tried to end the process"),
        ("def candidate(x):\n    raise KeyboardInterrupt\n", "launch_failed", 2, "KeyboardInterrupt"),
        ("class B(BaseException): pass\ndef candidate(x):\n    raise B('b')\n", "launch_failed", 3, "raised B: b"),
        ("def candidate(x):\n    return candidate(x)\n", "launch_failed", 2, "RecursionError"),
        ("def candidate(x):\n    raise ValueError('a' * 10 ** 7)\n", "launch_failed", 2, "ValueError: aaa"),
        ("class E(Exception):\n    def __str__(self): raise SystemExit\ndef candidate(x):\n    raise E\n",
         "launch_failed", 4, "its text cannot be read"),
        ("class E(Exception):\n    def __str__(self): return 3\ndef candidate(x):\n    raise E\n",
         "launch_failed", 4, "its text cannot be read"),
        ("def candidate(x):\n    raise ValueError('\\ud800')\n", "launch_failed", 2, "ValueError"),
        ("def candidate(x):\n    try:\n        1 / 0\n"
         "    except Exception as e:\n        e.__context__ = e\n        raise\n",
         "launch_failed", 3, "ZeroDivisionError"),
        ("def candidate(x):\n    return x.view(3)\n", "launch_failed", 2, "RuntimeError"),
        ("(" * 5000 + ")" * 5000, "compile_failed", None, ""),
    ],
)  # fmt: skip
def test_faults_name_status_line_and_reason(runners, text, status, line, part):
    reply = runners().run(text)
    assert not reply["ok"]
    fault = reply["fault"]
    assert fault["status"] == status, fault
    assert part in fault["message"]
    assert line is None or fault["line"] == line
    assert len(fault["message"]) < 3000
    assert len(fault["log"]) <= 40_000


def test_log_shows_the_candidates_line_and_not_kengines(runners):
    reply = runners().run("def helper(x):\n    return x / 0 // bad\n\ndef candidate(x):\n    return helper(x)\n")
    log = reply["fault"]["log"]
    assert 'File "kernel.py", line 2, in helper' in log
    assert "return x / 0 // bad" in log
    assert "kengine/runner" not in log


def test_getsource_and_siblings_work(runners):
    text = (
        "import inspect\ndef candidate(x):\n"
        "    assert 'inspect.getsource' in inspect.getsource(candidate)\n    return x\n"
    )
    assert runners().run(text)["ok"]


def test_paths_of_files_stay_inside(runners, tmp_path):
    from kengine import codec
    from kengine.model import Candidate, SourceFile

    runner = runners()
    files = tuple(
        SourceFile(p, "def candidate(x):\n    return x\n") for p in ("../../evil.py", "/etc/evil.py", "a/b.py")
    )
    view = codec.to_json(TaskView("function", "candidate"))
    body = {"candidate": codec.to_json(Candidate(files, "candidate")), "view": view, "target": "double:cpu"}
    assert runner.ask("load", body)["ok"]
    assert runner.ask("compile", {"target": "double:cpu", "bundles": []})["ok"]
    assert not (tmp_path.parent / "evil.py").exists()


def test_module_form_gets_the_references_weights(runners, lend):
    state = {"linear.weight": TensorSpec("float32", (2, 4)), "linear.bias": TensorSpec("float32", (2,))}
    out = TensorSpec("float32", (2,))
    view = TaskView("module", "ModelNew")
    body = "import torch\nclass ModelNew(torch.nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
    forward = "    def forward(self, x):\n        return {0}.weight @ x + {0}.bias\n"
    for name in ("linear", "fc"):
        lent = lend([F4], [out], state=state, init_args=[2])
        text = f"{body}        self.{name} = torch.nn.Linear(4, n)\n{forward.format('self.' + name)}"
        reply = runners().run(text, lent, view)
        assert reply["ok"], reply
        assert lent.sink(0) == [0.0 + 0 + 1 + 4 + 9, 4 * 0 + 5 + 12 + 21 + 1.0]
    text = f"{body}        self.fc = torch.nn.Linear(4, 3)\n{forward.format('self.fc')}"
    reply = runners().run(text, lend([F4], [out], state=state, init_args=[2]), view)
    assert reply["fault"]["status"] == "launch_failed"
    for part in ("linear.weight float32[2, 4]", "fc.weight float32[3, 4]", "neither by name nor in order"):
        assert part in reply["fault"]["message"]
    reply = runners().run("ModelNew = 3\n", lend([F4], [out], state=state), view)
    assert "not a class" in reply["fault"]["message"]
    reply = runners().run("class ModelNew:\n    def __init__(self): 1 / 0\n", lend([F4], [out]), view)
    assert "constructing ModelNew raised ZeroDivisionError" in reply["fault"]["message"]


def test_time_keeps_the_outputs_of_each_input_set(runners, lend):
    from kengine import codec
    from kengine.model import TimingPlan

    runner = runners()
    assert runner.compile("def candidate(x):\n    return x + 1\n")["ok"]
    lent = lend([F4], [F4])
    body = {"case": codec.to_json(lent.case), "plan": codec.to_json(TimingPlan(5, 1, "wall")), "bundles": [lent.bundle]}
    reply = runner.ask("time", body, (lent.fd,))
    assert reply["ok"], reply
    assert len(reply["timing"]["samples_ns"]) == 5
    assert reply["outputs"][0][0]["sink"] == 0
    assert lent.sink(0) == [1.0, 2.0, 3.0, 4.0]


def test_what_a_call_changes_while_it_is_compiled_is_a_calls_doing(runners):
    text = (
        "import os\nos.environ['OF_THE_FILE'] = '1'\n"
        "def when_compiled():\n    os.environ['OF_A_CALL'] = '1'\n"
        "def candidate(x):\n    return x\n"
    )
    runner = runners()
    assert runner.compile(text)["ok"]
    reply = runner.ask("state")
    assert sorted(reply["changed"]) == ["variable OF_A_CALL: (none) -> 1", "variable OF_THE_FILE: (none) -> 1"]
    assert reply["changed_by_calls"] == ["variable OF_A_CALL: (none) -> 1"]


def test_environment_is_private(runners):
    text = (
        "import os, tempfile, sys\n"
        "def candidate(x):\n"
        "    for n in ('HOME', 'TMPDIR', 'TRITON_CACHE_DIR', 'XDG_CACHE_HOME', 'TORCH_EXTENSIONS_DIR'):\n"
        "        assert os.environ[n].startswith(os.getcwd()), n\n"
        "        open(os.environ[n] + '/f', 'w').close()\n"
        "    assert tempfile.gettempdir() == os.environ['TMPDIR']\n"
        "    assert sys.stdin.read() == ''\n"
        "    print('seen', flush=True)\n"
        "    return x\n"
    )
    runner = runners()
    reply = runner.run(text)
    assert reply["ok"], reply
    runner.kill()
    assert b"seen" in runner.printed


def test_lazy_imports_still_work(runners):
    text = (
        "import xml.dom.minidom, sqlite3, ctypes.util, torch._dynamo, numpy.polynomial, unittest.mock\n"
        "import multiprocessing, subprocess, sys\n"
        "def candidate(x):\n"
        "    out = subprocess.run([sys.executable, '-c', 'import json, numpy; print(numpy.arange(3).sum())'],\n"
        "                         capture_output=True, text=True)\n"
        "    assert out.stdout == '3\\n', out\n"
        "    assert subprocess.run(['/bin/sh', '-c', 'exit 3']).returncode == 3\n"
        "    return x\n"
    )
    reply = runners(Limits()).run(text)
    assert reply["ok"], reply


def test_requests_out_of_order_are_refused(runners, lend):
    runner = runners()
    assert "send load first" in runner.ask("compile", {"target": "double:cpu"})["fault"]["message"]
    lent = lend([F4], [F4])
    assert "send compile first" in runner.launch(lent)["fault"]["message"]
    assert runner.ask("nonsense")["fault"]["status"] == "launch_failed"
    assert runner.ask("quit")["ok"]
    assert runner.reap() == {"ok": True, "exited": True, "status": 0, "reason": ""}
