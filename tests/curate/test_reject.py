"""Rejection, sweeps and variants, on the toy backend."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest
from kengine.curate import sweeps
from kengine.curate.record import Loss, Sample
from kengine.curate.reject import Reject, reject
from kengine.curate.taskbook import make
from kengine.engine import Engine
from kengine.errors import UsageError, WorkerLost
from kengine.model import SourceFile
from toy_items import GOOD
from toy_items import TASK as TOY

TASK = make(TOY, "add", license="MIT")
ONE_SHAPE = GOOD.replace("    out = np.empty_like(x)\n", "    assert len(x) == 300\n    out = np.empty_like(x)\n")
WRONG = GOOD.replace("x[rows] + y[rows]", "x[rows] - y[rows]")
SHAM = GOOD.replace("    return out", "    return x + y")


def sample(code: str, **given) -> Sample:
    fields = {"task": TASK, "backend": "toy", **given}
    return Sample(given.pop("uid", "s:1"), "s", "1", files=(SourceFile("candidate.py", code),), **fields)


def test_only_what_passes_goes_on_and_every_loss_has_its_reason() -> None:
    given = [
        sample(GOOD),
        sample(WRONG),
        sample(SHAM),
        sample("def candidate(x, y:\n"),
        sample(ONE_SHAPE),
        sample(GOOD, task=None),
        sample(GOOD, backend="triton"),
        sample(GOOD, backend=""),
        sample(GOOD, task=replace(TASK, self_referenced=True)),
        sample(GOOD, task=replace(TASK, source=TOY.replace("return x + y", "raise ValueError('no')"))),
        replace(sample(GOOD), files=()),
        sample(GOOD.replace("def candidate", "def other"), entry="other"),
    ]
    found = list(reject(given, Reject(targets=("toy:cpu",)), jobs=2))
    assert [o.reason if isinstance(o, Loss) else "kept" for o in found] == [
        "kept",
        "wrong_result",
        "sham",
        "compile_failed",
        "shape_specialised",
        "no_task",
        "no_target",
        "no_target",
        "self_referenced",
        "broken_task",
        "no_code",
        "kept",
    ]
    kept = found[0]
    assert isinstance(kept, Sample)
    (judgement,) = kept.judgements
    assert (judgement.target, judgement.status, judgement.emulated, kept.passed) == ("toy:cpu", "passed", True, True)
    assert len(judgement.salt) == 32 and judgement.versions["kengine"] and judgement.kernels[0].name == "add"
    assert judgement.cases >= 1 and judgement.duration_ns > 0
    wrong = found[1]
    assert isinstance(wrong, Loss) and wrong.judgements[0].status == "wrong_result" and "wrong" in wrong.detail
    assert wrong.facets["task"] == "add"
    special = found[4]
    assert isinstance(special, Loss) and "right on the task's own shape, launch_failed at rows=" in special.detail


def test_what_may_be_kept_on_purpose() -> None:
    section = Reject(targets=("toy:cpu",), specialised="keep", self_referenced="keep")
    given = [sample(ONE_SHAPE), sample(GOOD, task=replace(TASK, self_referenced=True))]
    assert all(isinstance(o, Sample) for o in reject(given, section))


def test_a_task_of_several_shapes_needs_no_further_ones() -> None:
    block = "# /// kengine\n# [[cases]]\n# rows = 300\n# [[cases]]\n# rows = 17\n# ///\n"
    task = make(block + TOY, "two")
    (good, special) = reject([sample(GOOD, task=task), sample(ONE_SHAPE, task=task)], Reject(targets=("toy:cpu",)))
    assert isinstance(good, Sample) and good.labels["shapes"] == "several" and good.judgements[0].cases == 4
    assert isinstance(special, Loss) and special.reason == "shape_specialised"


def test_a_reference_that_takes_no_other_size_is_no_fault_of_the_candidate() -> None:
    task = make(TOY.replace("    return x + y", "    assert len(x) == 300\n    return x + y"), "fixed")
    (kept,) = reject([sample(ONE_SHAPE, task=task)], Reject(targets=("toy:cpu",)))
    assert isinstance(kept, Sample)


def test_a_target_that_is_not_there_is_told_before_anything_is_judged() -> None:
    with pytest.raises(UsageError, match="unknown target toy:gpu"):
        list(reject([sample(GOOD)], Reject(targets=("toy:gpu",))))
    with pytest.raises(UsageError, match="min_speedup need a device to measure on, and toy:cpu are emulators"):
        list(reject([sample(GOOD)], Reject(targets=("toy:cpu",), min_speedup=1.5)))


MODULE = """import torch
rows, width = 4, 8
batch = 16
features: int = 32
depth = 64


