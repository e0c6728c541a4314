from __future__ import annotations

import logging
import warnings
from pathlib import Path

import pytest
from kengine.errors import (
    BackendConflict,
    CandidateFault,
    ContractViolation,
    PluginLoadError,
    SpecMismatch,
    UsageError,
)
from kengine.model import Candidate, CaseView, Comparison, Finding, Mode, SourceFile, Target, Task, TaskView, TimingPlan
from kengine.plugins import backend as front
from kengine.plugins.backend import PLUGIN_FAILED, load
from kengine.plugins.dialect import Dialect
from kengine.plugins.hooks import Inputs, Outputs
from kengine.plugins.registry import PluginWarning

CANDIDATE = Candidate((SourceFile("a.py", "x = 1\n"),), "x")
TASK = Task("t", "function", "")
VIEW = TaskView("function", "x")
X1 = Target("good", "x1")

BROKEN = [
    ("broken", PluginLoadError, "ModuleNotFoundError: No module named 'a_toolchain_that_nobody_has'"),
    ("raises", PluginLoadError, "RuntimeError: driver version 0 is not supported"),
    ("exits", PluginLoadError, "SystemExit: licence expired"),
    ("not_a_plugin", PluginLoadError, "implements no hook"),
    ("old_spec", SpecMismatch, "written for hooks 0.9, this kengine speaks 1.0: update the plugin"),
    ("newer_spec", SpecMismatch, "written for hooks 1.99, this kengine speaks 1.0: update kernel-engine"),
    ("no_spec", SpecMismatch, "declares no KENGINE_SPEC"),
    ("misspelt", ContractViolation, "kengine_tme is not a hook; did you mean kengine_time?"),
    ("unmarked", ContractViolation, "kengine_warm is defined but not marked with @hookimpl"),
    (
        "wrong_signature",
        ContractViolation,
        "kengine_launch has no parameter 'stream'; its parameters are artifact",
    ),
    ("default", ContractViolation, "kengine_launch: parameter mode must not have a default"),
    ("yielding", ContractViolation, "kengine_targets must return its result, not yield"),
    ("twice", ContractViolation, "kengine_launch is implemented twice"),
    ("missing_hook", ContractViolation, "a backend must implement kengine_compile"),
]


@pytest.mark.parametrize(("name", "error", "problem"), BROKEN)
def test_a_broken_backend_is_named_and_breaks_no_other(install, name, error, problem):
    install(*(b[0] for b in BROKEN), "good", "twin_one", "twin_two")
    with pytest.raises(error) as caught:
        load(name)
    assert type(caught.value) is error
    message = str(caught.value)
    assert message.startswith(f"plugin {name!r} of fake-{name.replace('_', '-')} 1.0: ")
    assert problem in message
    assert (caught.value.plugin, caught.value.distribution) == (name, f"fake-{name.replace('_', '-')}")
    assert caught.value.exit_code == 3
    _check_good()


def _check_good() -> None:
    good = load("good")
    assert (good.name, good.distribution, good.version, good.module) == ("good", "fake-good", "2.5", "fake_good.plugin")
    assert [i.target for i in good.targets()] == [X1]
    assert good.compile(CANDIDATE, VIEW, X1, [], Path()).target == X1
    artifact = good.compile(CANDIDATE, VIEW, X1, [], Path())
    assert good.launch(artifact, CaseView(0, ()), Inputs((7,)), Mode.normal) == Outputs(7)


def test_optional_hooks_that_are_missing(install):
    install("good")
    good = load("good")
    assert good.warm(X1) is False
    assert good.open(X1) is False
    assert good.lint(CANDIDATE, TASK, X1) == ()
    assert good.compare(TASK, 0, [], []) is None
    artifact = good.compile(CANDIDATE, VIEW, X1, [], Path())
    with pytest.raises(UsageError, match="'good' cannot measure time on any target"):
        good.time(artifact, CaseView(0, ()), [], TimingPlan(1, 1))
    with pytest.raises(UsageError, match="'good' has no target good:x9; its targets: good:x1"):
        good.info(Target("good", "x9"))


