"""Every format is told by its content, gives judgeable tasks and candidates, and says which field a near miss lacks."""

from __future__ import annotations

import json
import re

import pytest
from kengine import tasks
from kengine.curate.format import find, look
from kengine.curate.record import Loss, Sample
from kengine.errors import UsageError

MODULE = """import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, x):
        return x * self.scale


def get_inputs():
    return [torch.randn(4, 8)]


def get_init_inputs():
    return [3.0]
"""
NEW = MODULE[: MODULE.index("def get_inputs")].replace("class Model(", "class ModelNew(")
TASK = "def reference(x):\n    return x\n\n\ndef make_inputs(seed, device):\n    return (1,)\n"
FUNCTIONAL = """import torch
from torch import nn


def module_fn(x, weight, bias):
    return torch.nn.functional.linear(x, weight, bias)


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features, features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight, bias=self.bias)


def get_inputs(rows=3):
    return [torch.randn(rows, 5)]


def get_init_inputs(features=5):
    return [features]
"""
CUDA = """#include <torch/extension.h>
torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b) { return x; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


def samples(found: list) -> list[Sample]:
    assert all(isinstance(o, Sample) for o in found), found
    return found


def run_task(task, seed=0, **params):
    """What a task's inputs and reference are, executed here: these texts are our own."""
    torch = pytest.importorskip("torch")
    scope: dict = {"__name__": "task"}
    exec(compile(task.source, task.path, "exec"), scope)
    inputs = scope["make_inputs"](seed, torch.device("cpu"), **params)
    return inputs, scope["reference"](*inputs)


def test_kernelbench_rows(write, outcomes) -> None:
    row = {"code": MODULE, "level": 2, "name": "12_Gemm_Add_.py", "problem_id": 12}
    folder = write({"k.jsonl": [row, {**row, "code": ""}, {**row, "level": "two"}, {**row, "code": "x = 1"}]})
    assert find(look(folder / "k.jsonl")).format == "kernelbench"
    made, empty, level, taskless = outcomes("k.jsonl")
    assert isinstance(made, Sample) and made.uid == "s:k.jsonl:1" and made.files == ()
    assert made.task is not None and (made.task.form, made.task.name, made.task.spec.level) == (
        "module",
        "12_Gemm_Add_",
        2,
    )
    assert made.labels["operator"] == "gemm_add" and made.group == made.task.digest
    assert (
        isinstance(empty, Loss)
        and empty.reason == "no_code"
        and "'code'" in empty.detail
        and "k.jsonl:2" in empty.detail
    )
    assert isinstance(level, Loss) and level.reason == "malformed_row" and "'level'" in level.detail
    assert isinstance(taskless, Loss) and taskless.reason == "broken_task"


def test_kernelbench_and_multikernelbench_files(write, outcomes) -> None:
    write({"kb/level1/3_Relu.py": MODULE, "kb/level2/1_Two.py": MODULE, "mk/reference/activation/relu.py": MODULE})
    first, second = samples(outcomes("kb"))
    assert (first.origin, first.task.spec.level, second.task.spec.level) == ("level1/3_Relu.py", 1, 2)
    (third,) = samples(outcomes("mk"))
    assert third.labels == {"operator": "relu", "category": "activation"} and third.task.spec.category == "activation"


def test_cuda_agent_ops(write, outcomes) -> None:
    write(
        {
            "o.jsonl": [
                {"ops": ["torch.add", "torch.relu"], "data_source": "torch#2", "code": MODULE},
                {"ops": 3, "data_source": "torch#2", "code": MODULE},
            ]
        }
    )
    made, loss = outcomes("o.jsonl")
    assert made.labels == {"operator": "torch.add+torch.relu", "level": 2} and made.license == "CC-BY-4.0"
    assert loss.reason == "malformed_row" and "'ops'" in loss.detail


KERNELBOOK = {
    "entry_point": "Scale",
    "original_triton_code": "",
    "python_code": MODULE.replace("class Model(", "class Scale("),
    "triton_code": NEW.replace("ModelNew", "ScaleNew"),
    "repo_name": "a/b",
    "module_name": "Scale",
    "synthetic": False,
    "uuid": 7,
    "licenses": ["MIT"],
    "stars": 3,
    "sha": "x",
    "repo_link": "https://example.org/a/b",
}


