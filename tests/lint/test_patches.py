"""Whose modules a candidate may not patch, and which assignments set a switch; what backends say of theirs counts."""

from __future__ import annotations

import ast

import pytest
from kengine.lint.patches import find_patches, is_foreign, is_setting
from kengine.lint.source import SourceTree
from kengine.plugins import Dialect, dialect
from kengine.plugins.dialect import Dialects


def patched(body: str) -> list[str]:
    text = f"import acme, math, os, torch\n{body}\ndef candidate(x):\n    return x\n"
    return [member for _, member in find_patches(SourceTree(text, ast.parse(text)))]


@pytest.fixture
def acme(monkeypatch):
    """One backend, whose kernels are written with the library acme and whose plugin is kengine_acme."""
    made = Dialects(acme=Dialect("ACME", libraries=frozenset({"acme"}), settings=frozenset({"acme.knobs"})))
    made.plugins = frozenset({"kengine_acme"})
    monkeypatch.setattr(dialect, "declared", lambda: made)


@pytest.fixture
def nobody(monkeypatch):
    monkeypatch.setattr(dialect, "declared", Dialects)


PATCHES = {
    "acme.launch = print": ["acme.launch"],
    "acme.language.load = print": ["acme.language.load"],
    "setattr(acme, 'launch', print)": ["acme.launch"],
    "acme.__dict__['launch'] = print": ["acme.launch"],
    "acme.__dict__.update(launch=print)": ["acme...."],
    "import sys\nsys.modules['acme'].launch = print": ["acme.launch"],
}


@pytest.mark.parametrize("body", PATCHES)
def test_members_of_a_backends_library_are_not_a_candidates_to_replace(acme, body) -> None:
    assert patched(body) == PATCHES[body]


def test_of_a_library_that_no_backend_names_nothing_is_known(nobody) -> None:
    assert [patched(body) for body in PATCHES] == [[]] * len(PATCHES)
    assert patched("torch.allclose = print\nmath.exp = print") == ["torch.allclose", "math.exp"]


def test_switches_are_set_and_not_replaced(acme) -> None:
    assert patched("acme.knobs.fast = True\nacme.knobs = None") == []
    assert patched("torch.backends.cuda.matmul.allow_tf32 = True\nos.environ['A'] = '1'") == []
    assert patched("acme.knobsmith = True") == ["acme.knobsmith"]


def test_packages_and_switches_by_name(acme) -> None:
    assert all(map(is_foreign, ("os", "torch", "numpy", "acme", "kengine", "kengine_acme", "__main__")))
    assert not any(map(is_foreign, ("mine", "acme.language", "kengine_other", "")))
    assert all(map(is_setting, ("acme.knobs", "acme.knobs.a.b", "torch.backends", "os.environ", "sys.path")))
    assert not any(map(is_setting, ("acme", "acme.knobsmith", "torch.backend", "os.environment")))


def test_what_the_installed_backends_name() -> None:
    known = dialect.declared()
    for backend, libraries in (("triton", {"triton"}), ("nki", {"nki", "neuronxcc"})):
        if backend not in known:
            pytest.skip(f"the backend {backend!r} is not installed")
        assert libraries <= known.libraries and all(map(is_foreign, libraries))
    assert is_setting("triton.knobs.runtime.debug") and not is_setting("triton.jit")
    assert all(map(is_foreign, ("kengine_triton", "kengine_nki")))
