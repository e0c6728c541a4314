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
        "reject" in out and "wrong_result 1" in out and "no_code 1" in out and "1 row in curated" in out and err == ""
    )
    assert len((folder / "curated/corpus/messages/train.jsonl").read_text().splitlines()) == 1
    assert cli.run(["curate", "curate.toml", "--out", "elsewhere", "-q"]) == 0
    assert "1 row in elsewhere" in capsys.readouterr().out and (folder / "elsewhere/corpus/README.md").exists()
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
    assert json.loads(line)["steps"][1]["lost"] == {"wrong_result": 1}
    assert cli.run(["curate", "export", "c.jsonl", "--set", "splits={train=1.0}", "-o", "corpus"]) == 0
    (row,) = [json.loads(line) for line in (folder / "corpus/messages/train.jsonl").read_text().splitlines()]
    assert row["uid"] == "rows.jsonl:rows.jsonl:1" and row["verdict"] == "passed"
    assert sorted(p.name for p in folder.glob(".*")) == []


def test_a_stage_alone_counts_what_is_no_sample_with_its_file_and_row(folder, capsys) -> None:
    good = (folder / "rows.jsonl").read_text().splitlines()[0]
    unknown = good.replace('"task": "add"', '"task": "ad"')
    assert unknown != good
    (folder / "rows.jsonl").write_text("\n".join((good, '{"task": "add", ', good, unknown)) + "\n")
    for stage, more in (("parse", {}), ("dedup", {"exact_duplicate": 1})):
        assert cli.run(["curate", stage, "rows.jsonl", "-o", "out.jsonl", "--json"]) == 0
        out, err = capsys.readouterr()
        steps = [(s["stage"], s["entered"], s["lost"], s["left"]) for s in json.loads(out)["steps"]]
        assert steps == [("load", 4, {"malformed_row": 1, "no_task": 1}, 2), (stage, 2, more, 2 - len(more))]
        told = [line for line in err.splitlines() if "duplicate" not in line]
        assert len(told) == 2 and "rows.jsonl:2: malformed_row: rows.jsonl:2: not JSON" in told[0]
        assert "rows.jsonl:4: no_task: no task 'ad'" in told[1] and "add" in told[1]


def test_a_report_alone_holds_what_loading_lost(folder, capsys) -> None:
    with (folder / "rows.jsonl").open("a") as file:
        file.write("{\n")
    assert cli.run(["curate", "report", "rows.jsonl", "-o", "alone"]) == 0
    capsys.readouterr()
    body = json.loads((folder / "alone/report.json").read_text())
    assert body["steps"][0] == {"stage": "load", "entered": 4, "added": 0, "left": 3, "lost": {"malformed_row": 1}}


def test_what_is_wrong_with_the_settings_is_said_before_what_the_folder_holds(folder, capsys) -> None:
    assert cli.run(["curate", "curate.toml", "-q"]) == 0
    text = (folder / "curate.toml").read_text()
    (folder / "curate.toml").write_text(text.replace("toy:cpu", "tyo:cpu"))
    assert cli.run(["curate", "curate.toml", "-q"]) == 2
    assert "reject.targets: 'tyo:cpu': no backend 'tyo' is installed" in capsys.readouterr().err
    (folder / "curate.toml").write_text(text.replace("toy:cpu", "toy"))
    assert cli.run(["curate", "curate.toml", "-q"]) == 2
    assert "holds a run with other settings (they differ in: reject)" in capsys.readouterr().err


def test_difficulty_balance_curriculum_and_report_alone_and_together(folder, capsys) -> None:
    (folder / "curate.toml").write_text(
        f"{TOML}[difficulty]\nmin_attempts = 1\n[balance]\nhard = 3.0\n[curriculum]\n[report]\ntitle = 'Toy'\n"
    )
    assert cli.run(["curate", "curate.toml", "-q"]) == 0
    body = json.loads((folder / "curated/report/report.json").read_text())
    assert [s["stage"] for s in body["steps"]] == ["load", "parse", "reject", "difficulty", "balance", "curriculum"]
    # three answers: one passes, one is wrong, one holds no code
    assert [(r["k"], r["tasks"], round(r["passed"], 3)) for r in body["at_k"]] == [(1, 1, 0.333), (2, 1, 0.667)]
    (lost_by,) = [row for row in body["by"]["category"] if row["value"] == "elementwise"]
    assert lost_by["lost"] == {"parse no_code": 1, "reject wrong_result": 1} and lost_by["kept"] == 1
    (row,) = [json.loads(x) for x in (folder / "curated/corpus/messages/train.jsonl").read_text().splitlines()]
    labels = json.loads(row["labels"])
    assert {k: labels[k] for k in ("attempts", "pass_rate", "difficulty", "level", "order", "phase")} == {
        "attempts": 3, "pass_rate": 0.333333, "difficulty": "medium", "level": 1, "order": 1, "phase": 1
    }  # fmt: skip
    assert row["weight"] == pytest.approx(1 + 2 * (1 - 0.333333), abs=1e-5)

    assert cli.run(["curate", "load", "rows.jsonl", "--config", "curate.toml", "-o", "a.jsonl"]) == 0
    assert cli.run(["curate", "parse", "a.jsonl", "-o", "b.jsonl"]) == 0
    assert cli.run(["curate", "reject", "b.jsonl", "--config", "curate.toml", "-o", "c.jsonl"]) == 0
    assert cli.run(["curate", "difficulty", "c.jsonl", "--set", "min_attempts=1", "-o", "d.jsonl"]) == 0
    assert cli.run(["curate", "balance", "d.jsonl", "--set", "weights={level={1=2.5}}", "-o", "e.jsonl"]) == 0
    assert cli.run(["curate", "curriculum", "e.jsonl", "--set", "schedule=[[2],[1]]", "-o", "f.jsonl"]) == 0
    (made,) = [json.loads(x) for x in (folder / "f.jsonl").read_text().splitlines()]
    # by itself a stage sees what is left only: one attempt, which passed, so that nothing is to be learned from more
    assert made["labels"]["pass_rate"] == 1.0 and "weight" not in made
    assert (made["labels"]["order"], made["labels"]["phase"]) == (1, 2)
    assert cli.run(["curate", "report", "f.jsonl", "--set", "title=Alone", "-o", "alone"]) == 0
    assert "Alone" in (folder / "alone/report.html").read_text()
    # from the folder of a run the losses are there as well
    assert cli.run(["curate", "report", "curated", "-o", "again"]) == 0
    again = json.loads((folder / "again/report.json").read_text())
    assert {k: v for k, v in again.items() if k != "title"} | {"title": "Toy"} == body | {"by": again["by"]}
    assert cli.run(["curate", "export", "curated", "--set", 'formats=["hf"]', "-o", "more"]) == 0
    assert len(list((folder / "more/hf").iterdir())) == 1
    capsys.readouterr()


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