def test_kernelbook(write, outcomes) -> None:
    empty = KERNELBOOK["python_code"].replace("return [3.0]", "return [[], {}]").replace("self, scale)", "self)")
    split = KERNELBOOK["python_code"].replace("return [3.0]", "return [[], {'scale': 3.0}]")
    write(
        {
            "b.jsonl": [
                {**KERNELBOOK, "python_code": split},
                {**KERNELBOOK, "python_code": empty},
                {**KERNELBOOK, "entry_point": "Other"},
                {**KERNELBOOK, "triton_code": "x = 1"},
            ]
        }
    )
    made, plain, other, codeless = outcomes("b.jsonl")
    assert made.license == "MIT" and made.backend == "triton" and made.entry == "ModelNew"
    for sample, count in ((made, 2), (plain, 0)):
        tasks.parse_task(sample.task.source)
        torch = pytest.importorskip("torch")
        scope: dict = {"__name__": "x"}
        exec(sample.task.source, scope)
        assert len(scope["get_init_inputs"]()) == count
        if sample is made:
            model = scope["Model"](*scope["get_init_inputs"]())
            new: dict = {"__name__": "y"}
            exec(sample.code, new)
            again = new["ModelNew"](*scope["get_init_inputs"]())
            x = torch.ones(2)
            assert model(x).tolist() == again(x).tolist() == [3.0, 3.0]
    assert other.reason == "broken_task" and "'entry_point'" in other.detail
    assert codeless.reason == "no_code" and "'ScaleNew'" in codeless.detail


AICE = {
    "Op_Name": "1_Linear",
    "Level_ID": 1,
    "Task_ID": 1,
    "Kernel_Name": "k",
    "CUDA_Runtime": 0.1,
    "CUDA_Code": CUDA,
    "PyTorch_Code_Module": MODULE,
    "PyTorch_Code_Functional": FUNCTIONAL,
    "Correct": True,
    "Max_Diff": float("nan"),
}


def test_ai_cuda_engineer(write, outcomes) -> None:
    write({"a.jsonl": [AICE, {**AICE, "PyTorch_Code_Functional": ""}, {**AICE, "CUDA_Code": None}]})
    made, by_module, loss = outcomes("a.jsonl")
    assert made.backend == "cuda" and made.claims["Correct"] is True and "Max_Diff" not in made.claims
    assert "load_inline" in made.code and CUDA.strip() in made.code and made.entry == "candidate"
    assert by_module.task.form == "module"
    assert isinstance(loss, Loss) and loss.reason == "no_code" and "'CUDA_Code'" in loss.detail
    tasks.parse_task(made.task.source)
    (x, weight, bias), result = run_task(made.task)
    assert (
        x.shape == (3, 5)
        and not weight.requires_grad
        and not isinstance(weight, pytest.importorskip("torch").nn.Parameter)
    )
    assert result.tolist() == (x @ weight.T + bias).tolist() or (result - (x @ weight.T + bias)).abs().max() < 1e-5
    (y, *_), _ = run_task(made.task, seed=1)
    assert y.tolist() != x.tolist()


def test_robust_kbench(write, outcomes) -> None:
    config = {
        "single_input_configs": [{"rows": 3}],
        "multi_input_configs": [{"rows": 2}, {"rows": 7}],
        "single_init_configs": [{"features": 5}],
    }
    text = FUNCTIONAL.replace("module_fn", "forward_fn")
    write(
        {
            "r/linear/func_forward.py": text,
            "r/linear/config_forward.json": config,
            "r/bad/func_forward.py": text,
            "r/bad/config_forward.json": "[1",
        }
    )
    loss, made = outcomes("r")
    assert [dict(c.params) for c in made.task.spec.cases] == [{"config": 0}, {"config": 1}]
    assert run_task(made.task, config=1)[0][0].shape == (7, 5)
    assert loss.reason == "broken_task" and "config_forward.json" in loss.detail


