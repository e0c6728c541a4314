"""Stage decontaminate: equal code, the same task, similar code; and an audit that tells what matched what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kengine.curate import pipeline, settings
from kengine.curate.record import Loss, Sample
from kengine.errors import UsageError
from kengine.model import SourceFile, Task
from kernels_text import BLOCKED, CUDA, MULTI_ROW, ONE_ROW, swap

pytest.importorskip("tree_sitter_cuda", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("tree_sitter_python", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("rensa", reason="needs rensa: pip install 'kernel-engine[curate]'")

from kengine import cli
from kengine.curate.code.tasks import digest_reference, digest_task
from kengine.curate.decontam_match import names_of, plain_name
from kengine.curate.decontaminate import Benchmark, Decontaminate, decontaminate

MODULE = """import torch
import torch.nn as nn

class Model(nn.Module):
    \"\"\"{what}\"\"\"
    def __init__(self, dim: int):
        super().__init__()
        self.dim = dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.{op}(x, dim=self.dim)

batch_size = {batch}
features = 64

def get_inputs():
    return [torch.randn(batch_size, features)]

def get_init_inputs():
    return [1]
"""
SOFTMAX = MODULE.format(what="Softmax over one dimension.", op="softmax", batch=16)
OTHER_SIZES = MODULE.format(what="A layer.", op="softmax", batch=4096).replace("features", "width")
OTHER_SIZES = OTHER_SIZES.replace("self.dim", "self.axis").replace("dim: int", "axis: int").replace("= dim", "= axis")
ASKED = {"role": "user", "content": f"Speed up:\n```python\n{SOFTMAX}```\n"}
CUMSUM = MODULE.format(what="Running sum.", op="cumsum", batch=16)


def task(source: str, name: str = "t") -> Task:
    return Task(name, "module", source)


def sample(uid: str, code: str = "", of: Task | None = None, **given) -> Sample:
    path = "candidate.cu" if code.startswith("#include") else "candidate.py"
    return Sample(uid, "s", uid, of, files=(SourceFile(path, code),) if code else (), backend="triton", **given)


@pytest.fixture
def kernels(write) -> Path:
    rows = [{"level": 1, "problem_id": 23, "name": "23_Softmax.py", "code": SOFTMAX}]
    solutions = [{"code": ONE_ROW, "task": "norm"}, {"code": CUDA, "backend": "cuda", "task": "norm"}]
    return write({"bench.jsonl": rows, "solutions.jsonl": solutions})


def run(folder: Path, samples: list[Sample], **given) -> dict[str, tuple[str, str]]:
    sets = (Benchmark("bench.jsonl", "bench"), Benchmark("solutions.jsonl", "solutions"))
    outcomes = list(decontaminate(samples, Decontaminate(sets, **given), folder))
    assert [o.uid for o in outcomes] == [s.uid for s in samples]
    return {o.uid: (o.reason, o.detail) for o in outcomes if isinstance(o, Loss)}


def test_each_kind_of_match(kernels) -> None:
    longer = ONE_ROW + "\n\n" + BLOCKED.replace("def kernel", "def second").replace("def candidate", "def another")
    samples = [
        sample("clean", MULTI_ROW, task(CUMSUM, "running")),
        sample("copied", ONE_ROW.replace("cols", "lanes").replace("1024", "2048"), task(CUMSUM, "running")),
        sample("copied cuda", CUDA.replace("sum", "acc")),
        sample("near", swap(ONE_ROW, "row =", "cols =")),
        sample("within", longer),
        sample("same reference", BLOCKED, task(OTHER_SIZES, "anything")),
        sample("same name", BLOCKED, task(CUMSUM, "softmax")),
        sample("same operator", BLOCKED, task(CUMSUM, "x1"), labels={"operator": "Softmax"}),
        sample("asked for it", BLOCKED, None, prompt=(ASKED,)),
        sample("reference copied", SOFTMAX.replace("Model", "ModelNew")),
        sample("other", BLOCKED, task(CUMSUM, "other")),
        sample("no code", "", task(CUMSUM, "no code")),
    ]  # fmt: skip
    found = run(kernels, samples)
    assert found == {
        "copied": ("benchmark_copy", "equal code 1.00: solutions: solutions:solutions.jsonl:1"),
        "copied cuda": ("benchmark_copy", "equal code 1.00: solutions: solutions:solutions.jsonl:2"),
        "near": ("benchmark_near", "similarity 1.00: solutions: solutions:solutions.jsonl:1"),
        "within": ("benchmark_near", found["within"][1]),
        "same reference": ("benchmark_task", "reference 1.00: bench: bench:bench.jsonl:1"),
        "same name": ("benchmark_task", "name softmax 1.00: bench: bench:bench.jsonl:1"),
        "same operator": ("benchmark_task", "name softmax 1.00: bench: bench:bench.jsonl:1"),
        "asked for it": ("benchmark_task", "reference 1.00: bench: bench:bench.jsonl:1"),
        "reference copied": ("benchmark_copy", "equal code 1.00: bench: bench:bench.jsonl:1"),
    }
    assert found["within"][1].startswith("containment 0.9") or found["within"][1].startswith("containment 1.0")


def test_what_is_switched_off_matches_nothing(kernels) -> None:
    near, named = sample("near", swap(ONE_ROW, "row =", "cols =")), sample("named", BLOCKED, task(CUMSUM, "softmax"))
    assert set(run(kernels, [near, named])) == {"near", "named"}
    assert set(run(kernels, [near, named], near=False)) == {"named"}
    assert set(run(kernels, [near, named], names=False)) == {"near"}
    little = sample("little", ONE_ROW.replace("other=0.0", "other=0.0, cache_modifier='.ca'"))
    assert set(run(kernels, [little], threshold=0.8)) == {"little"}
    assert set(run(kernels, [little], threshold=0.99, containment=0.99)) == set()


def test_empty_and_broken_code_match_nothing(kernels) -> None:
    samples = [sample("space", " "), sample("broken", "def f(:\n"), sample("binary", "\0"), sample("short", "x = 1")]
    assert run(kernels, samples) == {}


def test_the_reference_counts_without_sizes_names_and_docstrings() -> None:
    assert digest_reference(task(SOFTMAX)) == digest_reference(task(OTHER_SIZES)) != digest_reference(task(CUMSUM))
    assert digest_task(task(SOFTMAX)) != digest_task(task(OTHER_SIZES))
    assert digest_task(task(SOFTMAX)) == digest_task(task("# !\n" + SOFTMAX.replace("Softmax over", "About")))
    function = (
        "def make_inputs(seed, device, N=8):\n    return (N,)\n\n\ndef reference(x, y):\n    return x * y + x.{}()\n"
    )
    one, other = (Task("t", "function", function.format(op)) for op in ("sum", "mean"))
    wider = Task("u", "function", function.format("sum").replace("N=8", "N=512").replace("(N,)", "(N, N)"))
    assert digest_reference(one) == digest_reference(wider) != digest_reference(other)
    assert digest_reference(Task("t", "function", "x = 1\n")) is None


@pytest.mark.parametrize(
    ("name", "plain"),
    [("level1/19_ReLU.py", "relu"), ("1_Square_matrix_multiplication_", "square_matrix_multiplication"),
     ("Softmax", "softmax"), ("model", ""), ("task_12", ""), ("12", ""), ("", ""),
     ("aten.add.Tensor", "aten_add_tensor")],
)  # fmt: skip
def test_names_are_compared_without_numbers(name, plain) -> None:
    assert plain_name(name) == plain


def test_a_problem_is_known_by_its_number_within_a_set() -> None:
    from kengine.model import TaskSpec

    numbered = Task("x", "module", CUMSUM, spec=TaskSpec(origin="KernelBench"))
    assert names_of(sample("a", "", numbered, labels={"problem": "23", "level": 1})) == [
        "kernelbench_level_1_problem_23"
    ]


def test_a_benchmark_that_holds_nothing_is_refused(write) -> None:
    folder = write(
        {"empty.jsonl": [{"prompt": "q", "completion": ""}], "rows.jsonl": [{"code": ONE_ROW, "prompt": "q"}]}
    )
    with pytest.raises(UsageError, match=r"benchmark empty\.jsonl: empty\.jsonl: holds neither a task nor code"):
        list(decontaminate([], Decontaminate((Benchmark("empty.jsonl"),)), folder))
    with pytest.raises(UsageError, match=r"missing\.jsonl: no such file"):
        list(decontaminate([], Decontaminate((Benchmark("missing.jsonl"),)), folder))
    with pytest.raises(UsageError, match=r"benchmark\[0\]\.path: is empty"):
        Decontaminate((Benchmark(""),))
    with pytest.raises(UsageError, match=r"containment: want 0\.5 to 1, got 2"):
        Decontaminate(containment=2)


TOML = """
stages = ["load", "parse", "decontaminate", "export"]
[[source]]
path = "rows.jsonl"
[decontaminate]
benchmark = [{{ path = "{path}" }}]
[export]
formats = ["samples"]
splits = {{ train = 1.0 }}
"""


def test_a_run_audits_what_it_drops(write) -> None:
    rows = [{"code": c, "prompt": "q"} for c in (ONE_ROW, BLOCKED, swap(ONE_ROW, "row =", "cols ="), MULTI_ROW)]
    folder = write(
        {"rows.jsonl": rows, "bench.jsonl": [{"code": ONE_ROW}], "curate.toml": TOML.format(path="bench.jsonl")}
    )
    result = pipeline.run(settings.read(folder / "curate.toml"))
    assert result.funnel["decontaminate"].lost == {"benchmark_copy": 1, "benchmark_near": 1} and result.rows == 2
    head, *audit = map(json.loads, (folder / "curated/contamination.jsonl").read_text().splitlines())
    assert head == {"schema": "kengine.benchmark/1", "name": "bench.jsonl", "path": "bench.jsonl", "solutions": 1,
                    "references": 0, "unreadable": 0, "first_problem": ""}  # fmt: skip
    assert [(row["uid"], row["reason"], [m["how"] for m in row["matches"]]) for row in audit] == [
        ("rows.jsonl:rows.jsonl:1", "benchmark_copy", ["equal code", "similarity"]),
        ("rows.jsonl:rows.jsonl:3", "benchmark_near", ["similarity"]),
    ]
    assert audit[0]["matches"][0] == {
        "reason": "benchmark_copy", "how": "equal code", "score": 1.0, "benchmark": "bench.jsonl",
        "matched": "bench.jsonl:bench.jsonl:1", "part": "solution",
    }  # fmt: skip


def test_a_benchmark_that_is_missing_is_told_before_anything_runs(write, capsys) -> None:
    folder = write({"rows.jsonl": [{"code": ONE_ROW, "prompt": "q"}], "curate.toml": TOML.format(path="nowhere.jsonl")})
    assert cli.run(["curate", str(folder / "curate.toml"), "-q"]) == 2
    assert "nowhere.jsonl: no such file" in capsys.readouterr().err
    (folder / "curate.toml").write_text('[[source]]\npath = "rows.jsonl"\n[decontaminate]\n')
    assert cli.run(["curate", str(folder / "curate.toml"), "-q", "--fresh"]) == 2
    assert "curate.toml:3: decontaminate: names no benchmark" in capsys.readouterr().err


def test_the_stage_alone(write, monkeypatch, capsys) -> None:
    rows = [{"code": c, "prompt": "q"} for c in (ONE_ROW, BLOCKED)]
    monkeypatch.chdir(write({"rows.jsonl": rows, "bench.jsonl": [{"code": ONE_ROW}]}))
    options = ["--set", 'benchmark=[{path="bench.jsonl"}]', "--set", 'audit="audit.jsonl"', "-o", "out.jsonl", "-q"]
    assert cli.run(["curate", "decontaminate", "rows.jsonl", *options]) == 0
    assert (
        len(Path("out.jsonl").read_text().splitlines()) == 1 and len(Path("audit.jsonl").read_text().splitlines()) == 2
    )
    assert "benchmark_copy" in capsys.readouterr().err


def test_code_without_a_token_is_nobodys_copy(write) -> None:
    folder = write({"bench.jsonl": [{"code": SOFTMAX}, {"code": "# nothing\n"}], "solutions.jsonl": [{"code": CUDA}]})
    samples = [sample("a", "# something\n"), sample("b", "# nothing\n"), sample("c", "\n")]
    assert run(folder, samples) == {}


def test_what_the_assistant_said_is_no_question(kernels) -> None:
    said = {**ASKED, "role": "assistant"}
    samples = [sample("said", BLOCKED, None, prompt=(said,)), sample("asked", BLOCKED, None, prompt=(said, ASKED))]
    assert set(run(kernels, samples)) == {"asked"}


def test_a_problems_number_says_nothing_outside_of_its_set() -> None:
    assert names_of(sample("a", "", Task("x", "module", CUMSUM), labels={"problem": "23", "level": 1})) == []


def test_the_most_similar_match_decides(write) -> None:
    near = swap(ONE_ROW, "row =", "cols =")
    little = ONE_ROW.replace("other=0.0", "other=0.0, cache_modifier='.ca'")
    for codes, number in (([little, near], 2), ([near, little], 1)):
        write({"bench.jsonl": [{"code": code} for code in codes], "solutions.jsonl": [{"code": CUDA}]})
        folder = write({})
        ((reason, detail),) = run(folder, [sample("x", ONE_ROW)]).values()
        assert (reason, detail) == ("benchmark_near", f"similarity 1.00: bench: bench:bench.jsonl:{number}")
