"""Comparison by a plugin: asked once the form is right, its word counts, written inputs count all the same."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from kengine import codec
from kengine.errors import InfraError
from kengine.judge import comparers
from kengine.model import Comparison, Target, TargetInfo
from kengine.plugins.hooks import hookimpl

SALT = "0" * 32


@pytest.fixture
def module(monkeypatch):
    """A backend whose comparison accepts whatever has the right sum."""
    made = types.ModuleType("sum_backend")
    made.KENGINE_SPEC = (1, 0)
    reasons = {"compile": "none", "launch": "none", "time": "none"}

    @hookimpl
    def kengine_targets():
        return [TargetInfo(Target("sums", "cpu"), True, (), reasons)]

    @hookimpl
    def kengine_compile(candidate, task, target, samples, workdir):
        raise NotImplementedError

    @hookimpl
    def kengine_launch(artifact, case, inputs, mode):
        raise NotImplementedError

    @hookimpl
    def kengine_compare(task, index, expected, actual):
        ok = all(np.isclose(e.sum(), a.sum()) for e, a in zip(expected, actual))
        return Comparison("", ok, "" if ok else "another sum", by="sums")

    for hook in (kengine_targets, kengine_compile, kengine_launch, kengine_compare):
        setattr(made, hook.__name__, hook)
    monkeypatch.setitem(sys.modules, "sum_backend", made)
    monkeypatch.setattr(comparers, "_loaded", {})
    return "sum_backend"


@pytest.fixture
def bench_with(bench, make_task):
    """A judge with an open task `x -> x` (plus one, so that it is no copy), and these comparers."""

    def opened(names):
        source = """
import torch

def reference(x):
    return x + 0.0 * x.sum()

def make_inputs(seed, device):
    return (torch.randn(4, 6, generator=torch.Generator().manual_seed(seed)),)
"""
        task = make_task(source)
        bench.task = task
        body = {"task": codec.to_json(task), "salt": SALT, "device": "cpu", "cases": 1, "screen": False}
        bench.opened, _ = bench.ask("open", comparers=names, **body)
        assert bench.opened["ok"], bench.opened
        return bench

    return opened


def test_nobody_to_ask():
    assert comparers.ask_plugins((), None, 0) is None


def test_a_plugin_decides_in_the_place_of_the_core(module, bench_with):
    bench = bench_with([["sums", module]])
    assert bench.run(lambda x: x.flip(0)).ok
    wrong = bench.run(lambda x: x + 1)
    assert (wrong.ok, wrong.problem, wrong.by) == (False, "another sum", "sums")


def test_the_plugin_decides_where_only_right_or_wrong_is_asked_for_too(module, bench_with):
    for names, ok in (([["sums", module]], True), ([], False)):
        bench = bench_with(names)
        (lent,) = bench.lend(0)
        body = {"task_id": bench.opened["task_id"], "case": 0, "phase": "check", "holder": "r1", "brief": True}
        answer, _ = bench.ask("compare", outputs=lent.describe([lent.args[0].flip(0)]), **body)
        assert answer["ok"] and answer["comparison"]["ok"] is ok


def test_the_last_plugin_is_asked_first_and_hands_on_what_it_does_not_know(monkeypatch):
    class Named:
        def __init__(self, name, knows):
            self.name, self.knows = name, knows

        def compare(self, task, index, expected, actual):
            return Comparison("", True, by=self.name) if self.knows else None

    for plugins, by in (
        ({"a": Named("a", True), "b": Named("b", True)}, "b"),
        ({"a": Named("a", True), "b": Named("b", False)}, "a"),
    ):
        monkeypatch.setattr(comparers, "_loaded", plugins)
        ask = comparers.ask_plugins((("a", "a"), ("b", "b")), None, 0)
        assert ask((), (), "cpu").by == by
    monkeypatch.setattr(comparers, "_loaded", {"a": Named("a", False)})
    assert comparers.ask_plugins((("a", "a"),), None, 0)((), (), "cpu") is None


def test_the_form_is_the_cores_affair(module, bench_with):
    comparison = bench_with([["sums", module]]).run(lambda x: x.reshape(-1))
    assert not comparison.ok
    assert "shape" in comparison.problem


def test_written_inputs_count():
    merged = comparers.merge(Comparison("", True, by="sums"), "case 1", ("x",))
    assert (merged.case, merged.ok, merged.mutated) == ("case 1", False, ("x",))
    assert "wrote to x" in merged.problem


def test_names_are_read_strictly():
    assert comparers.read_names(None) == ()
    assert comparers.read_names([["a", "b"]]) == (("a", "b"),)
    with pytest.raises(InfraError):
        comparers.read_names(["a"])


def test_a_plugin_that_is_not_there_is_the_machines_fault():
    with pytest.raises(InfraError, match="no_such_module"):
        comparers.ask_plugins((("x", "no_such_module_at_all"),), None, 0)