def test_aig_rows(write, outcomes) -> None:
    write({"h.jsonl": [{"id": 4, "question_code": "__global__ void a() {}", "answer_code": "__global__ void b() {}"}]})
    (made,) = samples(outcomes("h.jsonl"))
    assert (made.backend, made.language, made.task) == ("hip", "hip", None) and "void a()" in made.prompt[0]["content"]
    truth = {
        "hip_code": CUDA,
        "kernel_name": "Linear",
        "pytorch_functional_code": FUNCTIONAL,
        "pytorch_module_code": MODULE,
    }
    rl = {
        "prompt": [{"role": "user", "content": "do"}],
        "data_source": "hip2hip-train",
        "ability": "code",
        "reward_model": {"style": "sandbox_fusion", "ground_truth": truth},
        "extra_info": {"index": 0},
    }
    text = {**rl, "reward_model": {"style": "s", "ground_truth": json.dumps(truth)}}
    write({"r.jsonl": [rl, {**rl, "reward_model": {"ground_truth": {"hip_code": "x"}}}], "t.jsonl": [text]})
    made, loss = outcomes("r.jsonl")
    assert made.backend == "hip" and made.prompt == ({"role": "user", "content": "do"},) and "load_inline" in made.code
    assert made.task.form == "function" and isinstance(loss, Loss) and loss.reason == "no_code"
    write({"q.jsonl": [{"id": 1, "hip_code": "__global__ void k() {}", "pytorch_code_module": MODULE}]})
    (made,) = samples(outcomes("q.jsonl"))
    assert made.task.form == "module" and made.files[0].path == "candidate.hip"
    write({"tr.jsonl": [{"id": 1, "triton_code": NEW, "pytorch_code": MODULE}]})
    (made,) = samples(outcomes("tr.jsonl"))
    assert made.backend == "triton" and made.code == NEW


def test_aig_files(write, outcomes) -> None:
    write(
        {
            "v/pytorch_code_module/py_3.py": MODULE,
            "v/pytorch_code_functional/py_3_func.py": FUNCTIONAL,
            "v/hip_opt/3/a.hip": CUDA,
            "v/hip_opt/4/a.hip": CUDA,
        }
    )
    made, loss = outcomes("v")
    assert made.task.form == "function" and made.backend == "hip"
    assert loss.reason == "broken_task" and "py_4.py" in loss.detail


RULE = "#" * 146
T_FILE = f"""import torch


def shifted(input, other, *, alpha=1):
    return input + alpha * other

{RULE}
import torch


def test_shifted():
    results = {{}}
    a = torch.tensor([1.0, 2.0], device='cuda')
    results["test_case_1"] = shifted(a, a)
    results["test_case_2"] = shifted(a.cuda(), torch.ones(2, device="cuda"), alpha=3)
    return results


test_results = test_shifted()
"""
G_FILE = f"""import torch
import triton


@triton.jit
def kernel(x):
    pass


def wrapper(x):
    return x

{RULE}
def test_wrapper():
    result = {{}}
    result["test_case_1"] = wrapper(torch.randn(4, device="cuda"))
    return result

result_gold = test_wrapper()
"""


def test_tritonbench_t_records_what_the_test_passes(write, outcomes) -> None:
    write(
        {
            "T/shifted.py": T_FILE,
            "T/bad.py": "x = 1\n",
            "meta.jsonl": [{"file": "shifted.py", "description": "adds", "difficulty": "2"}],
        }
    )
    loss, made = outcomes("T")
    assert loss.reason == "malformed_row" and "146" in loss.detail
    assert made.files == () and made.instruction == "adds" and made.prompt == () and made.labels["difficulty"] == 2
    assert [dict(c.params) for c in made.task.spec.cases] == [{"call": 0}, {"call": 1}]
    tasks.parse_task(made.task.source)
    inputs, result = run_task(made.task, call=1)
    assert len(inputs) == 3 and inputs[2] == 3 and result.tolist() == (inputs[0] + 3 * inputs[1]).tolist()
    again, _ = run_task(made.task, seed=5, call=1)
    assert again[0].tolist() != inputs[0].tolist(), "inputs follow the seed"


