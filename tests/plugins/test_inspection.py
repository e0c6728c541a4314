"""What a plugin's module may hold and what its hooks may return, each breach made in a module of its own."""

from __future__ import annotations

import sys
import types
from pathlib import Path

import pytest
from kengine.errors import BackendConflict, ContractViolation, PluginLoadError, SpecMismatch
from kengine.model import (
    Artifact,
    Candidate,
    Capability,
    CaseView,
    Comparison,
    Launch,
    Mode,
    SourceFile,
    Target,
    TargetInfo,
    Task,
    TaskView,
)
from kengine.plugins import hookimpl
from kengine.plugins.backend import Backend
from kengine.plugins.hooks import Inputs, Outputs
from kengine.plugins.inspection import import_plugin
from kengine.plugins.registry import Installed

NAME = "made"
TARGET = Target(NAME, "x1")
CANDIDATE = Candidate((SourceFile("a.py", "x = 1\n"),), "x")
ARTIFACT = Artifact(TARGET)
REASONS = {"time": "it is a fixture"}
INFO = TargetInfo(TARGET, True, (Capability.compile, Capability.launch), REASONS)


def kengine_targets():
    return [INFO]


def kengine_compile(target):
    return Artifact(target)


def kengine_launch(inputs):
    return Outputs(inputs.args[0])


HOOKS = {"kengine_targets": kengine_targets, "kengine_compile": kengine_compile, "kengine_launch": kengine_launch}


def backend(spec=(1, 0), **changed):
    """A backend of the three hooks, with others in their place or beside them; None takes one out."""
    module = types.ModuleType("made_plugin")
    module.KENGINE_SPEC = spec
    for name, hook in {**HOOKS, **changed}.items():
        if hook is not None:
            setattr(module, name, hookimpl(hook) if isinstance(hook, types.FunctionType) else hook)
    return Backend(Installed("made-dist", NAME, "made_plugin", "1.0"), module)


def launch(made):
    return made.launch(ARTIFACT, CaseView(0, ()), Inputs((7,)), Mode.normal)


def test_the_plain_one_is_in_order():
    made = backend()
    assert made.targets() == (INFO,)
    assert launch(made) == Outputs(7)


async def waits(target):
    return Artifact(target)


async def waits_often(target):
    yield Artifact(target)


def only_by_name(*, target):
    return Artifact(target)


def any_number(*inputs):
    return Outputs(inputs)


def any_name(**inputs):
    return Outputs(inputs)


def by_place(inputs, /):
    return Outputs(inputs)


class Holder:
    """Its bound method is a hook to pluggy, and no plain function."""

    @hookimpl
    def kengine_launch(self, inputs):
        return Outputs(inputs)


@pytest.mark.parametrize(
    ("hooks", "problem"),
    [
        ({"kengine_compile": waits}, "kengine_compile must not be async"),
        ({"kengine_compile": waits_often}, "kengine_compile must not be async"),
        ({"kengine_compile": only_by_name}, "kengine_compile: parameter target must be a plain one"),
        ({"kengine_launch": any_number}, "kengine_launch: parameter *inputs must be a plain one"),
        ({"kengine_launch": any_name}, "kengine_launch: parameter **inputs must be a plain one"),
        ({"kengine_launch": by_place}, "kengine_launch: parameter inputs must be a plain one"),
        ({"kengine_launch": Holder().kengine_launch}, "kengine_launch is not a plain function"),
        ({"kengine_launch": None}, "a backend must implement kengine_launch"),
    ],
    ids=lambda value: value[:44] if isinstance(value, str) else "",
)
def test_a_hook_that_pluggy_would_let_pass_is_refused(hooks, problem):
    with pytest.raises(ContractViolation) as caught:
        backend(**hooks)
    assert str(caught.value) == f"plugin 'made' of made-dist 1.0: {problem}"
    assert (caught.value.plugin, caught.value.distribution) == (NAME, "made-dist")


@pytest.mark.parametrize("spec", [None, "1.0", 1, (1,), (1, 0, 0), (1.0, 0), (True, 0), [1, 0]])
def test_a_specification_is_a_pair_of_ints(spec):
    with pytest.raises(SpecMismatch, match=r"KENGINE_SPEC.*it must be a pair of ints such as \(1, 0\)"):
        backend(spec)


@pytest.mark.parametrize(
    ("spec", "who"), [((0, 9), "the plugin"), ((1, 1), "kernel-engine"), ((2, 0), "kernel-engine")]
)
def test_who_must_be_updated(spec, who):
    with pytest.raises(SpecMismatch, match=f"update {who}$"):
        backend(spec)


