"""Tinker cookbook: a rollout by its own loop, with a policy that says what the test says."""

from __future__ import annotations

import asyncio
import pickle

import pytest

pytest.importorskip("tinker_cookbook", reason="needs tinker-cookbook (pip install tinker-cookbook)")

from kengine import InfraError
from kengine.integrations.tinker import KernelGroupBuilder, KernelMessageEnv

PROMPT = [{"role": "user", "content": "add"}]


class Renderer:
    """Messages as code points, without a model's tokenizer."""

    def build_generation_prompt(self, messages, **_):
        import tinker

        return tinker.ModelInput.from_ints([ord(c) for m in messages for c in m["content"]])

    def get_stop_sequences(self):
        return []

    def parse_response(self, action):
        from tinker_cookbook.renderers.base import ParseTermination

        return {"role": "assistant", "content": "".join(map(chr, action))}, next(
            t for t in ParseTermination if "stop" in t.value.lower()
        )


def rollout(env, *texts):
    """Play with tinker's own do_single_rollout."""
    from tinker_cookbook.completers import TokensWithLogprobs
    from tinker_cookbook.rl.message_env import EnvFromMessageEnv
    from tinker_cookbook.rl.rollouts import do_single_rollout

    said = iter(texts)

    async def policy(observation, stop, *_, **__):
        tokens = [ord(c) for c in next(said)]
        return TokensWithLogprobs(tokens=tokens, maybe_logprobs=[0.0] * len(tokens))

    return asyncio.run(do_single_rollout(policy, EnvFromMessageEnv(Renderer(), env)))


def test_one_turn(toy):
    trajectory = rollout(KernelMessageEnv(PROMPT, toy.task, toy.given), toy.right)
    (transition,) = trajectory.transitions
    assert (transition.reward, transition.episode_done) == (0.5, True)
    assert transition.metrics["kengine_passed"] == 1.0 and transition.logs["kengine_status"] == "passed"


def test_feedback_is_the_next_observation(toy):
    env = KernelMessageEnv(PROMPT, toy.task, toy.given, max_turns=3)
    trajectory = rollout(env, toy.wrong, toy.right)
    assert [t.reward for t in trajectory.transitions] == [0.1, 0.5]
    assert env.messages[2]["content"].startswith("Status: wrong_result")


def test_a_lost_sample_is_a_failed_rollout(toy, lost):
    with pytest.raises(InfraError):
        rollout(KernelMessageEnv(PROMPT, toy.task, toy.given), toy.right)


def test_the_builder_travels(toy):
    builder = KernelGroupBuilder(PROMPT, toy.task, 4, "model", "role_colon", given=toy.given)
    assert pickle.loads(pickle.dumps(builder)) == builder and builder.logging_tags() == ["kengine"]