def test_tritonbench_g_and_rocmbench(write, outcomes) -> None:
    write(
        {
            "G/wrapper.py": G_FILE,
            "R/k.py": G_FILE.replace("def test_wrapper", "import pytest\n@pytest.mark.x\ndef test_wrapper"),
        }
    )
    (made,) = samples(outcomes("G"))
    assert made.entry == "wrapper" and made.backend == "triton" and RULE not in made.code
    assert made.task.self_referenced and made.task.spec.device == "cuda"
    assert find(look(write({}) / "R")).format == "rocmbench"
    (made,) = samples(outcomes("R"))
    assert made.task is None and "def kernel" in made.code


YML = """
lang: py
description: |
  Double the numbers.
files:
  - {name: submission.py, source: "@SUBMISSION@"}
config: {main: eval.py}
tests:
  - {size: 127, seed: 4242}
  - {size: 256, seed: 1}
benchmarks: []
test_timeout: 60
ranking_by: geom
"""
REFERENCE = """from utils import make_match_reference
from task import input_t, output_t
import torch


def ref_kernel(data: input_t) -> output_t:
    return data[0] * 2


def generate_input(size: int, seed: int) -> input_t:
    draw = torch.Generator(device='cuda').manual_seed(seed)
    return (torch.randn(size, generator=draw, device='cuda'),)


check_implementation = make_match_reference(ref_kernel)
"""


def test_gpu_mode(write, outcomes) -> None:
    pytest.importorskip("yaml")
    utils = "import torch\n\n\ndef make_match_reference(f):\n    return lambda *a: True\n"
    types = "from typing import TypeVar\nimport torch\n\ninput_t = TypeVar('input_t')\noutput_t = TypeVar('output_t')\n"
    write(
        {
            "p/double/task.yml": YML,
            "p/double/reference.py": REFERENCE,
            "p/double/utils.py": utils,
            "p/double/task.py": types,
            "p/double/submission.py": "def custom_kernel(data):\n    return data[0] * 2\n",
            "p/other/task.yml": YML,
            "p/other/reference.py": "x = 1\n",
        }
    )
    made, solved, loss = outcomes("p")
    assert made.files == () and made.prompt == () and made.task.spec.timeout_s == 60.0
    assert made.task.source.startswith('"""Double the numbers."""\n'), "a prompt holds it with the reference"
    assert solved.entry == "custom_kernel" and solved.task is made.task
    assert [dict(c.params) for c in made.task.spec.cases] == [{"size": 127}, {"size": 256}]
    (data,), result = run_task(made.task, size=127)
    assert data[0].shape == (127,) and result.tolist() == (data[0] * 2).tolist()
    assert loss.reason == "broken_task" and "ref_kernel" in loss.detail


def test_gpu_mode_shares_files_and_types(write, outcomes) -> None:
    pytest.importorskip("yaml")
    files = "files:\n  - {name: utils.py, source: ../utils.py}\n  - {name: task.py, source: ../../../task.py}\n"
    write(
        {
            "p/utils.py": "def make_match_reference(f):\n    return lambda *a: True\n",
            "p/double/task.yml": files + "tests: [{size: 3, seed: 1}]\n",
            "p/double/reference.py": REFERENCE.replace(": input_t) -> output_t", ")").replace(" -> input_t", ""),
            "p/double/submission.py": "from task import input_t, output_t\n\n\n"
            "def custom_kernel(data: input_t) -> output_t:\n    return data[0] * 2\n",
        }
    )
    made, solved = samples(outcomes("p"))
    assert run_task(made.task, size=3)[1].shape == (3,)
    assert solved.code.startswith("from typing import Any as input_t, Any as output_t\n\n\ndef custom_kernel")
    only, again = outcomes("p", role="tasks")
    assert isinstance(only, Sample) and isinstance(again, Loss)
    assert (again.reason, again.detail) == ("same_task", "that of s:double/task.yml")