def test_wrong_return_types_name_the_plugin(install):
    install("wrong_return", "good")
    wrong = load("wrong_return")
    target = Target("wrong_return", "x1")
    with pytest.raises(ContractViolation) as caught:
        wrong.compile(CANDIDATE, VIEW, target, [], Path())
    assert str(caught.value) == (
        "plugin 'wrong_return' of fake-wrong-return 1.0: kengine_compile returned dict, want Artifact"
    )
    assert caught.value.distribution == "fake-wrong-return"
    artifact = load("good").compile(CANDIDATE, VIEW, X1, [], Path())
    with pytest.raises(ContractViolation, match="kengine_launch returned tuple, want Launch"):
        wrong.launch(artifact, CaseView(0, ()), Inputs((1,)), Mode.normal)


def test_an_artifact_for_another_target_is_a_breach(install):
    install("good")
    good = load("good")
    good._manager.get_plugin("fake-good:good").Artifact = lambda target: _artifact()
    with pytest.raises(ContractViolation, match="was asked for good:x1 and returned an artifact of good:x2"):
        good.compile(CANDIDATE, VIEW, X1, [], Path())


def _artifact():
    from kengine.model import Artifact

    return Artifact(Target("good", "x2"))


def test_targets_need_a_reason_for_what_is_missing(install):
    install("bad_targets")
    with pytest.raises(ContractViolation, match="gives no reason why bad_targets:x1 cannot time"):
        load("bad_targets").targets()


def test_what_a_hook_may_not_raise(install):
    install("raising_hook")
    with pytest.raises(ContractViolation, match="kengine_compile raised KeyError: 'sm_90'") as caught:
        load("raising_hook").compile(CANDIDATE, VIEW, Target("raising_hook", "x1"), [], Path())
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.plugin == "raising_hook"


def test_a_fault_of_the_candidate_passes_through(install):
    install("good")
    good = load("good")

    def refuse(target):
        raise CandidateFault("compile_failed", "no such register", line=3)

    good._manager.get_plugin("fake-good:good").Artifact = refuse
    with pytest.raises(CandidateFault) as caught:
        good.compile(CANDIDATE, VIEW, X1, [], Path())
    assert (caught.value.status, caught.value.line) == ("compile_failed", 3)


def test_a_candidate_in_another_language_is_its_own_fault(install):
    install("good")
    good = load("good")
    cuda = Candidate((SourceFile("a.cu", "__global__ void x() {}\n"),), "x", "cuda")
    assert good.dialect is None  # it does not say what it takes, so it is asked
    assert good.compile(cuda, VIEW, X1, [], Path()).target == X1
    good.dialect = Dialect("Good")
    with pytest.raises(CandidateFault) as caught:
        good.compile(cuda, VIEW, X1, [], Path())
    assert (caught.value.status, caught.value.message) == (
        "compile_failed", "a.cu is CUDA, and the backend 'good' judges Python"
    )  # fmt: skip
    assert good.compile(CANDIDATE, VIEW, X1, [], Path()).target == X1


