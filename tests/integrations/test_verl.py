"""verl: its calls by keyword, one sample at a time, and its own loader and manager where it is installed."""

from __future__ import annotations

import asyncio

import pytest
from kengine import InfraError, UsageError
from kengine.integrations.verl import compute_score, compute_scores


def call(solution, task, given, extra=None):
    return compute_score(data_source="kengine", solution_str=solution, ground_truth=task, extra_info=extra, **given)


def test_single_calls_at_the_same_time(toy):
    async def both():
        calls = (call(text, toy.task, toy.given) for text in (toy.right, toy.wrong, toy.broken))
        return await asyncio.gather(*calls)

    right, wrong, broken = asyncio.run(both())
    assert right == {"score": 0.5, "acc": 1.0, "kengine_status": "passed", "kengine_masked": 0.0}
    assert (wrong["score"], broken["score"]) == (0.1, 0.0)
    assert right.keys() == wrong.keys() == broken.keys(), "verl wants the same keys from every sample"


def test_what_verl_adds_is_not_for_kengine(toy):
    given = {**toy.given, "reward_router_address": "a:1", "reward_model_tokenizer": object()}
    assert asyncio.run(call(toy.right, toy.task, given))["score"] == 0.5


def test_the_task_may_stand_in_extra_info(toy):
    result = asyncio.run(call(toy.right, "", toy.given, {"task": toy.task, "num_turns": 1}))
    assert result["score"] == 0.5
    with pytest.raises(UsageError, match="verl passed no column 'task'; it passed: ground_truth, num_turns"):
        asyncio.run(call(toy.right, None, toy.given, {"num_turns": 1}))


def test_the_batch_form_of_older_versions(toy):
    scores = compute_scores(
        data_sources=["k"] * 2, solution_strs=[toy.right, toy.wrong], ground_truths=[toy.task] * 2,
        extra_infos=[{}, None], **toy.given,
    )  # fmt: skip
    assert [s["score"] for s in scores] == [0.5, 0.1]


def test_a_lost_sample_raises_unless_a_number_was_chosen(toy, lost):
    with pytest.raises(InfraError, match="must not be given one"):
        asyncio.run(call(toy.right, toy.task, toy.given))
    chosen = asyncio.run(call(toy.right, toy.task, {**toy.given, "masked_score": -0.25}))
    assert chosen == {"score": -0.25, "acc": 0.0, "kengine_status": "masked", "kengine_masked": 1.0}


@pytest.mark.parametrize("form", ["function", "manager"])
def test_verls_own_loader_and_manager(toy, form):
    """The configuration that the documentation shows, through verl's `load_reward_manager` and `run_single`."""
    pytest.importorskip("verl", reason="needs verl (pip install --no-deps verl, with tensordict and ray)")
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    path = "pkg://kengine.integrations.verl"
    manager = {"source": "register", "name": "naive"}
    function = {"path": path, "name": "compute_score", "reward_kwargs": toy.given}
    if form == "manager":
        manager = {"source": "importlib", "name": "KernelRewardManager", "module": {"path": path}}
        function = {"path": None, "name": None, "reward_kwargs": toy.given}
    config = OmegaConf.create({"reward": {"custom_reward_function": function, "reward_manager": manager}})

    class Letters:
        """A tokenizer whose tokens are code points."""

        def decode(self, ids, skip_special_tokens=True):
            return "".join(chr(int(i)) for i in ids)

    def row(text):
        ids = torch.tensor([[ord(c) for c in text]])
        mask = torch.ones(1, 2 + ids.shape[1], dtype=torch.long)
        batch = {"prompts": torch.zeros(1, 2, dtype=torch.long), "responses": ids, "attention_mask": mask}
        return DataProto.from_dict(
            tensors=batch,
            non_tensors={
                "data_source": _objects("kengine"),
                "reward_model": _objects({"style": "rule", "ground_truth": toy.task}),
                "extra_info": _objects({"index": 0}),
            },
        )

    async def run():
        loaded = load_reward_manager(config, Letters())
        return [await loaded.run_single(row(text)) for text in (toy.right, toy.wrong)]

    right, wrong = asyncio.run(run())
    assert right["reward_score"] == 0.5 and wrong["reward_score"] == 0.1
    assert right["reward_extra_info"]["kengine_status"] == "passed"


def _objects(value):
    import numpy as np

    held = np.empty(1, dtype=object)
    held[0] = value
    return held
