"""Rollouts as they lie in a file."""

import json

import pytest
from kengine import codec
from kengine.errors import InfraError, UsageError
from kengine.model import Verdict
from kengine.rewards import rollouts


def line(value: Verdict) -> dict:
    return json.loads(codec.dumps(value))


def test_a_verdict_is_a_conversation_of_one_turn(verdict) -> None:
    (found,) = rollouts.read([json.dumps(line(verdict())) + "\n", "\n"])
    assert found.turns == (verdict(),) and found.line == 1 and found.key == "add.py"
    assert found.group == f"{verdict().task.digest} triton:sm_90"


def test_turns_groups_and_keys(verdict) -> None:
    text = json.dumps(
        {"group": "t1", "key": 7, "turns": [line(verdict("wrong_result")), line(verdict())], "prompt": "p"}
    )
    (found,) = rollouts.read([text])
    assert [str(v.status) for v in found.turns] == ["wrong_result", "passed"]
    assert (found.group, found.key) == ("t1", "7")


def test_what_stands_in_a_verdicts_place() -> None:
    error = {"schema": "kengine.error/1", "error": "WorkerLost", "message": "a judge died", "candidate": "a.py"}
    one, two = rollouts.read([json.dumps({"turns": [None, error]}), json.dumps(error)])
    assert one.turns[0] is None and isinstance(one.turns[1], InfraError) and "a judge died" in str(one.turns[1])
    assert isinstance(two.turns[0], InfraError) and two.group == ""


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("{", "r.jsonl:2: not JSON"),
        ("\x00", "r.jsonl:2: not JSON"),
        ("[" * 100_000, "r.jsonl:2: not JSON"),
        ("7", "r.jsonl:2: want an object with turns, or a verdict, got a number"),
        ("{}", "neither turns nor a schema"),
        ('{"turns": []}', "turns: want a list of at least one verdict, got an empty array"),
        ('{"turns": "no"}', "turns: want a list"),
        ('{"turns": [7]}', r"turns\[0\]: want a verdict or null, got a number"),
        ('{"turns": [{}]}', r"turns\[0\]: not a verdict: missing key 'schema'"),
        ('{"turns": [null], "group": []}', "group: want text"),
        ('{"schema": "kengine.verdict/1"}', "not a verdict: Verdict.status: missing"),
        ('{"schema": "kengine.verdict/9"}', "kengine.verdict/9"),
    ],
)
def test_what_is_no_rollout_is_named_with_its_line(text, part) -> None:
    with pytest.raises(UsageError, match=part):
        list(rollouts.read(["\n", text], "r.jsonl"))


def test_lines_are_read_one_at_a_time(verdict) -> None:
    def lines():
        yield json.dumps(line(verdict()))
        raise AssertionError("read ahead")

    assert next(rollouts.read(lines())).line == 1