def test_a_slow_import_is_named_in_a_warning(install):
    install("slow_import", "good")
    with pytest.warns(PluginWarning, match=r"plugin 'slow_import' of fake-slow-import 1\.0 took 0\.\d s to import"):
        slow = load("slow_import")
    assert slow.targets()[0].target == Target("slow_import", "x1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load("good")


def test_packs_lint_beside_the_backend_and_a_failing_one_leaves_a_finding(install):
    install("good", "lint_pack", "lint_raises", "lint_wrong_type")
    good = load("good")
    assert good.refused == []
    with pytest.warns(PluginWarning) as caught:
        findings = good.lint(CANDIDATE, TASK, X1)
    assert findings == (
        Finding("AC101", "warn", "acme says so", "a.py", 1),
        Finding(
            PLUGIN_FAILED,
            "warn",
            "plugin 'bad_rules' of fake-lint-raises 1.0 raised ZeroDivisionError: no files per line; "
            "its rules did not run",
        ),
        Finding(
            PLUGIN_FAILED,
            "warn",
            "plugin 'odd_rules' of fake-lint-wrong-type 1.0: kengine_lint returned a record that cannot be written: "
            "Finding.line: want int, got str; its rules did not run",
        ),
    )
    assert len(caught) == 2


def test_observers_cannot_break_the_run_or_each_other(install, caplog):
    install("good", "observer", "observer_raises")
    good = load("good")
    with caplog.at_level(logging.DEBUG, "kengine.plugins"), pytest.warns(PluginWarning) as caught:
        good.stage_finished("lint", "the record")
    assert [str(w.message) for w in caught] == [
        "plugin 'a_bad_observer' of fake-observer-raises 1.0: kengine_stage_finished raised OSError: disk full; "
        "going on without it"
    ]
    import fake_observer.plugin

    assert fake_observer.plugin.SEEN == [("lint", "the record")]
    assert "OSError: disk full" in caplog.text


@pytest.mark.parametrize(
    ("folder", "name", "error", "problem"),
    [
        ("second_owner", "hijack", BackendConflict, "owns kengine_launch, which belongs to the backend alone, here "
                                                    "plugin 'good' of fake-good 2.5"),
        ("broken_pack", "broken_pack", PluginLoadError, "a_toolchain_that_nobody_has"),
    ],
)  # fmt: skip
def test_a_pack_that_cannot_join_is_refused_and_the_backend_works(install, folder, name, error, problem):
    install("good", folder, "lint_pack")
    with pytest.warns(PluginWarning, match="going on without it"):
        good = load("good")
    (refused,) = good.refused
    assert type(refused) is error
    assert problem in str(refused)
    assert (refused.plugin, refused.distribution) == (name, f"fake-{folder.replace('_', '-')}")
    codes = [f.code for f in good.lint(CANDIDATE, TASK, X1)]
    assert codes == [PLUGIN_FAILED, "AC101"]
    assert good.launch(_artifact(), CaseView(0, ()), Inputs((7,)), Mode.normal) == Outputs(7)


def test_compare_asks_plugins_and_leaves_the_rest_to_the_core(install):
    install("good", "comparer")
    good = load("good")
    assert good.compare(Task("fp32", "function", ""), 0, [], []) is None
    assert good.compare(Task("int4", "function", ""), 2, [], []) == Comparison("case 2", True, by="int4_compare")


def test_no_plugins_means_no_packs(install, monkeypatch):
    install("good", "lint_pack", "second_owner")
    monkeypatch.setenv("KENGINE_NO_PLUGINS", "1")
    good = load("good")
    assert good.refused == []
    assert good.lint(CANDIDATE, TASK, X1) == ()


def test_packs_register_in_order_of_distribution_and_name(install):
    for folders in (("observer", "lint_pack", "comparer"), ("comparer", "lint_pack", "observer")):
        install("good", *folders)
        keys = [key for key, _ in load("good")._manager.list_name_plugin() if key.startswith("fake-")]
        assert keys == [
            "fake-good:good",
            "fake-comparer:int4_compare",
            "fake-lint-pack:acme_rules",
            "fake-observer:observer",
        ]


def test_attach_needs_no_metadata(install):
    install("good", "lint_pack")
    attached = front.attach("good", "fake_good.plugin")
    assert [i.target for i in attached.targets()] == [X1]
    assert attached.lint(CANDIDATE, TASK, X1) == ()
    with pytest.raises(PluginLoadError, match="plugin 'nothing' of nowhere"):
        front.attach("nothing", "nowhere.plugin")