@pytest.mark.parametrize("place", ["made_plugin:plugin", "made plugin", "", "made..plugin"])
def test_an_entry_point_names_a_module(place, monkeypatch):
    monkeypatch.setitem(sys.modules, place, types.ModuleType("made"))
    with pytest.raises(PluginLoadError, match="its entry point must name a module, got "):
        import_plugin(Installed("made-dist", NAME, place, "1.0"))


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (7, "kengine_launch returned int, want Outputs"),
        (None, "kengine_launch returned None, want Outputs"),
        (Outputs(7, launches=iter([Launch("k", (1,))])), "Outputs.launches is list_iterator, want a sequence"),
        (Outputs(7, launches=None), "Outputs.launches is None, want a sequence"),
        (Outputs(7, launches=["k"]), "kengine_launch returned str, want Launch"),
        (Outputs(7, launches=[Launch("k", [1])]), "kengine_launch returned a record that cannot be written"),
        (Outputs(7, details={"x": object()}), "kengine_launch returned a record that cannot be written"),
    ],
)
def test_what_a_launch_may_not_return(result, problem):
    def kengine_launch(inputs):
        return result

    with pytest.raises(ContractViolation) as caught:
        launch(backend(kengine_launch=kengine_launch))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("infos", "problem"),
    [
        (None, "kengine_targets returned None, want a sequence of TargetInfo"),
        (iter([INFO]), "kengine_targets returned list_iterator, want a sequence"),
        ([TARGET], "want TargetInfo"),
        ([INFO, INFO], "lists made:x1 twice"),
        ([TargetInfo(Target("other", "x1"), True, (), {})], "lists other:x1, which is not a target of 'made'"),
        (
            [TargetInfo(TARGET, True, (Capability.compile, Capability.launch, Capability.time), {})],
            "says that the emulator made:x1 can measure time",
        ),
        ([TargetInfo(TARGET, True, (Capability.compile,), REASONS)], "gives no reason why made:x1 cannot launch"),
    ],
)
def test_what_targets_may_not_be(infos, problem):
    def kengine_targets():
        return infos

    with pytest.raises(ContractViolation) as caught:
        backend(kengine_targets=kengine_targets).targets()
    assert problem in str(caught.value)


@pytest.mark.parametrize("result", [False, 1, "yes", [True]])
def test_warming_up_says_true_or_nothing(result):
    def kengine_warm(target):
        return result

    with pytest.raises(ContractViolation, match=r"kengine_warm returned .*, want True or None"):
        backend(kengine_warm=kengine_warm).warm(TARGET)


def test_whoever_compares_signs_with_a_name_of_its_own():
    def compares(by):
        def kengine_compare(task, index, expected, actual):
            return Comparison("", True, by=by) if by else None

        return backend(kengine_compare=kengine_compare).compare(Task("t", "function", ""), 0, [], [])

    assert compares("made").by == "made" and compares("") is None
    with pytest.raises(ContractViolation, match=r"must put its own name into Comparison\.by"):
        compares("kengine")


def test_the_pack_that_came_last_compares_first(monkeypatch):
    made = backend()
    for name in ("one", "two"):
        pack = types.ModuleType(f"pack_{name}")
        pack.KENGINE_SPEC = (1, 0)
        pack.kengine_compare = _compares(name)
        monkeypatch.setitem(sys.modules, pack.__name__, pack)
        assert made.join(Installed(f"pack-{name}", name, pack.__name__, "1.0"))
    assert made.compare(Task("t", "function", ""), 0, [], []).by == "two"
    assert made.comparers() == (("one", "pack_one"), ("two", "pack_two"))


def _compares(name):
    @hookimpl
    def kengine_compare(task):
        return Comparison("", True, by=name)

    return kengine_compare


def test_a_pack_may_own_no_hook_of_the_backend(monkeypatch):
    pack = types.ModuleType("greedy_pack")
    pack.KENGINE_SPEC = (1, 0)
    pack.kengine_launch = hookimpl(lambda inputs: Outputs(8))
    monkeypatch.setitem(sys.modules, "greedy_pack", pack)
    made = backend()
    with pytest.warns(UserWarning, match="it owns kengine_launch, which belongs to the backend alone"):
        assert not made.join(Installed("greedy", "greedy", "greedy_pack", "1.0"))
    assert [type(e) for e in made.refused] == [BackendConflict]
    assert launch(made) == Outputs(7)


def test_an_artifact_is_for_what_was_asked(tmp_path: Path):
    def kengine_compile(target):
        return Artifact(Target(NAME, "x2"))

    with pytest.raises(ContractViolation, match="was asked for made:x1 and returned an artifact of made:x2"):
        backend(kengine_compile=kengine_compile).compile(CANDIDATE, TaskView("function", "x"), TARGET, [], tmp_path)
