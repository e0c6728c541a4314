"""slime: `--custom-rm-path kengine.integrations.slime.reward`, with `--group-rm` too.

The task is the sample's label, or `task` in its metadata; keywords come from a mapping
`args.kengine` where there is one, else from the environment. A sample that the machine failed on is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kengine.integrations.columns import find_column
from kengine.integrations.grading import grader


async def reward(args: Any, sample: Any, **_: Any) -> Any:
    """The reward of one sample, or of a list of them; a masked one gets `remove_sample` and 0.0."""
    group = list(sample) if isinstance(sample, Sequence) else [sample]
    tasks = [_task(each) for each in group]
    graded = await grader(getattr(args, "kengine", None) or {}).grade_async([each.response for each in group], tasks)
    for each, result in zip(group, graded):
        each.metadata = {**(each.metadata or {}), "kengine_status": result.status}
        if result.masked:
            each.remove_sample = True
    values = [result.reward or 0.0 for result in graded]
    return values if isinstance(sample, Sequence) else values[0]


def _task(sample: Any) -> Any:
    return sample.label or find_column({**(sample.metadata or {}), "label": sample.label}, "task", "slime")
