"""Tasks by name from every format, and what is said of samples that have none."""

from __future__ import annotations

import json

import pytest
from kengine import cli
from kengine.curate.load import load, open_source
from kengine.curate.lookup import LACK, TaskBook
from kengine.curate.parse import parse_sample
from kengine.curate.record import Loss, Sample
from kengine.curate.settings import Source
from kengine.errors import UsageError

TASK = "def reference(x):\n    return x\n\n\ndef make_inputs(seed, device):\n    return (1,)\n"
MODULE = """import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.randn(4)]


def get_init_inputs():
    return []
"""
RULE = "#" * 146
YAML = "lang: py\ndescription: doubles\ntests:\n- {n: 4, seed: 1}\n"
REF = (
    "import torch\ndef generate_input(n, seed):\n    return torch.ones(n)\ndef ref_kernel(data):\n    return data * 2\n"
)
TRITONBENCH = (
    "import torch\n\ndef shifted(x):\n    return x + 1\n\n" + RULE
    + "\n\ndef test_shifted():\n    return {'a': shifted(torch.ones(3))}\n"
)  # fmt: skip
DEFINITION = {
    "name": "doubled", "axes": {"n": {"type": "const", "value": 4}}, "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},  # noqa: E501
    "outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x):\n    return x * 2\n",
}  # fmt: skip
KERNELBOOK = {
    "entry_point": "Scale", "original_triton_code": "", "triton_code": MODULE.replace("class Model(", "class ScaleNew("), "repo_name": "a/b", "module_name": "Scale",  # noqa: E501
    "synthetic": False, "uuid": 7, "licenses": ["MIT"], "stars": 3, "sha": "x", "repo_link": "https://example.org",
    "python_code": MODULE.replace("class Model(", "class Scale(").replace("return []", "return [[], {}]"),
}  # fmt: skip
TASKS = {
    "kengine": ({"t/add.py": TASK}, "add"),
    "kernelbench-files": ({"t/level1/3_Relu.py": MODULE}, "3_Relu"),
    "kernelbench": ({"t/k.jsonl": [{"code": MODULE, "level": 2, "name": "12_Gemm_Add_.py", "problem_id": 12}]}, "12_Gemm_Add_"),  # noqa: E501
    "multikernelbench": ({"t/reference/activation/relu.py": MODULE}, "relu"),
    "cuda-agent-ops": ({"t/o.jsonl": [{"ops": ["torch.add"], "data_source": "x", "code": MODULE}]}, "ops_1"),
    "kernelbook": ({"t/b.jsonl": [KERNELBOOK]}, "Scale"),
    "gpu-mode": ({"t/vec/task.yml": YAML, "t/vec/reference.py": REF}, "vec"),
    "tritonbench-t": ({"t/shifted.py": TRITONBENCH}, "shifted"),
    "flashinfer-bench": ({"t/definitions/d.json": DEFINITION}, "doubled"),
    "completions": ({"t/c.jsonl": [{"task": TASK, "name": "named", "code": "x = 1"}]}, "named"),
    "a file of rows": ({"t.jsonl": [{"code": MODULE, "level": 1, "name": "1_A.py", "problem_id": 1}]}, "1_A"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TASKS)
def test_tasks_of_every_format_serve_rows_that_name_them(kind, write, outcomes) -> None:
    if kind == "gpu-mode":
        pytest.importorskip("yaml", reason="task.yml is read by PyYAML")
    files, name = TASKS[kind]
    place = "t.jsonl" if "t.jsonl" in files else "t"
    write({**files, "rows.jsonl": [{"code": "x = 1", "task": name}, {"code": "x = 2", "task": "nothing"}]})
    good, bad = outcomes("rows.jsonl", tasks=place)
    assert isinstance(good, Sample) and good.task is not None and good.group == good.task.digest
    assert good.task.name == name.removesuffix(".py")
    assert isinstance(bad, Loss) and bad.reason == "no_task"
    assert "no task 'nothing' in " in bad.detail and bad.detail.endswith(f"there are: {good.task.name}")


def test_a_plugins_loader_serves_too(write, tmp_path, monkeypatch) -> None:
    from kengine.curate import format as formats
    from kengine.curate import taskbook
    from kengine.curate.format import Glimpse, Loader

    def recognise(glimpse: Glimpse) -> list[Loader]:
        task = taskbook.make(TASK, "of_a_plugin")
        return [Loader("own", 9, lambda: iter([Sample("", "", "x.own", task)]))] if "x.own" in glimpse.files else []

    real = formats._hooks()
    monkeypatch.setattr(formats, "_hooks", lambda: [*real, ("own", recognise)])
    write({"t/x.own": "!", "rows.jsonl": [{"code": "x", "task": "of_a_plugin"}]})
    (made,) = load([Source("rows.jsonl", "s", tasks="t")], tmp_path)
    assert isinstance(made, Sample) and made.task is not None and made.task.name == "of_a_plugin"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"t/a.md": "hi", "t/b.txt": "x"}, r"holds no task: it has a\.md, b\.txt; formats of tasks: .*gpu-mode"),
        ({"t/a.py": "x = 1\n"}, r"holds no task: it has a\.py \(a\.py: holds no task\)"),
        ({"t/a.py": "def reference(x): ...\n"}, r"it has a\.py \(a\.py: defines reference, but lacks make_inputs"),
        ({"t/v/task.yml": YAML}, r"looks like gpu-mode, but there is no reference\.py beside v/task\.yml"),
        ({"t/c.jsonl": [{"code": "x = 1", "model": "m"}]}, "it was read as completions, and no row of it is a task"),
        ({"t/c.jsonl": [{"code": "x = 1", "task": "def reference(x):\n  pass\n"}]}, "no row of it is a task: .*lacks make_inputs"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_place_without_tasks_says_what_was_found_instead(files, said, write, tmp_path) -> None:
    write({**files, "rows.jsonl": [{"code": "x", "task": "a"}]})
    with pytest.raises(UsageError, match=rf"source s: tasks: .*t: {said}|source s: tasks: .*{said}"):
        open_source(Source("rows.jsonl", "s", tasks="t"), tmp_path)


def test_a_name_of_two_tasks_leads_to_none(write, outcomes) -> None:
    rows = [
        {"code": MODULE, "level": 1, "name": "1_A.py", "problem_id": 1},
        {"code": MODULE.replace("* 2", "* 3"), "level": 2, "name": "1_B.py", "problem_id": 1},
    ]
    write({"t.jsonl": rows, "rows.jsonl": [{"code": "x", "task": "1"}, {"code": "x", "task": "b"}]})
    both, second = outcomes("rows.jsonl", tasks="t.jsonl")
    assert isinstance(both, Loss) and "'1' may be '1_A' or '1_B'" in both.detail
    assert isinstance(second, Sample) and second.task is not None and second.task.name == "1_B"


def test_files_name_their_task_by_folder_or_by_name(write, outcomes) -> None:
    code = "def candidate(x):\n    return x\n"
    write({
        "t/add.py": TASK, "t/mul.py": TASK + "# mul\n",
        "c/add/run1/a.py": code, "c/mul.py": code, "c/add_3.py": code, "c/mul.attempt-12.md": f"```python\n{code}```\n",
        "c/other.py": code, "c/add_backward.py": code, "c/x/deep.py": code,
    })  # fmt: skip
    found = {o.origin: o for o in outcomes("c", tasks="t") if isinstance(o, Sample)}
    named = {origin: o.task.name for origin, o in found.items() if o.task is not None}
    assert named == {"add/run1/a.py": "add", "mul.py": "mul", "add_3.py": "add", "mul.attempt-12.md": "mul"}
    assert found["add_3.py"].labels == {"task": "add"}
    for origin in ("other.py", "add_backward.py", "x/deep.py"):
        (loss,) = parse_sample(found[origin])
        assert isinstance(loss, Loss) and loss.reason == "no_task"
        assert loss.detail.startswith(f"{origin} does not say which task it is for")
        assert f"(TASK/{origin.rpartition('/')[2]})" in loss.detail and loss.detail.endswith("add, mul")


def test_one_file_of_a_task_is_for_all_that_name_none(write, outcomes) -> None:
    write(
        {
            "add.py": TASK,
            "c/x.py": "y = 1\n",
            "c/r1/z.py": "y = 2\n",
            "rows.jsonl": [{"code": "x"}, {"code": "y", "task": "mul"}],
        }
    )
    assert [o.task.name for o in outcomes("c", tasks="add.py")] == ["add", "add"]
    one, other = outcomes("rows.jsonl", tasks="add.py")
    assert one.task.name == "add" and isinstance(other, Loss) and "there are: add" in other.detail


def test_a_row_without_a_task_is_told_how_to_name_one(write, outcomes) -> None:
    write({"rows.jsonl": [{"code": "x = 1\n"}, {"code": "y", "prompt": "do"}], "t/add.py": TASK})
    bare, asked = outcomes("rows.jsonl", tasks="t")
    (loss,) = parse_sample(bare)
    assert "neither a prompt nor a field 'task'" in loss.detail and loss.detail.endswith("add)")
    assert LACK not in asked.labels
    from kengine.curate.parse import Parse

    (kept,) = parse_sample(bare, Parse(taskless="keep"))
    assert isinstance(kept, Sample) and LACK not in kept.labels


def test_names_that_lead_nowhere_take_no_memory(tmp_path) -> None:
    (tmp_path / "add.py").write_text(TASK)
    book = TaskBook(tmp_path, tmp_path)
    before = len(book._named)
    for n in range(50):
        book.find(Sample("", "", f"x{n}/y{n}_1.py"), "completion-files")
        book.find(Sample("", "", f"r:{n}", labels={"task": f"no{n}"}), "completions")
    assert len(book._named) == before


def test_a_run_that_keeps_nothing_shows_why(write, capsys) -> None:
    folder = write({"c/other.py": "def candidate(x):\n    return x\n", "curate.toml": '[[source]]\npath = "c"\n'})
    assert cli.run(["curate", str(folder / "curate.toml"), "-q"]) == 0
    said = capsys.readouterr().out
    assert "0 rows in" in said and "parse no_task: c:other.py: other.py does not say which task it is for" in said
    losses = (folder / "curated" / "corpus" / "losses.jsonl").read_text().splitlines()
    assert json.loads(losses[0])["detail"].startswith("other.py does not say which task")


def test_files_without_a_task_are_still_deduplicated_alone(write, capsys) -> None:
    pytest.importorskip("rensa", reason="MinHash comes with kernel-engine[curate]")
    code = "def candidate(x):\n    return x + 1\n"
    folder = write({"c/r1/a.py": code, "c/r2/b.py": code})
    assert cli.run(["curate", "dedup", str(folder / "c"), "-o", str(folder / "o.jsonl")]) == 0
    assert len((folder / "o.jsonl").read_text().splitlines()) == 1