class Model(torch.nn.Module):
    def forward(self, x):
        return x


def get_inputs():
    return [torch.randn(batch, depth)]


def get_init_inputs():
    return []
"""


def test_variants_of_a_function_task() -> None:
    found = list(sweeps.variants(TASK, ("float16",), seed=1))
    names = [v.name for v in found]
    assert len(set(names)) == len(names) and "rows=301" in names and "rows=299" in names and "float16" in names
    assert all(len(v.task.spec.cases) == 1 for v in found)
    shaped = next(v for v in found if v.name == "rows=301")
    assert shaped.task.spec.cases[0].params == {"rows": 301} and shaped.task.spec.license == "MIT"
    both = next(v for v in found if v.name == "rows=301 float16")
    assert both.task.spec.cases[0].dtype == "float16" and both.task.spec.cases[0].params == {"rows": 301}
    assert [v.name for v in sweeps.variants(TASK, ("float16",), seed=1)] == names


def test_variants_of_a_module_change_the_constants_that_inputs_read() -> None:
    task = make(MODULE, "module")
    found = list(sweeps.variants(task))
    assert found and all(v.task.spec == task.spec or len(v.task.spec.cases) <= 1 for v in found)
    first = found[0]
    assert first.name == "batch=17,depth=65"
    assert first.task.source == MODULE.replace("batch = 16", "batch = 17").replace("depth = 64", "depth = 65")


def test_a_task_without_sizes_has_no_variants() -> None:
    assert (
        list(
            sweeps.variants(
                make("def reference(x):\n    return x\ndef make_inputs(seed, device):\n    return (1,)\n", "t")
            )
        )
        == []
    )
    assert list(sweeps.variants(replace(TASK, source="def ("))) == []


def test_a_machine_that_fails_rejects_nothing_and_says_what_to_do(monkeypatch) -> None:
    def fail(engine: Engine, item: object) -> None:
        raise WorkerLost("the judge died")

    monkeypatch.setattr(Engine, "verify", fail)
    with pytest.raises(
        WorkerLost, match=r"^s:1 on toy:cpu: the machine failed, not the sample: the judge died\."
    ) as said:
        list(reject([sample(GOOD)], Reject(targets=("toy:cpu",))))
    assert "not counted as rejected" in str(said.value) and "run the same command again" in str(said.value)


def test_a_sample_must_pass_on_every_target_of_its_backend() -> None:
    from pathlib import Path
    from types import SimpleNamespace

    from kengine import codec
    from kengine.curate.reject import Judging
    from kengine.model import Status, Verdict

    golden = Path(__file__).resolve().parents[1] / "core" / "golden" / "verdict-1.json"
    verdict = codec.loads(golden.read_bytes(), Verdict)

    def decide(**statuses):
        asked = []

        def verify(target, item, *more):
            asked.append(target)
            return replace(verdict, status=Status(statuses[target]), message=f"on {target}")

        bench = SimpleNamespace(targets=tuple(statuses), targets_of=lambda sample: tuple(statuses), verify=verify)
        (outcome,) = Judging(Reject(targets=("toy",), specialised="keep"), bench)(sample(GOOD))
        return outcome, asked

    outcome, asked = decide(one="passed", two="passed")
    assert isinstance(outcome, Sample) and asked == ["one", "two"]
    assert [j.status for j in outcome.judgements] == ["passed", "passed"]
    outcome, asked = decide(one="passed", two="timed_out")
    assert isinstance(outcome, Loss) and (outcome.reason, outcome.detail) == ("timed_out", "on two")
    outcome, asked = decide(one="sham", two="passed")
    assert isinstance(outcome, Loss) and outcome.reason == "sham" and asked == ["one"]


@pytest.mark.parametrize("place", ["kengine.engine.pipeline.run", "kengine.curate.reject.make_item"])
def test_a_mistake_of_kengines_own_loses_one_sample_and_not_the_run(monkeypatch, place) -> None:
    module, _, name = place.rpartition(".")
    honest = getattr(importlib.import_module(module), name)

    def broken(first, *others):
        text = first.candidate.main.text if name == "run" else first.code
        return {}["of ours"] if "np.multiply" in text else honest(first, *others)

    monkeypatch.setattr(place, broken)
    given = [sample(GOOD), sample(GOOD + "\nprint(np.multiply)\n"), sample(WRONG)]
    found = list(reject(given, Reject(targets=("toy:cpu",))))
    assert [o.reason if isinstance(o, Loss) else "kept" for o in found] == ["kept", "internal_error", "wrong_result"]
    assert found[1].detail.endswith("KeyError: 'of ours'")
