import json

import pytest


@pytest.fixture
def recorded(kengine, kernel, task, tmp_path):
    """Verdicts of the toy kernel, right and wrong, judged by a task of its own."""
    (tmp_path / "wrong.py").write_text(kernel.read_text().replace("x[part] + y[part]", "x[part] - y[part]"))
    done = kengine("verify", "--backend", "toy", "--task", task, "--json", kernel, "wrong.py")
    path = tmp_path / "verdicts.jsonl"
    path.write_text(done.out)
    return path


@pytest.fixture
def rollouts(recorded, tmp_path):
    """Two conversations of two turns: wrong then right, and right then a fault of the machine."""
    right, wrong = (json.loads(text) for text in recorded.read_text().splitlines()[:2])
    error = {"schema": "kengine.error/1", "error": "WorkerLost", "message": "a judge died", "candidate": "kernel.py"}
    path = tmp_path / "rollouts.jsonl"
    lines = [{"key": "a", "turns": [wrong, right], "prompt": "Write a kernel."}, {"key": "b", "turns": [right, error]}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_verdicts_are_conversations_of_one_turn(kengine, recorded) -> None:
    result = kengine("reward", recorded, "--reward", "correctness", "--baseline", "leave-one-out", "--json")
    assert result.code == 0 and result.err == ""
    lines = [json.loads(text) for text in result.out.splitlines()]
    assert [line["key"] for line in lines] == ["kernel.py", "wrong.py"]
    assert [line["rewards"] for line in lines] == [[1.0], [0.0]] == [line["returns"] for line in lines]
    assert [line["advantages"] for line in lines] == [[1.0], [-1.0]]
    assert {line["schema"] for line in lines} == {"kengine.reward/1"} and lines[1]["line"] == 2
    assert lines[0]["statuses"] == ["passed"] and lines[0]["reward"] == "correctness"


def test_turns_are_discounted_and_faults_are_null(kengine, rollouts) -> None:
    result = kengine("reward", rollouts, "--reward", "correctness", "--gamma", "0.5", "--baseline", "mean", "--json")
    assert result.code == 0 and "1 of 4 turns have no reward" in result.err
    one, two = (json.loads(text) for text in result.out.splitlines())
    assert one["rewards"] == [0.0, 1.0] and one["returns"] == [0.5, 1.0] and one["advantages"] == [0.0, 0.0]
    assert two["rewards"] == [1.0, None] and two["returns"] == [None, None] and two["advantages"] == [None, None]
    assert two["statuses"] == ["passed", None]


def test_normalised_and_across_the_group(kengine, rollouts) -> None:
    options = ("--reward", "correctness", "--gamma", "0.5", "--normalize", "--baseline", "mean", "--across", "group")
    one = json.loads(kengine("reward", rollouts, *options, "--json").out.splitlines()[0])
    assert one["returns"] == [pytest.approx(1 / 3), 1.0]
    assert one["advantages"] == [pytest.approx(-1 / 3), pytest.approx(1 / 3)]


def test_a_table_for_people(kengine, rollouts, recorded) -> None:
    result = kengine("reward", rollouts, "--reward", "correctness", "--gamma", "0.5")
    rows = [line.split() for line in result.out.splitlines()]
    assert rows[0] == ["rollout", "turn", "status", "reward", "return"]
    assert rows[2:] == [
        ["a", "1", "wrong_result", "0", "0.5"], ["2", "passed", "1", "1"],
        ["b", "1", "passed", "1", "-"], ["2", "no", "verdict", "-", "-"],
    ]  # fmt: skip
    assert kengine("reward", recorded, "--reward", "correctness").out.splitlines()[2].split() == [
        "kernel.py",
        "passed",
        "1",
    ]


def test_parameters_and_stdin(kengine, recorded) -> None:
    result = kengine("reward", "-", "--set", "speed=0", "--set", "correct=2", "--json", stdin=recorded.read_text())
    assert [json.loads(line)["rewards"] for line in result.out.splitlines()] == [[2.1], [0.1]]


def test_a_reward_of_ones_own(kengine, recorded, tmp_path, clean_environment) -> None:
    (tmp_path / "mine.py").write_text(
        "from kengine.rewards import Reward\nladder = Reward(compiled=0.25, correct=0.5)\n"
    )
    path = f"{tmp_path}:{clean_environment()['PYTHONPATH']}"
    result = kengine("reward", recorded, "--reward", "mine:ladder", "--json", env={"PYTHONPATH": path})
    assert [json.loads(line)["rewards"] for line in result.out.splitlines()] == [[0.75], [0.25]]


def test_speed_on_an_emulator_is_refused_with_the_line(kengine, recorded) -> None:
    for name in ("staged", "kevin", "amd_kernel_vault"):
        result = kengine("reward", recorded, "--reward", name)
        assert result.code == 2 and result.out == ""
        assert "verdicts.jsonl:1: this reward has a speed term, and toy:cpu is an emulator" in result.err


def test_self_referenced_is_refused_unless_allowed(kengine, add, tmp_path) -> None:
    (tmp_path / "v.jsonl").write_text(kengine("verify", "--backend", "toy", "--json", add).out)
    result = kengine("reward", "v.jsonl", "--reward", "correctness")
    assert result.code == 2 and "v.jsonl:1: this verdict is self-referenced" in result.err
    assert kengine("reward", "v.jsonl", "--reward", "correctness", "--allow-self-referenced").code == 0


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--reward", "kevim"), "did you mean 'kevin'?"),
        (("--reward", "sol_score"), "needs sol_ns"),
        (("--set", "sped=1"), "reward 'staged' takes no 'sped'"),
        (("--set", "speed"), "want KEY=VALUE"),
        (("--set", "speed=fast"), "speed: want a finite number, got 'fast'"),
        (("--reward", "correctness", "--gamma", "2"), "gamma: want a number from 0 to 1"),
        (("--normalize",), "give --gamma too"),
        (("--baseline", "median"), "median"),
    ],
)
def test_what_makes_no_sense(kengine, recorded, arguments, part) -> None:
    result = kengine("reward", recorded, *arguments)
    assert result.code == 2 and result.out == "" and part in result.err and "Traceback" not in result.err


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "r.jsonl: is empty"),
        (b"\n\n", "r.jsonl: is empty"),
        (b"{", "r.jsonl:1: not JSON"),
        (b"\xff\xfe\x00", "is not text"),
        (b'{"turns": [3]}', "r.jsonl:1: turns[0]: want a verdict or null"),
    ],
)
def test_files_that_hold_none(kengine, tmp_path, content, part) -> None:
    (tmp_path / "r.jsonl").write_bytes(content)
    result = kengine("reward", "r.jsonl")
    assert result.code == 2 and part in result.err and "Traceback" not in result.err


def test_a_file_that_is_not_there(kengine, recorded) -> None:
    result = kengine("reward", "verdict.jsonl")
    assert result.code == 2 and "did you mean verdicts.jsonl?" in result.err
