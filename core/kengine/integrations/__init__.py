"""Trainers that take their rewards from kengine: one thin module for each, imported by name when it is used.

    from kengine.integrations.trl import KernelReward
    GRPOTrainer(reward_funcs=KernelReward(target="triton:interpret", parameters={"speed": 0}), ...)

No module here imports its trainer until it is needed, and all go through `kengine.client`.
"""
