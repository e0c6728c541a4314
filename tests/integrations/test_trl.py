"""TRL: the call of a reward function as TRL makes it, and a real trainer where TRL is installed."""

from __future__ import annotations

import asyncio
import functools
import inspect
import math
import pickle

import pytest
from kengine import UsageError
from kengine.integrations.trl import AsyncKernelReward, KernelEnvironment, KernelReward


def columns(toy, count):
    """What TRL 1.16 passes beside prompts and completions."""
    said = {"extra": {}, "metrics": {}}
    return said, {
        "completion_ids": [[1]] * count,
        "task": [toy.task] * count,
        "trainer_state": object(),
        "log_extra": said["extra"].__setitem__,
        "log_metric": said["metrics"].__setitem__,
    }


@pytest.mark.parametrize("kind", [KernelReward, AsyncKernelReward])
def test_a_batch(toy, kind):
    reward = pickle.loads(pickle.dumps(kind(**toy.given)))
    said, more = columns(toy, 3)
    completions = [toy.right, [{"role": "assistant", "content": toy.wrong}], toy.broken]
    result = reward(prompts=["p"] * 3, completions=completions, **more)
    rewards = asyncio.run(result) if inspect.iscoroutine(result) else result
    assert rewards == [0.5, 0.1, 0.0]
    assert said["extra"] == {"kengine_status": ["passed", "wrong_result", "compile_failed"]}
    assert said["metrics"] == {"kengine/passed": 1 / 3, "kengine/masked": 0}
    assert reward.__name__ == "kengine"


def test_a_lost_sample_is_none(toy, lost):
    said, more = columns(toy, 2)
    assert KernelReward(**toy.given)(prompts=["p"] * 2, completions=[toy.right] * 2, **more) == [None, None]
    assert said["metrics"]["kengine/masked"] == 1


def test_the_column_is_missing(toy):
    _, more = columns(toy, 1)
    del more["task"]
    with pytest.raises(UsageError, match=r"TRL passed no column 'task'.*remove_unused_columns"):
        KernelReward(**toy.given)(prompts=["p"], completions=[toy.right], **more)
    renamed = KernelReward(task_column="kernel_task", **toy.given)
    assert renamed(prompts=["p"], completions=[toy.right], kernel_task=[toy.task]) == [0.5]


def test_the_environment_over_two_turns(toy):
    async def play():
        environment = KernelEnvironment(**toy.given)
        assert environment.reset(prompt="p", task=toy.task) is None
        told = await environment.verify(toy.wrong)
        assert told.startswith("Status: wrong_result") and await environment.get_reward() == 0.1
        assert (await environment.verify(toy.right)).startswith("Status: passed")
        assert await environment.get_reward() == 0.5
        environment.reset(prompt="p", task=toy.task)
        assert await environment.get_reward() == 0.0, "nothing was handed in: an empty file"

    asyncio.run(play())


def make_trainer(toy, tmp_path, reward):
    """A trainer over a random model whose words are whole answers, so that it needs no download and no luck."""
    trl = pytest.importorskip("trl", reason="needs TRL (pip install trl)")
    from datasets import Dataset
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    set_seed(0)
    words = ["<pad>", "<eos>", "add", toy.right, toy.wrong, toy.broken]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel({w: n for n, w in enumerate(words)}, unk_token="<pad>")),
        pad_token="<pad>", eos_token="<eos>",
    )  # fmt: skip
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=32, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )  # fmt: skip
    arguments = trl.GRPOConfig(
        str(tmp_path), per_device_train_batch_size=8, num_generations=8, max_completion_length=1, max_steps=1,
        learning_rate=0.01, logging_steps=1, save_strategy="no", report_to="none", use_cpu=True, disable_tqdm=True,
        gradient_checkpointing=False, generation_kwargs={"suppress_tokens": [0, 1, 2]},
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    rows = Dataset.from_list([{"prompt": "add", "task": toy.task}] * 16)
    return trl.GRPOTrainer(
        model=model, args=arguments, processing_class=tokenizer, reward_funcs=reward, train_dataset=rows
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [KernelReward, AsyncKernelReward])
def test_a_real_step(toy, tmp_path, kind):
    trainer = make_trainer(toy, tmp_path, kind(**toy.given))
    before = [p.detach().clone() for p in trainer.model.parameters()]
    trainer.train()
    (entry,) = [e for e in trainer.state.log_history if "reward" in e]
    texts = trainer._logs["completion"] if "completion" in trainer._logs else trainer._logs["completions"]
    rewards = list(trainer._logs["rewards"]["kengine"])
    expected = {toy.right: 0.5, toy.wrong: 0.1, toy.broken: 0.0}
    assert len(rewards) == 8 and rewards == pytest.approx([expected[text] for text in texts])
    assert len(set(rewards)) > 1 and entry["grad_norm"] > 0
    assert entry["reward"] == pytest.approx(sum(rewards) / 8)
    assert any((a != b).any() for a, b in zip(before, trainer.model.parameters())), "the model has changed"


@pytest.mark.slow
def test_a_step_whose_samples_are_all_lost_changes_nothing(toy, tmp_path, lost):
    trainer = make_trainer(toy, tmp_path, KernelReward(**toy.given))
    trainer.train()
    assert all(math.isnan(r) for r in trainer._logs["rewards"]["kengine"])
    (entry,) = [e for e in trainer.state.log_history if "grad_norm" in e]
    assert entry["kengine/masked"] == 1 and entry["grad_norm"] == pytest.approx(0, abs=1e-6)


def test_the_environments_tool_is_one_that_trl_can_describe(toy):
    pytest.importorskip("trl", reason="needs TRL (pip install trl)")
    from transformers.utils import get_json_schema

    factory = functools.partial(KernelEnvironment, **toy.given)
    public = [n for n, _ in inspect.getmembers(KernelEnvironment, inspect.isfunction) if not n.startswith("_")]
    assert public == ["get_reward", "reset", "verify"], "every other public method would be a tool"
    schema = get_json_schema(factory().verify)["function"]
    assert schema["name"] == "verify" and list(schema["parameters"]["properties"]) == ["code"]
