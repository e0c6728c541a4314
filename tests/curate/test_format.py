"""Loaders of plugins stand beside kengine's own."""

from __future__ import annotations

import sys
import types

import pytest
from kengine.curate import format as formats
from kengine.errors import ContractViolation, UsageError
from kengine.plugins import registry
from kengine.plugins.hooks import hookimpl
from kengine.plugins.registry import Installed, PluginWarning


@pytest.fixture
def packs(monkeypatch):
    """Make modules known as packs."""

    def packs(*modules: str) -> None:
        listed = tuple(Installed("acme-loaders", module, module, "1.0") for module in modules)
        monkeypatch.setattr(registry, "packs", lambda: listed)

    return packs


def test_a_plugin_reads_its_own_format(write, outcomes, packs) -> None:
    packs("curate_pack")
    write({"a.acme": "acme\nfirst: x = 1\nsecond: y = 2\n"})
    assert [(s.uid, s.code) for s in outcomes("a.acme")] == [("s:first", "x = 1"), ("s:second", "y = 2")]
    with pytest.raises(UsageError, match=r"looks like acme, but its first line is 'acmee', want 'acme'"):
        write({"b.acme": "acmee\n"})
        outcomes("b.acme")
    write({"c.jsonl": [{"code": "z"}]})
    assert [s.code for s in outcomes("c.jsonl")] == ["z"]


def test_without_the_plugin_nobody_knows_the_format(write, outcomes, packs) -> None:
    packs()
    write({"a.acme": "acme\nfirst: x = 1\n"})
    with pytest.raises(UsageError, match=r"no loader knows this source \(it is a text file\)"):
        outcomes("a.acme")


def test_a_plugin_that_is_broken_is_warned_of_and_left_out(write, outcomes, packs) -> None:
    packs("no_such_module", "curate_pack")
    write({"a.acme": "acme\nfirst: x = 1\n"})
    with pytest.warns(PluginWarning, match="plugin 'no_such_module' of acme-loaders 1.0: .*; going on without it"):
        assert len(outcomes("a.acme")) == 1


def test_a_plugin_that_returns_nonsense_is_named(write, outcomes, packs, monkeypatch) -> None:
    module = types.ModuleType("curate_nonsense")
    module.KENGINE_SPEC = (1, 0)  # type: ignore[attr-defined]

    @hookimpl
    def kengine_load(glimpse):
        return "mine"

    module.kengine_load = kengine_load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "curate_nonsense", module)
    packs("curate_nonsense")
    write({"c.jsonl": [{"code": "z"}]})
    with pytest.raises(ContractViolation, match=r"acme-loaders 1\.0: kengine_load returned str"):
        outcomes("c.jsonl")


def test_every_format_of_the_list_has_its_module() -> None:
    from importlib import import_module

    from kengine.curate.loaders import FORMATS

    for module in set(FORMATS.values()):
        assert callable(import_module(f"kengine.curate.loaders.{module}").recognise)
    assert formats.formats() == list(FORMATS)