DEFINITION = {
    "name": "scale_h8",
    "op_type": "scale",
    "axes": {"h": {"type": "const", "value": 8}, "n": {"type": "var"}},
    "inputs": {
        "x": {"shape": ["n", "h"], "dtype": "float16"},
        "mask": {"shape": ["n"], "dtype": "bool"},
        "factor": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["n", "h"], "dtype": "float16"}},
    "reference": "import torch\n\n\ndef run(x, mask, factor):\n    return torch.where(mask[:, None], x * factor, x)\n",
}
SOLUTION = {
    "name": "s1",
    "definition": "scale_h8",
    "author": "m",
    "sources": [{"path": "util.py", "content": "y = 1"}, {"path": "main.py", "content": "def run(): ..."}],
    "spec": {"language": "triton", "target_hardware": ["H100"], "entry_point": "main.py::run", "dependencies": []},
}
TRACE = {
    "definition": "scale_h8",
    "solution": "s1",
    "workload": {
        "axes": {"n": 5},
        "uuid": "u",
        "inputs": {"x": {"type": "random"}, "mask": {"type": "random"}, "factor": {"type": "scalar", "value": 0.5}},
    },
    "evaluation": {"status": "PASSED", "performance": {"latency_ms": 0.5, "speedup_factor": 2.0}},
}


def test_flashinfer_bench(write, outcomes) -> None:
    files = {
        "f/definitions/a.json": DEFINITION,
        "f/solutions/s.json": SOLUTION,
        "f/traces/t.jsonl": [TRACE],
        "f/solutions/z.json": {**SOLUTION, "definition": "nope"},
        "f/definitions/b.json": {**DEFINITION, "name": "unsized"},
    }
    write(files)
    made, orphan, unsized = outcomes("f")
    assert [f.path for f in made.files] == ["main.py", "util.py"] and made.entry == "run" and made.model == "m"
    assert made.claims == {"name": "s1", "author": "m", "status": "PASSED", "latency_ms": 0.5, "speedup_factor": 2.0}
    assert [dict(c.params) for c in made.task.spec.cases] == [{"n": 5, "factor": 0.5}]
    tasks.parse_task(made.task.source)
    (x, _, factor), result = run_task(made.task, n=5, factor=0.5)
    assert x.shape == (5, 8) and str(x.dtype) == "torch.float16" and factor == 0.5 and result.shape == (5, 8)
    assert orphan.reason == "no_task" and "'nope'" in orphan.detail
    assert unsized.reason == "broken_task" and "n, factor" in unsized.detail


def test_sol_execbench_is_the_same_with_languages(write, outcomes) -> None:
    spec = {**SOLUTION["spec"], "languages": ["cuda"], "entry_point": "main.cu::run"}
    spec.pop("language")
    solution = {**SOLUTION, "spec": spec, "sources": [{"path": "main.cu", "content": "__global__ void k() {}"}]}
    write({"g.jsonl": [DEFINITION, solution, {**TRACE, "solution": "s1"}]})
    (made,) = samples(outcomes("g.jsonl"))
    assert made.backend == "cuda" and made.language == "cuda"


def test_backendbench(write, outcomes) -> None:
    write(
        {
            "b/relu__default/relu__default_implementation_v1.py": "def relu__default_kernel_impl(x):\n    return x\n",
            "b/add__Tensor/add__Tensor_implementation_v1.py": "def other(x):\n    return x\n",
        }
    )
    loss, made = outcomes("b")
    assert loss.reason == "no_code" and "add__Tensor_kernel_impl" in loss.detail
    assert made.entry == "relu__default_kernel_impl" and "torch.ops.aten.relu.default" in made.task.source
    tasks.parse_task(made.task.source)


def test_backendbench_takes_keyword_only_arguments(write, outcomes) -> None:
    code = "def add__Tensor_kernel_impl(input, other, *, alpha=1):\n    return input + alpha * other\n"
    write(
        {
            "b/add__Tensor/add__Tensor_implementation_v1.py": code,
            "b/bad/bad_implementation_1.py": "def bad_kernel_impl(",
        }
    )
    made, bad = samples(outcomes("b"))
    scope: dict = {}
    exec(made.code, scope)
    assert made.code.startswith(code) and made.entry == "candidate"
    assert scope["candidate"](1, 2) == 3 and scope["candidate"](1, 2, 5) == 11
    assert bad.entry == "bad_kernel_impl", "the judge says what is wrong with its text"


NUMPY = (
    "import numpy as np\n\n\ndef forward(a):\n    return a * 2\n\n\ndef get_inputs():\n    return [np.ones((2, 2))]\n"
)


