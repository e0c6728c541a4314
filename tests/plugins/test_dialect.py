"""What backends say of how candidates are written, and how code is told apart by it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
from kengine.plugins import Dialect, dialect, registry
from kengine.plugins.registry import Installed, PluginWarning


@pytest.fixture
def declare(monkeypatch):
    """Install backends by name, each with what its module declares."""

    def declare(**given: object) -> None:
        names = []
        for name, value in given.items():
            module = ModuleType(f"fake_{name}")
            if value is not None:
                module.KENGINE_DIALECT = value  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, f"fake_{name}", module)
            names.append(Installed("fake", name, f"fake_{name}", "1"))
        monkeypatch.setattr(registry, "installed", lambda group=registry.BACKENDS: tuple(names))
        dialect.declared.cache_clear()

    yield declare
    dialect.declared.cache_clear()


def test_a_backend_without_one_has_the_default(declare) -> None:
    declare(acme=None, other=Dialect("Other", native=".oth"))
    assert dialect.find("acme") == dialect.find("nowhere") == Dialect()
    assert dialect.find("other").native == ".oth" and set(dialect.declared()) == {"other"}


def test_marks_count_before_hints(declare) -> None:
    declare(
        a=Dialect(marks=(r"@a\.jit\b",), hints=(r"^import a\b",)),
        b=Dialect(hints=("__global__", "load_inline")),
        c=Dialect(marks=("cLaunch", "#include <c/")),
    )
    assert dialect.guess("__global__ void k();") == "b"
    assert dialect.guess("cLaunch(__global__, load_inline)") == "c"
    assert dialect.guess("import a\n@a.jit\ndef f(): load_inline") == "a"
    assert dialect.guess("import a\n__global__ load_inline") == "b"
    assert dialect.guess("x\nimport a") == "a" and dialect.guess("import abc") == dialect.guess("") == ""


def test_what_is_no_dialect_is_warned_of_and_left_out(declare) -> None:
    declare(bad="Triton", good=Dialect("Good"))
    with pytest.warns(PluginWarning, match="plugin 'bad' of fake 1: KENGINE_DIALECT is str, want Dialect"):
        assert set(dialect.declared()) == {"good"}


def test_a_pattern_that_is_none_is_refused_where_it_is_written() -> None:
    with pytest.raises(ValueError, match=r"Dialect: '\(' is no regular expression"):
        Dialect(marks=("(",))


def test_installed_backends_declare_theirs() -> None:
    dialect.declared.cache_clear()
    for name in ("triton", "nki", "cuda", "hip"):
        if name in {plugin.name for plugin in registry.installed()}:
            assert dialect.find(name).language
    if "nki" in dialect.declared():
        assert "nki.jit" in dialect.find("nki").entry and " that " not in dialect.find("nki").entry


def test_fences_lead_to_languages_and_backends(declare) -> None:
    declare(
        acme=Dialect("ACME", fences=("acmelang",)),
        own=Dialect(native=".own", fences=("oc",)),
        cuda=Dialect(native=".x"),
    )
    known = dialect.declared()
    assert {"acme", "acmelang", "python", "py"} <= known.python and {"own", "oc", "cuda", "hip", "cpp"} <= known.native
    assert not known.python & known.native
    # a language keeps its own suffix, whatever a backend of that name says
    assert (known.suffixes["acmelang"], known.suffixes["oc"], known.suffixes["cuda"], known.suffixes["hip"]) == (
        ".py", ".own", ".cu", ".hip",
    )  # fmt: skip
    with pytest.raises(ValueError, match="fences: 'Two words' is no single word"):
        Dialect(fences=("Two words",))


def test_languages_are_those_that_are_named_or_those_of_the_native_file(declare) -> None:
    declare(
        py=Dialect("Py"), cu=Dialect("CUDA", native=".cu"), hip=Dialect("HIP", native=".hip"),
        own=Dialect("Own", native=".cu", languages=("cuda",)), silent=None,
    )  # fmt: skip
    known = dialect.declared()
    assert {name: known[name].taken for name in known} == {
        "py": ("python",), "cu": ("python", "cuda"), "hip": ("python", "hip", "cuda"), "own": ("cuda",),
    }  # fmt: skip
    assert dialect.takers("cuda") == ("cu", "own", "hip") and dialect.takers("hip") == ("hip",)
    assert dialect.takers("python") == ("py", "cu", "hip")
    assert known["py"].refuse("py", "k.cu", "cuda") == "k.cu is CUDA, and the backend 'py' judges Python"
    assert known["cu"].refuse("cu", "k.hip", "hip") == "k.hip is HIP, and the backend 'cu' judges Python and CUDA"
    assert known["hip"].refuse("hip", "k.cu", "cuda") == known["py"].refuse("py", "k.py", "python") == ""
    with pytest.raises(ValueError, match="languages: 'c' is not known; allowed: python, cuda, hip"):
        Dialect(languages=("c",))


def test_libraries_switches_and_functions_that_add_are_those_of_all_backends(declare) -> None:
    declare(
        acme=Dialect(libraries=frozenset({"acme"}), settings=frozenset({"acme.knobs"}), adding=frozenset({"product"})),
        other=Dialect(libraries=frozenset({"other"}), adding=frozenset({"fold"})),
        plain=None,
    )
    known = dialect.declared()
    assert known.libraries == {"acme", "other", "fake_acme", "fake_other", "fake_plain"}
    assert known.settings == {"acme.knobs"} and known.adding == {"product", "fold"}
    assert not known.helpers | known.shims | known.hooks | known.clocks | known.timers
    for field in ("libraries", "adding"):
        with pytest.raises(ValueError, match=rf"Dialect: {field}: 'acme\.language' is no name without dots"):
            Dialect(**{field: frozenset({"acme.language"})})


@pytest.mark.parametrize("field", ["settings", "helpers", "shims", "hooks", "clocks", "timers"])
def test_names_within_libraries_are_those_of_all_backends(declare, field: str) -> None:
    declare(
        acme=Dialect(**{field: frozenset({"acme.x"})}), other=Dialect(**{field: frozenset({"other.y"})}), plain=None
    )
    assert getattr(dialect.declared(), field) == {"acme.x", "other.y"}
