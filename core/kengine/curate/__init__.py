"""Raw kernel samples in, a corpus that one can train on out, with a count for every loss on the way.

    from kengine import curate
    result = curate.run(curate.read_settings(Path("curate.toml")))

How stages fit together
=======================
Samples. A `Sample` (record.py) is frozen; a stage changes it with `evolve(sample, ...)` or `label(sample, ...)` and
drops it with `drop(sample, reason, detail)`, which gives a `Loss`. A reason is a short stable word (`wrong_result`,
`near_duplicate`): it is counted. Nothing vanishes: a stage yields a Sample or a Loss for whatever it took in, and
entered + added = left + lost is checked for every stage (`funnel.Unaccounted` otherwise).

Stages. The module of a stage offers a frozen dataclass, the table of its settings (every field with a default, of types
that `kengine.codec` knows; `__post_init__` raises UsageError("field: problem") for a value that makes no sense, and the
reader adds file and line), and `build(section, context) -> Stage`. `Stage.kind` says how it runs (stage.py):

    source   makes samples; interrupted, it is asked for the outcomes from `start` on
    row      one sample in, any outcomes out, knows no other sample
    stream   one result for each sample in order, may draw a bounded number ahead (verdicts, requests)
    whole    needs all samples: is given a `Corpus` that can be iterated again and again (never a list), runs anew when
             interrupted; temporary data goes to `context.scratch(name)`; may yield in another order
    sink     writes files from the last corpus, the funnel and the losses; runs last, writes aside and renames

Row and stream stages that follow each other are one pass over their input; a whole stage is a barrier. What a pass
yields is committed to the store (store.py, SQLite) every second together with the position of its input, the losses and
the counts: after kill -9 the same command goes on, with no row lost and none doubled. Memory is bounded by the stages'
own state: never keep samples of a whole corpus, keep uids, digests or sketches.

`settings.STAGES` names every stage and its module; the name is also that of the table in curate.toml. Its order is the
default one, a file may give another with `stages = [...]`.

Labels that stages agree on (`Sample.labels`): operator, category, level (of the task), difficulty (easy, medium,
hard), pass_rate (0 to 1) over so many attempts, cluster (uid of its representative), cluster_size, variant (how a swept
variant differs), order and phase (place in a curriculum, from 1), target (chip that a prompt names). `Sample.weight` is
how often a trainer should see a row; exporters write it and, when asked, repeat rows. `Sample.group` decides about the
split: samples of one group stay together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.curate.format import Glimpse, Loader, NearMiss
    from kengine.curate.funnel import Funnel, Step
    from kengine.curate.pipeline import Result, run
    from kengine.curate.record import Judgement, Loss, Outcome, Sample, drop, evolve, label
    from kengine.curate.settings import Settings
    from kengine.curate.settings import read as read_settings
    from kengine.curate.stage import Context, Corpus, Stage

_HOMES = {
    "format": ("Glimpse", "Loader", "NearMiss"),
    "funnel": ("Funnel", "Step"),
    "pipeline": ("Result", "run"),
    "record": ("Judgement", "Loss", "Outcome", "Sample", "drop", "evolve", "label"),
    "settings": ("Settings", "read_settings"),
    "stage": ("Context", "Corpus", "Stage"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_RENAMED = {"read_settings": "read"}

__all__ = [
    "Context",
    "Corpus",
    "Funnel",
    "Glimpse",
    "Judgement",
    "Loader",
    "Loss",
    "NearMiss",
    "Outcome",
    "Result",
    "Sample",
    "Settings",
    "Stage",
    "Step",
    "drop",
    "evolve",
    "label",
    "read_settings",
    "run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kengine.curate' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"kengine.curate.{_HOME[name]}"), _RENAMED.get(name, name))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
