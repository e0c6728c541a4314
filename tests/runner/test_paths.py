"""Which folders count as readable: installations and loaded packages, never a project that merely lies on sys.path."""

from __future__ import annotations

import os
import sys
import types

from kengine.runner.sandbox import identity, paths


def test_interpreter_and_system_are_readable():
    found = paths.readable()
    assert any(os.__file__.startswith(p + "/") for p in found)
    assert all(os.path.exists(p) for p in found)
    assert not {"/", "/home", "/root", "/tmp", os.path.expanduser("~")} & set(found)
    assert not any(a != b and b.startswith(a + "/") for a in found for b in found)


def test_a_project_on_the_path_gives_only_its_loaded_packages(tmp_path, monkeypatch):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text("")
    (tmp_path / "task.py").write_text("secret")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = types.ModuleType("pack")
    module.__file__ = str(tmp_path / "pack" / "__init__.py")
    monkeypatch.setitem(sys.modules, "pack", module)
    found = paths.readable()
    assert str(tmp_path) not in found
    assert str(tmp_path / "pack") in found


def test_an_installation_on_the_path_is_readable_whole(tmp_path, monkeypatch):
    for name in ("site-packages", "target/thing-1.0.dist-info"):
        (tmp_path / name).mkdir(parents=True)
    for folder in (tmp_path / "site-packages", tmp_path / "target"):
        monkeypatch.syspath_prepend(str(folder))
        assert str(folder) in paths.readable()


def test_open_to_all(tmp_path):
    file = tmp_path / "f"
    file.write_text("")
    file.chmod(0o644)
    assert identity.open_to_all([str(file)])
    file.chmod(0o640)
    assert not identity.open_to_all([str(file)])
    assert identity.open_to_all([str(tmp_path / "missing")])
    assert str(tmp_path) in identity.parents([str(file)])
