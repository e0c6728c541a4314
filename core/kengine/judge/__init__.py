"""The trusted side: it owns seeds, inputs, references, expected outputs, the comparison and a clock of its own.

It executes the task's source and never a line of a candidate; whatever comes from a runner is bytes to be judged.
"""
