import json

import pytest
from kengine import codec
from kengine.model import TimeRecord, Verdict


@pytest.fixture
def recorded(kengine, kernel, task, tmp_path):
    """Three verdicts on one task: right, wrong, refused by lint."""
    text = kernel.read_text()
    (tmp_path / "wrong.py").write_text(text.replace("x[part] + y[part]", "x[part] - y[part]"))
    (tmp_path / "broken.py").write_text(text.replace("def candidate", "def candidate("))
    done = kengine("verify", "--backend", "toy", "--task", task, "--json", kernel, "wrong.py", "broken.py")
    path = tmp_path / "verdicts.jsonl"
    path.write_text(done.out)
    return path


@pytest.fixture
def timed(recorded, tmp_path):
    """The same as a device would have recorded it, with the right one 2.5 times as fast as the reference."""
    lines = []
    for text in recorded.read_text().splitlines():
        value = json.loads(text)
        value["emulated"], value["target"], value["plan"]["time"] = False, "toy:chip", True
        if value["status"] == "passed":
            value["speedup"] = 2.5
            value["stages"]["time"] = codec.to_json(TimeRecord(speedup=2.5, label="faster", baseline="eager"))
        codec.from_json(value, Verdict)
        lines.append(json.dumps(value) + "\n")
    path = tmp_path / "timed.jsonl"
    path.write_text("".join(lines))
    return path


def test_without_timing(kengine, recorded) -> None:
    result = kengine("score", recorded, "--k", "1", "--k", "2", "--json")
    assert result.code == 0 and result.err == ""
    (score,) = (json.loads(line) for line in result.out.splitlines())
    assert score["schema"] == "kengine.score/1" and score["target"] == "toy:cpu"
    assert (score["tasks"], score["candidates"], score["left_out"], score["timed"]) == (1, 3, 0, False)
    assert score["comp_at_k"] == {"1": pytest.approx(2 / 3), "2": 1.0}
    assert score["corr_at_k"] == score["pass_at_k"] == {"1": pytest.approx(1 / 3), "2": pytest.approx(2 / 3)}
    assert score["fast_p"] == {} and score["speedup"] is None


def test_with_timing(kengine, timed) -> None:
    score = json.loads(kengine("score", timed, "--p", "1", "--p", "2.5", "--json").out)
    assert score["fast_p"] == {"1": pytest.approx(1 / 3), "2.5": 0.0}
    assert score["speed_at_k"] == {"1": pytest.approx(1 / 3)}
    assert score["speedup"] == {
        "value": pytest.approx(2.5),
        "low": pytest.approx(2.5),
        "high": pytest.approx(2.5),
        "tasks": 1,
    }
    assert json.loads(kengine("score", timed, "--no-speed", "--json").out)["fast_p"] == {}


def test_a_table_for_people(kengine, recorded, timed) -> None:
    out = kengine("score", recorded, "--k", "1", "--k", "3").out
    assert out.startswith("toy:cpu: 3 candidates of 1 task\n")
    assert ["comp", "66.7%", "100.0%"] in [line.split() for line in out.splitlines()]
    assert "no speed: not every right candidate was timed" in out
    out = kengine("score", timed).out
    assert "fast_0 33.3%, fast_1 33.3%, fast_2 33.3%" in out
    assert "speed-up 2.5x (2.5 to 2.5), geometric mean of 1 task" in out


def test_each_target_on_its_own(kengine, recorded, timed) -> None:
    lines = kengine("score", recorded, timed, "--json").out.splitlines()
    assert [json.loads(line)["target"] for line in lines] == ["toy:cpu", "toy:chip"]


def test_lines_without_a_verdict_are_left_out_and_said(kengine, recorded) -> None:
    error = {"schema": "kengine.error/1", "error": "WorkerLost", "message": "a judge died", "candidate": "a.py"}
    recorded.write_text(recorded.read_text() + json.dumps(error) + "\n")
    result = kengine("score", recorded, "--json")
    assert result.code == 0 and json.loads(result.out)["candidates"] == 3
    assert "1 candidates got no verdict and are left out (WorkerLost 1)" in result.err
    recorded.write_text(json.dumps(error) + "\n")
    result = kengine("score", recorded)
    assert result.code == 2 and "nothing to score" in result.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--k", "4"), "k: 4, but task 'task' has 3 judged candidates"),
        (("--p", "1"), "toy:cpu is an emulator, it never times: leave fast_p"),
        (("--speed",), "toy:cpu is an emulator"),
        (("--k", "0"), "'--k'"),
        (("--p", "-1"), "'--p'"),
    ],
)
def test_what_makes_no_sense(kengine, recorded, arguments, part) -> None:
    result = kengine("score", recorded, *arguments)
    assert result.code == 2 and result.out == "" and part in result.err and "Traceback" not in result.err


def test_self_referenced_is_refused_unless_allowed(kengine, add, tmp_path) -> None:
    (tmp_path / "v.jsonl").write_text(kengine("verify", "--backend", "toy", "--json", add).out)
    result = kengine("score", "v.jsonl")
    assert result.code == 2 and "self-referenced" in result.err
    assert kengine("score", "v.jsonl", "--allow-self-referenced").code == 0


def test_what_is_no_verdict(kengine, tmp_path) -> None:
    (tmp_path / "bad.json").write_text("{")
    result = kengine("score", "bad.json")
    assert result.code == 2 and "bad.json" in result.err and "Traceback" not in result.err