def test_nkibench(write, outcomes) -> None:
    write(
        {
            "n/reference/scale_M4_N8_numpy_k.py": NUMPY,
            "n/kernels/scale_M4_N8_0.py": "def kernel(a): ...\n",
            "n/kernels/gone_M1_0.py": "def kernel(a): ...\n",
            "n/reference/alone_K2_numpy.py": NUMPY,
        }
    )
    loss, made, alone = outcomes("n")
    assert loss.reason == "no_task" and "gone_M1" in loss.detail
    assert (made.task.form, made.entry, made.backend, made.labels) == ("numpy", "kernel", "nki", {"operator": "scale"})
    assert alone.files == () and alone.task.name == "alone_K2"


def test_plain_rows(write, outcomes) -> None:
    rows = [
        {
            "completion": "```python\nx\n```",
            "task": "t1",
            "backend": "triton",
            "reasoning": "r",
            "temperature": 0.5,
            "license": "MIT",
            "model": "m",
            "operator": "add",
        },
        {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], "task": TASK},
        {"code": "__global__ void k() {}", "language": "cuda", "prompt": "do", "task": "missing"},
        {"completion": ""},
        {"code": 5},
        {"messages": [{"role": "user"}]},
        {"code": "x", "task": "def reference(x):\n  pass\n"},
    ]
    write({"p.jsonl": rows, "tasks/t1.py": TASK})
    with (write({}) / "p.jsonl").open("a") as file:
        file.write("{broken\n[1]\n\n")
    first, second, third, *lost = outcomes("p.jsonl", tasks="tasks")
    assert (first.completion, first.reasoning, first.license, first.model) == ("```python\nx\n```", "r", "MIT", "m")
    assert first.task.name == "t1" and first.sampling == {"temperature": 0.5} and first.labels["operator"] == "add"
    assert (
        second.completion == "a"
        and second.prompt == ({"role": "user", "content": "q"},)
        and second.task.form == "function"
    )
    assert (
        isinstance(third, Loss) and third.reason == "no_task" and "'missing'" in third.detail and "t1" in third.detail
    )
    assert [(x.reason, re.match(r"p\.jsonl:\d+", x.detail)[0]) for x in lost] == [
        ("no_code", "p.jsonl:4"),
        ("malformed_row", "p.jsonl:5"),
        ("malformed_row", "p.jsonl:6"),
        ("broken_task", "p.jsonl:7"),
        ("malformed_row", "p.jsonl:8"),
        ("malformed_row", "p.jsonl:9"),
    ]
    assert "lacks make_inputs" in lost[3].detail


def test_folders_of_completions(write, outcomes) -> None:
    both = TASK + "\n\ndef candidate(x):\n    return x\n"
    write(
        {
            "c/relu/1.md": "```python\nx\n```",
            "c/relu/2.txt": "",
            "c/one.py": both,
            "c/add/k.cu": "__global__ void k() {}",
            "c/relu.py": TASK,
            "c/add.py": TASK,
        }
    )
    found = {o.origin if isinstance(o, Sample) else o.uid: o for o in outcomes("c")}
    assert found["one.py"].task.self_referenced and found["one.py"].entry == "candidate"
    assert found["add.py"].files == () and found["add.py"].task.form == "function"
    assert found["relu/1.md"].completion == "```python\nx\n```" and found["relu/1.md"].task.name == "relu"
    assert found["add/k.cu"].language == "cuda"
    assert found["s:relu/2.txt"].reason == "no_code"


