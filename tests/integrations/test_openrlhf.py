"""OpenRLHF: its reward function by file, its executor, and the forms of its remote reward model."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace

import pytest
from kengine import InfraError, UsageError
from kengine.integrations.openrlhf import read_response, reward_func

PROMPT = "<|im_start|>user\nAdd, as in\n```python\nexample = 1\n```<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(autouse=True)
def _environment(environment):
    pass


def test_the_response_is_what_follows_the_prompt(toy):
    assert read_response(PROMPT + "answer<|im_end|>", PROMPT) == "answer"
    assert read_response(PROMPT[20:] + "```python\na = 1\n```<\uff5cend\uff5c></s>", PROMPT) == "```python\na = 1\n```"
    assert read_response("<s>" + PROMPT + "answer", PROMPT) == "answer"
    assert read_response(PROMPT + PROMPT + "echo", PROMPT).startswith("user\nAdd")
    assert read_response("no prompt", "") == "no prompt"
    with pytest.raises(UsageError, match="the query does not begin with its prompt"):
        read_response("```python\nexample = 1\n```", PROMPT)


def test_reward_func(toy):
    torch = pytest.importorskip("torch", reason="OpenRLHF's rewards are tensors: needs torch")
    labels = [toy.task, json.dumps({"task": toy.task})]
    result = reward_func([PROMPT + toy.right + "<|im_end|>", PROMPT + toy.wrong], [PROMPT] * 2, labels)
    assert torch.equal(result["rewards"], torch.tensor([1.0, 0.0]))
    assert torch.equal(result["scores"], torch.tensor([1.0, 0.0]))


def test_an_example_in_the_prompt_is_not_the_answer(toy):
    pytest.importorskip("torch", reason="OpenRLHF's rewards are tensors: needs torch")
    prompt = PROMPT.replace("example = 1", toy.right.split("```python\n")[1].split("```")[0])
    assert float(reward_func([prompt + "I do not know."], [prompt], [toy.task])["rewards"][0]) == 0.0


def test_a_lost_sample_raises(toy, lost):
    pytest.importorskip("torch", reason="OpenRLHF's rewards are tensors: needs torch")
    with pytest.raises(InfraError):
        reward_func([PROMPT + toy.right], [PROMPT], [toy.task])


class Letters:
    """A tokenizer whose tokens are code points."""

    def __call__(self, text, add_special_tokens=False, return_tensors="pt"):
        import torch

        return {"input_ids": torch.tensor([[ord(c) for c in text]])}

    def decode(self, ids, skip_special_tokens=False):
        return "".join(chr(int(i)) for i in ids)


class Model:
    """An engine that always says the same."""

    def __init__(self, text):
        self.text = text

    async def generate(self, prompt_ids, params, multi_modal_data=None):
        output = SimpleNamespace(token_ids=[ord(c) for c in self.text], finish_reason="stop", logprobs=None)
        return SimpleNamespace(outputs=[output])


def execute(executor, toy, text):
    params = SimpleNamespace(max_tokens=10_000, logprobs=None)
    return asyncio.run(executor.execute(PROMPT, toy.task, params, 20_000, Letters(), Model(text)))


def agent():
    why = "needs OpenRLHF (pip install --no-deps openrlhf, with aiohttp, pylatexenc, transformers, torch)"
    return pytest.importorskip("openrlhf.utils.agent", reason=why)


def test_openrlhfs_own_executor_calls_the_file(toy):
    from kengine.integrations import openrlhf

    executor = agent().SingleTurnAgentExecutor(openrlhf.__file__)
    output = execute(executor, toy, toy.right)
    assert float(output["reward"]) == 1.0 and float(output["scores"]) == 1.0


def test_the_executor(toy):
    agent()
    from kengine.integrations.openrlhf import AgentExecutor

    output = execute(AgentExecutor(), toy, toy.right)
    assert (output["reward"], output["scores"]) == (1.0, 1.0)
    start, end = output["action_ranges"][0]
    assert (start, end) == (len(PROMPT), len(PROMPT) + len(toy.right))
    assert execute(AgentExecutor(), toy, toy.wrong)["reward"] == 0.0


def test_the_executor_leaves_a_lost_sample_out_of_the_loss(toy, lost):
    agent()
    from kengine.integrations.openrlhf import AgentExecutor

    output = execute(AgentExecutor(), toy, toy.right)
    assert output["action_ranges"] == [(len(PROMPT), len(PROMPT))], "no token of it is trained on"
    assert output["reward"] == 0.0 and output["extra_logs"]["kengine_masked"] == 1.0
