"""Functions replaced and settings changed in a runner."""

from __future__ import annotations

import time

from kengine.runner import state


def test_a_replaced_function_is_named(monkeypatch):
    before = state.read_functions({})
    assert state.find_replaced(before, {}) == []
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    assert state.find_replaced(before, {}) == ["time.perf_counter"]


def test_a_method_of_a_class_and_a_function_that_is_gone(monkeypatch):
    import threading

    before = state.read_functions({"threading.Thread": threading.Thread})
    monkeypatch.setattr(threading.Thread, "start", lambda self: None)
    monkeypatch.delattr(time, "monotonic_ns")
    found = state.find_replaced(before, {"threading.Thread": threading.Thread})
    assert sorted(found) == ["threading.Thread.start", "time.monotonic_ns"]


def test_new_names_are_nobodys_business(monkeypatch):
    before = state.read_functions({})
    monkeypatch.setattr(time, "my_helper", lambda: 0, raising=False)
    assert state.find_replaced(before, {}) == []


def test_a_changed_setting_is_told_with_both_values(monkeypatch):
    import sys

    before = state.read_settings()
    limit = sys.getrecursionlimit()
    monkeypatch.setattr(sys, "getrecursionlimit", lambda: limit + 7)
    assert state.differing(before, state.read_settings()) == [f"recursion limit: {limit} -> {limit + 7}"]


def test_a_variable_that_comes_and_one_that_goes(monkeypatch):
    monkeypatch.setenv("KENGINE_TEST_GOES", "1")
    before = state.read_settings()
    monkeypatch.delenv("KENGINE_TEST_GOES")
    monkeypatch.setenv("KENGINE_TEST_COMES", "2")
    assert state.differing(before, state.read_settings()) == [
        "variable KENGINE_TEST_GOES: 1 -> (none)",
        "variable KENGINE_TEST_COMES: (none) -> 2",
    ]


def test_the_code_inside_a_function_and_a_method_that_hides_an_inherited_one():
    class Parent:
        def run(self):
            return 1

    class Child(Parent):
        pass

    def other(self):
        return 2

    places = {"Child": Child}
    before = state.read_functions(places)
    Parent.run.__code__ = other.__code__
    assert state.find_replaced(before, places) == ["Child.run"]
    before = state.read_functions(places)
    Child.run = other
    assert state.find_replaced(before, places) == ["Child.run"]


def test_collection_switched_off_and_threads_that_switch_less_are_seen():
    import gc
    import sys

    before, interval = state.read_settings(), sys.getswitchinterval()
    gc.disable()
    sys.setswitchinterval(5.0)
    try:
        changed = state.differing(before, state.read_settings())
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
    assert changed == ["garbage collection: True -> False", f"switch interval: {interval} -> 5.0"]


def test_a_change_of_the_working_directory_is_a_changed_setting(monkeypatch, tmp_path):
    import os

    before, home = state.read_settings(), os.getcwd()
    monkeypatch.chdir(tmp_path)
    assert state.differing(before, state.read_settings()) == [f"working directory: {home} -> {tmp_path}"[:200]]


def test_what_a_plugin_puts_in_a_candidates_way_is_looked_at(monkeypatch):
    class Shim:
        def launch(self):
            return 1

    monkeypatch.setattr(state, "_registered", {})
    assert "shim" not in state.find_places()
    state.register("shim", Shim)
    places = state.find_places()
    assert places["shim"] is Shim and "kengine.runner.state" in places
    before = state.read_functions(places)
    Shim.launch = lambda self: 2
    assert state.find_replaced(before, places) == ["shim.launch"]


def test_pytorch_may_wrap_a_function_of_its_own_and_nobody_else_may(monkeypatch):
    import pytest

    functional = pytest.importorskip("torch.nn.functional")
    before = state.read_functions({})
    monkeypatch.setattr(functional, "relu", functional.silu)  # as torch.compile and others do
    assert state.find_replaced(before, {}) == []
    monkeypatch.setattr(functional, "relu", lambda x, inplace=False: x)
    assert state.find_replaced(before, {}) == ["torch.nn.functional.relu"]
    monkeypatch.undo()
    monkeypatch.setattr(time, "perf_counter", functional.silu)  # nothing of PyTorch's own was there
    assert state.find_replaced(before, {}) == ["time.perf_counter"]