def test_what_the_table_of_a_source_says(write, outcomes) -> None:
    write({"p.jsonl": [{"code": "a"}, {"code": "b", "license": "MIT", "backend": "nki"}, {"code": "c"}]})
    first, second = outcomes("p.jsonl", license="Apache-2.0", backend="triton", model="m", limit=2)
    assert (first.license, first.backend, first.model) == ("Apache-2.0", "triton", "m")
    assert (second.license, second.backend) == ("MIT", "nki")
    (first, *_) = outcomes("p.jsonl", role="tasks")
    assert first.files == ()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{k: v for k, v in KERNELBOOK.items() if k != "python_code"} | {"python_source": "x"}],
            r"looks like kernelbook, but its rows lack the field 'python_code' or 'pytorch_code' "
            r"\(did you mean 'python_source'\?\)",
        ),
        (
            [{"code": "x", "level": 1, "problem_id": 2, "title": "t"}],
            r"looks like kernelbench, but its rows lack the field 'name'; format = \"completions\" reads it as that",
        ),
        ([{"completion": "x", "level": 1, "problem_id": 2}], None),
        (
            [{"Op_Name": "x", "CUDA_Code": "y", "Level_ID": 1}],
            r"looks like ai-cuda-engineer, but its rows lack the field 'PyTorch_Code_Module' or",
        ),
        ([{"question_code": "x"}], r"looks like aig-hip2hip, but its rows lack the field 'answer_code'"),
        (
            [{k: v for k, v in DEFINITION.items() if k != "outputs"}],
            r"looks like flashinfer-bench, but its rows lack the field 'outputs'",
        ),
        ([SOLUTION], r"looks like flashinfer-bench, but there are solutions, and no definition"),
        (
            [{"task": "t", "respons": "x"}],
            r"looks like completions, but its rows lack .* \(did you mean 'respons'\?\)",
        ),
        ([{"a": 1, "b": 2}], r"no loader knows this source \(it has the columns a, b\); formats: samples, completions"),
    ],
)
def test_near_misses_name_the_field(write, outcomes, rows, said) -> None:
    write({"x.jsonl": rows})
    if said is None:  # samples of KernelBench's problems, and not its rows
        assert find(look(write({}) / "x.jsonl")).format == "completions"
        return
    with pytest.raises(UsageError, match=rf"source s: .*x\.jsonl: {said}"):
        outcomes("x.jsonl")


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"d/hip_opt/1/a.hip": "x"}, "looks like aig-hip-files, but it has hip_opt"),
        (
            {"d/relu/func_forward.py": "x"},
            r"looks like robust-kbench, but relu/func_forward\.py has no config_forward\.json",
        ),
        ({"d/p/task.yml": YML}, r"looks like gpu-mode, but there is no reference\.py beside p/task\.yml"),
        ({"d/a/reference/x_numpy.py": "def forward(a): ..."}, r"looks like nkibench, but .* lacks `def get_inputs`"),
        (
            {"d/level1/1_a.py": "class Model: ...\ndef get_inputs(): ..."},
            r"looks like kernelbench-files, but .* lacks `def get_init",
        ),
        ({"d/x.bin": b"\0"}, r"no loader knows this source \(it has the files x\.bin\)"),
    ],
)
def test_near_misses_of_folders(write, outcomes, files, said) -> None:
    write(files)
    with pytest.raises(UsageError, match=said):
        outcomes("d")


def test_sources_that_cannot_be_read(write, outcomes) -> None:
    write({"empty.jsonl": "", "b.jsonl": b"\xff\xfe\x00", "c.json": '{"a": ', "d/.hidden": "x"})
    for path, said in (
        ("empty.jsonl", "holds no row"),
        ("b.jsonl", "not UTF-8"),
        ("c.json", "not JSON"),
        ("nope.jsonl", r"no such file or folder"),
        ("empty.json", r"did you mean .*empty\.jsonl"),
    ):
        with pytest.raises(UsageError, match=rf"source s: .*{said}"):
            outcomes(path)
    with pytest.raises(UsageError, match="the folder is empty"):
        outcomes("d")
    with pytest.raises(UsageError, match=r"is not of the format 'kernelbok'; formats: samples"):
        write({"e.jsonl": [{"code": "x"}]})
        outcomes("e.jsonl", format="kernelbok")


def test_parquet_and_gzip_give_the_same_as_lines(write, outcomes) -> None:
    import gzip

    rows = [{"code": f"x{n}", "backend": "triton"} for n in range(5)]
    folder = write({"a.jsonl": rows, "list.json": rows})
    (folder / "b.jsonl.gz").write_bytes(gzip.compress((folder / "a.jsonl").read_bytes()))
    names = ["b.jsonl.gz", "list.json"]
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "c.parquet")
    names.append("c.parquet")
    want = [s.code for s in outcomes("a.jsonl")]
    for name in names:
        assert [s.code for s in outcomes(name)] == want, name
    (folder / "bad.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(UsageError, match=r"bad\.parquet: cannot be read as Parquet"):
        outcomes("bad.parquet")
