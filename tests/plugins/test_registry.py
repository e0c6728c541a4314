from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from kengine.errors import BackendConflict, BackendNotFound
from kengine.plugins import registry
from kengine.plugins.registry import Installed, PluginWarning

FAKES = Path(__file__).parent / "fake_dists"


def test_lists_metadata_and_imports_nothing(install, monkeypatch):
    install("good", "raises", "lint_pack")
    # Whatever else has imported in this process, what is asserted is what these calls do.
    for name in [m for m in sys.modules if m.startswith("fake_")]:
        monkeypatch.delitem(sys.modules, name)
    before = set(sys.modules)
    found, every_pack = registry.installed(), registry.installed("kengine.plugins")
    imported = {m.partition(".")[0] for m in set(sys.modules) - before}
    assert imported <= sys.stdlib_module_names, imported
    assert Installed("fake-good", "good", "fake_good.plugin", "2.5") in found
    assert Installed("fake-raises", "raises", "fake_raises.plugin", "1.0") in found
    packs = [p for p in every_pack if p.distribution != "kernel-engine"]
    assert packs == [Installed("fake-lint-pack", "acme_rules", "fake_lint_pack.plugin", "1.0")]
    assert list(found) == sorted(found)


def test_the_same_distribution_twice_on_the_path_is_one(install, monkeypatch):
    install("good")
    monkeypatch.setattr(sys, "path", [*sys.path, *(p for p in sys.path if p.endswith("fake_dists/good"))])
    assert [i.name for i in registry.installed() if i.distribution == "fake-good"] == ["good"]


def test_an_older_copy_further_down_the_path_does_not_count(install, monkeypatch, tmp_path):
    install("good")
    (folder,) = (FAKES / "good").glob("*.dist-info")
    copy = tmp_path / "fake_good-1.1.dist-info"
    shutil.copytree(folder, copy)
    text = (copy / "METADATA").read_text()
    (copy / "METADATA").write_text(text.replace("2.5", "1.1").replace("fake-good", "Fake_Good"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert [i for i in registry.installed() if i.name == "good"] == [
        Installed("fake-good", "good", "fake_good.plugin", "2.5")
    ]
    assert registry.find("good").version == "2.5"


def test_unknown_backend_lists_what_is_there(install):
    install("good")
    with pytest.raises(BackendNotFound, match=r"no backend 'goood' is installed; installed backends: .*good") as caught:
        registry.find("goood")
    assert caught.value.plugin == "goood"


def test_conflict_is_raised_for_the_name_asked_for_only(install):
    install("twin_one", "twin_two", "good")
    assert registry.find("good").version == "2.5"
    with pytest.raises(BackendConflict) as caught:
        registry.find("twin")
    message = str(caught.value)
    assert "'twin'" in message
    assert "fake-twin-one 1.0 (module fake_twin_one.plugin)" in message
    assert "fake-twin-two 3.1 (module fake_twin_two.plugin)" in message
    assert caught.value.distribution == "fake-twin-one, fake-twin-two"


def test_unreadable_metadata_is_warned_of_and_hides_nothing_else(install):
    install("good", "unreadable")
    with pytest.warns(PluginWarning, match=r"fake_unreadable-1\.0\.dist-info: cannot read its plugins"):
        found = registry.installed()
    assert "good" in [i.name for i in found]
    assert not [i for i in found if i.distribution == "fake-unreadable"]


@pytest.mark.parametrize(("value", "count"), [("1", 0), ("yes", 0), ("0", 1), ("", 1)])
def test_packs_can_be_switched_off(install, monkeypatch, value, count):
    install("lint_pack")
    monkeypatch.setenv("KENGINE_NO_PLUGINS", value)
    assert len([p for p in registry.packs() if p.distribution.startswith("fake-")]) == count
