"""How candidates of each backend are written: what a prompt asks for, how a file is called, how code is recognised.

A backend's module may declare `KENGINE_DIALECT = Dialect(...)`; without one the defaults hold. `kengine curate` reads
it, whoever looks for the entry of a candidate that does not name it, and rules that look at Python.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kengine.errors import ContractViolation, PluginError
from kengine.plugins import inspection, registry
from kengine.plugins.registry import PluginWarning

LANGUAGES = {"python": "Python", "cuda": "CUDA", "hip": "HIP"}
"""Languages of candidates, with the names that people know them by."""


@dataclass(frozen=True)
class Dialect:
    """What is particular about candidates of one backend.

    language: as a prompt names it; "" takes the backend's name. entry: what kind of function an answer must define, as
    a noun phrase such as "one function decorated with `acme.kernel`", "" for any; what it takes and returns is the
    task's matter. native: suffix of a candidate that is C++ alone, such as ".cu"; "" where candidates are Python
    always.
    languages: of the candidates that the backend takes, "python", "cuda" or "hip" each; () for Python and the language
    of `native`, where HIP takes CUDA too: most of its names are both.
    marks: regular expressions (multi-line) of which one occurs in code for this backend and no other. hints: likewise,
    but code for other backends may hold them too: they count when no backend's marks occur.
    fences: words after the fence of a code block that say it is for this backend, besides the backend's own name.
    called, launched: decorators, by their dotted names, of kernels that are called like functions and may be the entry
    themselves, and of kernels that need a launch and never are.
    libraries: top-level modules that kernels are written with. Nothing in them is a candidate's to replace.
    settings: dotted names of their switches; what is assigned there, or below, is set and not replaced.
    helpers: dotted names of what launches no kernel and computes nothing: sizes, configurations, measuring.
    shims: dotted names of modules in which honest code fills in what another version lacks; replacing something there
    is a warning. hooks: what is called around each launch, which no candidate has a reason to touch.
    clocks: dotted names of what measures time, which nobody replaces; timers: functions of theirs that read a clock.
    adding: last names of functions that add up terms inside a kernel (products, reductions, scans), besides those that
    are common: `dot`, `matmul`, `sum`, `cumsum`, `reduce`, `mma`, `gemm`, `fma` and whatever has `dot` or `atomic` in
    its name. A kernel with none of them, and no loop that adds, holds no part of a product.
    """

    language: str = ""
    entry: str = ""
    native: str = ""
    marks: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    fences: tuple[str, ...] = ()
    called: frozenset[str] = frozenset()
    launched: frozenset[str] = frozenset()
    libraries: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    adding: frozenset[str] = frozenset()
    helpers: frozenset[str] = frozenset()
    shims: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()
    clocks: frozenset[str] = frozenset()
    timers: frozenset[str] = frozenset()
    languages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for pattern in (*self.marks, *self.hints):
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"Dialect: {pattern!r} is no regular expression: {error}") from None
        for tag in self.fences:
            if not re.fullmatch(r"[a-z0-9_+#.-]+", tag):
                raise ValueError(f"Dialect: fences: {tag!r} is no single word in lower case")
        for name in self.languages:
            if name not in LANGUAGES:
                raise ValueError(f"Dialect: languages: {name!r} is not known; allowed: {', '.join(LANGUAGES)}")
        for field in ("libraries", "adding"):
            if wrong := sorted(name for name in getattr(self, field) if not name.isidentifier()):
                raise ValueError(f"Dialect: {field}: {wrong[0]!r} is no name without dots")

    @cached_property
    def _patterns(self) -> tuple[tuple[re.Pattern[str], ...], tuple[re.Pattern[str], ...]]:
        marks, hints = ([re.compile(p, re.MULTILINE) for p in ps] for ps in (self.marks, self.hints))
        return tuple(marks), tuple(hints)

    @cached_property
    def taken(self) -> tuple[str, ...]:
        """Languages of the candidates that the backend takes, as `languages` or else `native` says."""
        return self.languages or ("python", *_NATIVE.get(self.native, ()))

    def refuse(self, backend: str, file: str, language: str) -> str:
        """Why the backend takes no candidate of a language, as a sentence without what to do; "" when it does."""
        if language in self.taken:
            return ""
        taken = " and ".join(LANGUAGES[name] for name in self.taken)
        return f"{file} is {LANGUAGES[language]}, and the backend {backend!r} judges {taken}"

    def count(self, code: str) -> tuple[int, int]:
        """How many marks, and how many hints, occur in some code."""
        marks, hints = self._patterns
        return sum(p.search(code) is not None for p in marks), sum(p.search(code) is not None for p in hints)


class Dialects(dict[str, Dialect]):
    """Dialects by the name of their backend. plugins: top-level modules of everything that is installed."""

    plugins: frozenset[str] = frozenset()

    @cached_property
    def suffixes(self) -> Mapping[str, str]:
        """Suffix of the file that a code block is, by the word after its fence: languages first, then backends."""
        found = dict(_LANGUAGES)
        for name, dialect in self.items():
            for tag in (name, *dialect.fences):
                found.setdefault(tag, dialect.native or ".py")
        return found

    @cached_property
    def python(self) -> frozenset[str]:
        """Words after the fence of a block of Python."""
        return frozenset(tag for tag, suffix in self.suffixes.items() if suffix == ".py")

    @cached_property
    def called(self) -> frozenset[str]:
        """Decorators of kernels that may be the entry themselves."""
        return frozenset[str]().union(*(dialect.called for dialect in self.values()))

    @cached_property
    def launched(self) -> frozenset[str]:
        """Decorators of kernels that need a launch."""
        return frozenset[str]().union(*(dialect.launched for dialect in self.values()))

    @cached_property
    def libraries(self) -> frozenset[str]:
        """Top-level modules that kernels of any backend are written with, and those of the plugins themselves."""
        return self.plugins.union(*(dialect.libraries for dialect in self.values()))

    @cached_property
    def settings(self) -> frozenset[str]:
        """Switches of these libraries, by their dotted names."""
        return frozenset[str]().union(*(dialect.settings for dialect in self.values()))

    @cached_property
    def adding(self) -> frozenset[str]:
        """Functions that add up terms inside a kernel, by their last names."""
        return frozenset[str]().union(*(dialect.adding for dialect in self.values()))

    @cached_property
    def helpers(self) -> frozenset[str]:
        """What launches no kernel in these libraries, by dotted names, as the names below are too."""
        return frozenset[str]().union(*(dialect.helpers for dialect in self.values()))

    @cached_property
    def shims(self) -> frozenset[str]:
        """Modules in which honest code fills in what another version lacks."""
        return frozenset[str]().union(*(dialect.shims for dialect in self.values()))

    @cached_property
    def hooks(self) -> frozenset[str]:
        """What is called around each launch."""
        return frozenset[str]().union(*(dialect.hooks for dialect in self.values()))

    @cached_property
    def clocks(self) -> frozenset[str]:
        """What measures time."""
        return frozenset[str]().union(*(dialect.clocks for dialect in self.values()))

    @cached_property
    def timers(self) -> frozenset[str]:
        """Functions that read a clock."""
        return frozenset[str]().union(*(dialect.timers for dialect in self.values()))

    @cached_property
    def native(self) -> frozenset[str]:
        """Words after the fence of a block of C++, whatever it is for."""
        return frozenset(self.suffixes.keys() - self.python)


def find(backend: str) -> Dialect:
    """The dialect of a backend; the default one when it is not installed or declares none."""
    return declared().get(backend, _DEFAULT)


@lru_cache(maxsize=1)
def declared() -> Dialects:
    """The dialects that installed backends declare, by name; one that cannot be imported is warned of and left out."""
    found = Dialects()
    backends = registry.installed()
    found.plugins = frozenset(p.module.partition(".")[0] for p in (*backends, *registry.installed(registry.PACKS)))
    for plugin in sorted(backends, key=lambda p: p.name):
        try:
            dialect = getattr(inspection.import_plugin(plugin), "KENGINE_DIALECT", None)
            if dialect is None:
                continue
            if type(dialect) is not Dialect:
                raise ContractViolation(
                    f"{inspection.title(plugin)}: KENGINE_DIALECT is {type(dialect).__name__}, want Dialect",
                    plugin.name, plugin.distribution,
                )  # fmt: skip
            found.setdefault(plugin.name, dialect)
        except PluginError as error:
            warnings.warn(f"{error}; going on without it", PluginWarning, stacklevel=2)
    return found


def takers(language: str) -> tuple[str, ...]:
    """Backends that say that they take candidates of a language, first those whose own it is, then by name."""
    found = [
        (language not in _NATIVE.get(dialect.native, ("python",))[:1], name)
        for name, dialect in declared().items()
        if language in dialect.taken
    ]
    return tuple(name for _, name in sorted(found))


def guess(code: str) -> str:
    """The backend that code is written for: most marks, else most hints; "" when none occurs."""
    counts = [(*dialect.count(code), name) for name, dialect in declared().items()]
    best = max(counts, key=lambda c: c[:2], default=(0, 0, ""))
    return best[2] if best[0] or best[1] else ""


_NATIVE = {".cu": ("cuda",), ".hip": ("hip", "cuda")}
"""Languages besides Python that a backend takes, its own first, by the suffix of its native files."""
_DEFAULT = Dialect()
_LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3"), ".py"),
    **dict.fromkeys(("cuda", "cu", "cpp", "c++", "c", "cc"), ".cu"),
    "hip": ".hip",
}
"""The languages that files of candidates may be in (`kengine.tasks.cfamily`), by the words that stand after fences."""

__all__ = ["LANGUAGES", "Dialect", "Dialects", "declared", "find", "guess", "takers"]
