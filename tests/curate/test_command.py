"""`kengine curate`: whole runs, single stages, and what it says when something is wrong."""

from __future__ import annotations

import json

import pytest
from kengine import cli
from kengine.curate.settings import STAGES
from toy_items import GOOD
from toy_items import TASK as TOY

TOML = """
[[source]]
path = "rows.jsonl"
tasks = "tasks"
[reject]
targets = ["toy:cpu"]
[export]
splits = { train = 1.0 }
"""
BAD = GOOD.replace("x[rows] + y[rows]", "x[rows]")


@pytest.fixture
def folder(write, monkeypatch):
    def fenced(code: str) -> str:
        return f"```python\n{code}```"

    rows = [
        {"completion": fenced(GOOD), "task": "add", "backend": "toy"},
        {"completion": fenced(BAD), "task": "add", "backend": "toy"},
        {"completion": "no", "task": "add", "backend": "toy"},
    ]
    folder = write({"rows.jsonl": rows, "tasks/add.py": TOY, "curate.toml": TOML})
    monkeypatch.chdir(folder)
    return folder


def test_a_whole_run(folder, capsys) -> None:
    assert cli.run(["curate", "curate.toml", "--jobs", "1"]) == 0
    out, err = capsys.readouterr()
    assert (
        "reject" in out and "wrong_result 1" in out and "no_code 1" in out and "1 rows in curated" in out and err == ""
    )
    assert len((folder / "curated/corpus/messages/train.jsonl").read_text().splitlines()) == 1
    assert cli.run(["curate", "curate.toml", "--out", "elsewhere", "-q"]) == 0
    assert "1 rows in elsewhere" in capsys.readouterr().out and (folder / "elsewhere/corpus/README.md").exists()
    assert cli.run(["curate", ".", "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "kengine.curation/1" and body["rows"] == 1 and body["folder"] == "curated"
    assert [(s["stage"], s["entered"], s["left"]) for s in body["steps"]] == [
        ("load", 3, 3),
        ("parse", 3, 2),
        ("reject", 2, 1),
    ]


def test_stages_alone_give_the_same_as_together(folder, capsys) -> None:
    assert cli.run(["curate", "load", "rows.jsonl", "--config", "curate.toml", "-o", "a.jsonl"]) == 0
    first = [json.loads(line) for line in (folder / "a.jsonl").read_text().splitlines()]
    assert len(first) == 3 and first[0]["uid"] == "rows.jsonl:rows.jsonl:1" and first[0]["schema"] == "kengine.sample/1"
    assert cli.run(["curate", "parse", "a.jsonl", "-o", "b.jsonl"]) == 0
    assert "rows.jsonl:rows.jsonl:3: no_code" in capsys.readouterr().err
    assert cli.run(["curate", "reject", "b.jsonl", "--set", 'targets=["toy:cpu"]', "-o", "c.jsonl", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["steps"][0]["lost"] == {"wrong_result": 1}
    assert cli.run(["curate", "export", "c.jsonl", "--set", "splits={train=1.0}", "-o", "corpus"]) == 0
    (row,) = [json.loads(line) for line in (folder / "corpus/messages/train.jsonl").read_text().splitlines()]
    assert row["uid"] == "rows.jsonl:rows.jsonl:1" and row["verdict"] == "passed"
    assert sorted(p.name for p in folder.glob(".*")) == []


def test_a_stage_alone_writes_to_stdout(folder, capsys) -> None:
    assert cli.run(["curate", "parse", "rows.jsonl", "--set", "taskless=keep"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 2 and json.loads(out.splitlines()[0])["files"][0][1] == GOOD
    assert "parse" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["curate", "nope.toml"], "nope.toml: no such file"),
        (["curate", "dedupe", "x.jsonl"], "no stage 'dedupe'; did you mean 'dedup'? stages: load"),
        (["curate", "parse"], "kengine curate parse: give files or folders of samples"),
        (["curate", "parse", "nope.jsonl"], "no such file or folder"),
        (["curate", "parse", "rows.jsonl", "--set", "trunc=drop"], "--set: parse.trunc: unknown key"),
        (["curate", "parse", "rows.jsonl", "--set", "truncated"], "want KEY=VALUE"),
        (["curate", "parse", "rows.jsonl", "--set", "truncated=3"], "parse.truncated: want str, got int"),
        (["curate", "reject", "rows.jsonl"], "names no targets"),
        (["curate", "sample", "rows.jsonl"], "names neither a file to `replay` nor a `model`"),
        (["curate", "curate.toml", "--set", "x=1"], "--set is for a stage that stands alone"),
        (["curate", "parse", "rows.jsonl", "-o", "rows.jsonl/x"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_one_clear_line(folder, capsys, arguments, said) -> None:
    assert cli.run(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    (line,) = [each for each in lines if each.startswith("kengine: error:")]
    assert said in line and "Traceback" not in "".join(lines)


def test_an_unknown_target_ends_the_run_and_keeps_what_was_done(folder, capsys) -> None:
    (folder / "curate.toml").write_text(TOML.replace("toy:cpu", "toy:gpu"))
    assert cli.run(["curate", "curate.toml"]) == 2
    assert "unknown target toy:gpu" in capsys.readouterr().err
    assert (folder / "curated/curate.sqlite").exists() and not (folder / "curated/corpus").exists()


def test_help_names_the_stages() -> None:
    assert {"load", "sample", "parse", "reject", "dedup", "decontaminate", "balance", "augment", "export"} <= set(
        STAGES
    )
