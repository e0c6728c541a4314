"""Rewards for training on verdicts, credit over turns, advantages within groups, metrics, and feedback for a model.

    from kengine import rewards
    reward = rewards.kevin(verdict)        # a float, or None when the machine failed and the sample is to be masked

Every reward is a plain function of a verdict at the top level of a module, hence picklable; its parameters are
keywords, to be set with functools.partial. Names only: each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.rewards import metrics
    from kengine.rewards.amd import amd_hip, amd_hip_legacy, amd_hip_novelty, amd_kernel_vault
    from kengine.rewards.baselines import by_turn, group_mean, leave_one_out, pooled, standardized
    from kengine.rewards.builder import Reward
    from kengine.rewards.credit import returns
    from kengine.rewards.cuda import cuda_agent, cuda_l1
    from kengine.rewards.feedback import write_feedback
    from kengine.rewards.kernelbench import fast_p, kernelbench_tinker, kevin
    from kengine.rewards.ladder import correctness, staged
    from kengine.rewards.outcome import Judged, Outcome
    from kengine.rewards.presets import find
    from kengine.rewards.profiled import coverage, dr_kernel, kernelgym
    from kengine.rewards.scoring import Score, score
    from kengine.rewards.similarity import dtw_distance
    from kengine.rewards.sol import sol_score
    from kengine.rewards.triton import autotriton, spread, tritonrl, tritonrl_code, tritonrl_plan

_HOMES = {
    "amd": ("amd_hip", "amd_hip_legacy", "amd_hip_novelty", "amd_kernel_vault"),
    "baselines": ("by_turn", "group_mean", "leave_one_out", "pooled", "standardized"),
    "builder": ("Reward",),
    "credit": ("returns",),
    "cuda": ("cuda_agent", "cuda_l1"),
    "profiled": ("coverage", "dr_kernel", "kernelgym"),
    "feedback": ("write_feedback",),
    "kernelbench": ("fast_p", "kernelbench_tinker", "kevin"),
    "outcome": ("Judged", "Outcome"),
    "presets": ("find",),
    "scoring": ("Score", "score"),
    "similarity": ("dtw_distance",),
    "sol": ("sol_score",),
    "ladder": ("correctness", "staged"),
    "triton": ("autotriton", "spread", "tritonrl", "tritonrl_code", "tritonrl_plan"),
}
_HOME = {name: f"kengine.rewards.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "Judged",
    "Outcome",
    "Reward",
    "Score",
    "amd_hip",
    "amd_hip_legacy",
    "amd_hip_novelty",
    "amd_kernel_vault",
    "autotriton",
    "by_turn",
    "correctness",
    "coverage",
    "cuda_agent",
    "cuda_l1",
    "dr_kernel",
    "dtw_distance",
    "fast_p",
    "find",
    "group_mean",
    "kernelbench_tinker",
    "kernelgym",
    "kevin",
    "leave_one_out",
    "metrics",
    "pooled",
    "returns",
    "score",
    "sol_score",
    "spread",
    "staged",
    "standardized",
    "tritonrl",
    "tritonrl_code",
    "tritonrl_plan",
    "write_feedback",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "metrics":
        value: Any = import_module("kengine.rewards.metrics")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'kengine.rewards' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
