"""NeMo Gym: the body of POST /verify as its agents send it. The package needs Python 3.13.14, so its server class is
driven only where it is installed."""

from __future__ import annotations

import asyncio

import pytest
from kengine import UsageError
from kengine.integrations.nemo_gym import create_server, read_output, verify


def body(toy, text):
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "role": "assistant", "content": content}
    return {
        "responses_create_params": {"input": [{"role": "user", "content": "add"}]},
        "response": {"id": "resp_1", "output": [{"type": "reasoning", "summary": []}, message]},
        "verifier_metadata": {"task": toy.task},
    }


@pytest.fixture(autouse=True)
def _environment(environment):
    pass


def test_rows(toy):
    right = asyncio.run(verify(body(toy, toy.right)))
    assert right == {**body(toy, toy.right), "reward": 1.0, "kengine_status": "passed"}
    assert asyncio.run(verify(body(toy, toy.wrong)))["reward"] == 0.0


def test_a_lost_row_is_marked(toy, lost):
    answer = asyncio.run(verify(body(toy, toy.right)))
    assert (answer["reward"], answer["_ng_failure_class"]) == (0.0, "infra")


def test_nothing_was_said(toy):
    assert read_output({"output": [{"type": "function_call", "name": "f"}]}) == ""
    assert read_output({}) == ""


def test_a_row_without_a_task(toy):
    with pytest.raises(UsageError, match="NeMo Gym passed no column 'task'"):
        asyncio.run(verify({**body(toy, toy.right), "verifier_metadata": {"level": 1}}))


def test_the_server_class(toy):
    pytest.importorskip("nemo_gym", reason="needs nemo-gym, which needs Python 3.13.14 or newer")
    assert create_server().__name__ == "KernelResourcesServer"
