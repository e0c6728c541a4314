"""What is wrong with a task is said once and of the task's file; the record of each candidate has it all the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toy_items import GOOD, TASK

BROKEN = {
    "cannot be read": ("", "task.py: the source is empty"),
    "raises": (TASK + "\n\ndef make_inputs(seed, device, n=8):\n    raise OSError('no disk')\n", "OSError: no disk"),
}


@pytest.mark.parametrize("why", list(BROKEN))
def test_it_is_told_once_without_the_name_of_a_candidate(tmp_path: Path, why: str, kengine) -> None:
    text, said = BROKEN[why]
    (tmp_path / "task.py").write_text(text)
    names = ["a.py", "b.py"]
    for name in names:
        (tmp_path / name).write_text(GOOD)
    arguments = ["verify", "--target", "toy:cpu", "--task", "task.py", *names]
    result = kengine(*arguments)
    (line,) = (line for line in result.err.splitlines() if line.startswith("kengine: error: "))
    assert said in line and "a.py" not in line and "b.py" not in line, line
    assert result.code == 2
    told = [json.loads(line) for line in kengine(*arguments, "--json").out.splitlines()]
    assert [(each["error"], each["candidate"]) for each in told] == [("TaskError", name) for name in names]
    assert all(said in each["message"] for each in told)
