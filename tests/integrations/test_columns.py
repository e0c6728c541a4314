"""The task of a sample, from whatever holds it."""

from __future__ import annotations

import json

import pytest
from kengine import TaskError, UsageError, codec, tasks
from kengine.integrations.columns import find_column, to_task
from toy_items import TASK

RECORD = tasks.parse_task(TASK)


@pytest.mark.parametrize(
    "value",
    [
        RECORD,
        TASK,
        codec.to_json(RECORD),
        json.loads(codec.dumps(RECORD)),
        codec.dumps(RECORD),
        {"task": TASK, "level": 1},
        json.dumps({"task": TASK}),
        {"kengine_task": TASK},
    ],
)
def test_forms(value):
    assert to_task(value) == RECORD


def test_a_path(tmp_path):
    file = tmp_path / "add.py"
    file.write_text(TASK)
    assert to_task(str(file)).source == to_task(file).source == TASK
    assert to_task(str(file)).name == "add"


@pytest.mark.parametrize(
    ("value", "kind", "said"),
    [
        (None, UsageError, "reward_model: want the text of a task or the path of its file, got nothing"),
        ("", UsageError, "want the text of a task"),
        (3, UsageError, "got int '3'"),
        ("tasks/none.py", UsageError, "'tasks/none.py' is one line, so it should be a task's path"),
        ("{not json", UsageError, "looks like JSON and is not"),
        ({"level": 1}, UsageError, r"got keys \['level'\]"),
        ({"task": None}, UsageError, "want a mapping with 'task'"),
        ({"task": 3}, UsageError, "reward_model.task: want the text"),
        ({**codec.to_json(RECORD), "form": "other"}, UsageError, "form"),
        ("def reference(x):\n    return x\n", TaskError, "make_inputs"),
        ("def reference(:\n", TaskError, "task.py:1"),
    ],
)
def test_what_is_no_task(value, kind, said):
    with pytest.raises(kind, match=said):
        to_task(value, "reward_model")


def test_a_column_that_is_missing_is_named_with_those_that_are_there():
    with pytest.raises(UsageError, match="TRL passed no column 'task'; it passed: answer, level; because"):
        find_column({"level": 1, "answer": ""}, "task", "TRL", "because")
    with pytest.raises(UsageError, match="it passed: nothing"):
        find_column({}, "task", "slime")
