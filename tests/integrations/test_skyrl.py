"""SkyRL: its registry makes the environment, its generator's calls play it."""

from __future__ import annotations

import pytest
from kengine import InfraError, UsageError

skyrl_gym = pytest.importorskip("skyrl_gym", reason="needs skyrl-gym (pip install skyrl-gym)")


@pytest.fixture(scope="module", autouse=True)
def _registered():
    from kengine.integrations import skyrl

    skyrl.register("kengine")


def make(toy, config=None, **extras):
    extras = {"reward_spec": {"method": "rule", "ground_truth": toy.task}, **extras}
    return skyrl_gym.make("kengine", env_config={**toy.given, **(config or {})}, extras=extras)


def test_one_turn(toy):
    env = make(toy)
    prompt = [{"role": "user", "content": "add"}]
    assert env.init(prompt) == (prompt, {})
    step = env.step(toy.right)
    assert (step["reward"], step["done"], step["observations"]) == (0.5, True, [])
    assert step["metadata"] == {"kengine_status": "passed", "kengine_masked": False}
    assert env.get_metrics() == {"kengine_passed": 1.0, "kengine_turns": 1}
    env.close()


def test_feedback_until_it_passes(toy):
    env = make(toy, max_turns=3)
    env.init([])
    first = env.step(toy.wrong)
    assert (first["reward"], first["done"]) == (0.1, False)
    (told,) = first["observations"]
    assert told["role"] == "user" and told["content"].startswith("Status: wrong_result")
    second = env.step(toy.right)
    assert (second["reward"], second["done"], second["observations"]) == (0.5, True, [])


def test_the_last_turn_is_the_last(toy):
    env = make(toy, max_turns=2)
    env.init([])
    assert [env.step(toy.broken)["done"] for _ in range(2)] == [False, True]


def test_a_lost_sample(toy, lost):
    with pytest.raises(InfraError, match="must not be given one"):
        make(toy).step(toy.right)
    step = make(toy, {"masked_reward": 0.0}).step(toy.right)
    assert (step["reward"], step["done"], step["metadata"]["kengine_masked"]) == (0.0, True, True)


def test_a_row_without_a_task(toy):
    with pytest.raises(UsageError, match="SkyRL passed no column 'ground_truth'"):
        make(toy, reward_spec={"method": "rule"})
