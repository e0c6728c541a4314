"""Which files of a command line can be candidates on the chosen backends; the others are named, and not judged.

A file that a model wrote in the wrong language is the model's fault, and has a record. One that a person names for a
backend that does not take it is the person's: nothing is said about the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.cli.files import expand
from kengine.errors import KengineError, UsageError

if TYPE_CHECKING:
    from kengine.plugins.dialect import Dialect

OTHER_CPP = (".cpp", ".cc", ".cxx", ".c")
"""Suffixes of C++ that does not say whether it is CUDA or HIP."""

_TASK = "a task and no candidate"


@dataclass
class Fitting:
    """The files to judge, those that nobody can, and what was left out of folders and patterns, as sentences.

    misfits: for each backend the files that it does not take while another one does.
    """

    paths: list[Path] = field(default_factory=list)
    errors: list[tuple[Path, UsageError]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    misfits: dict[str, set[Path]] = field(default_factory=dict)

    def takes(self, backend: str, path: Path) -> bool:
        """Whether a file of `paths` is to be judged on a backend."""
        return path not in self.misfits.get(backend, ())


def fit(arguments: Sequence[str], task: Path | None, backends: Sequence[str]) -> Fitting:
    """Expand arguments and keep what the backends take.

    A file that was named and that no backend takes is an error; one that lay in a folder or matched a pattern is left
    out, and so is a task without a candidate there. Raises UsageError when nothing is left, PluginError for a backend
    that is not installed or broken.
    """
    dialects = _read_dialects(backends)
    named = {Path(argument) for argument in arguments}
    found = Fitting(misfits={backend: set() for backend in dialects})
    left_out: dict[tuple[str, str], list[Path]] = {}
    for path in expand(arguments, task):
        problems = {backend: _misfit(path, backend, dialect) for backend, dialect in dialects.items()}
        wrong = [backend for backend, problem in problems.items() if problem]
        if path not in named and holds_task_alone(path):
            left_out.setdefault(("", _TASK), []).append(path)
        elif len(wrong) < len(dialects):
            found.paths.append(path)
            for backend in wrong:
                found.misfits[backend].add(path)
            if wrong:
                left_out.setdefault((f" on {' and '.join(wrong)}:", _name(path)), []).append(path)
        elif path in named:
            found.errors.append((path, UsageError(f"{problems[wrong[0]]}; {_remedy(path)}")))
        else:
            left_out.setdefault(("", f"{_name(path)}; {_remedy(path)}"), []).append(path)
    said = [(where, _describe(what, paths)) for (where, what), paths in left_out.items()]
    if not found.paths and not found.errors:
        listed = "; ".join(text for _, text in said)
        raise UsageError(f"no candidate for {' or '.join(dialects)} among {', '.join(arguments)}: {listed}")
    found.notes += [f"left out{where} {text}" for where, text in said]
    return found


def holds_task_alone(path: Path) -> bool:
    """Whether a file is a task and nothing in it can be a candidate."""
    from kengine.cli.screen import holds_task
    from kengine.tasks.block import find_block, read_entry
    from kengine.tasks.form import find_form, single_entry, top_level
    from kengine.tasks.source import SourceError, normalise, parse, read_text

    if not holds_task(path):
        return False
    if language_of(path) != "python":
        return True
    try:
        source = parse(normalise(read_text(path)), str(path))
        names = top_level(source)
        form = find_form(names)
        if form is None or any(entry in names for entry in form.entries):
            return False
        return not read_entry(find_block(source.text, str(path))) and not single_entry(source, form)
    except (KengineError, SourceError):
        return False


def language_of(path: Path) -> str:
    """The language of a candidate by the suffix of its file, "" for C++ that does not say which."""
    from kengine.tasks.cfamily import SUFFIXES

    suffix = path.suffix.lower()
    return "" if suffix in OTHER_CPP else SUFFIXES.get(suffix, "python")


def _read_dialects(backends: Sequence[str]) -> Mapping[str, Dialect | None]:
    from kengine.plugins import backend as plugins

    return {name: plugins.load(name).dialect for name in dict.fromkeys(backends)}


def _misfit(path: Path, backend: str, dialect: Dialect | None) -> str:
    language = language_of(path)
    if not language:
        return f"{path} is C++, and candidates are Python, CUDA (.cu) or HIP (.hip)"
    return dialect.refuse(backend, str(path), language) if dialect is not None else ""


def _remedy(path: Path) -> str:
    from kengine.plugins import dialect

    language = language_of(path)
    if not language:
        return "a kernel's file ends in .cu or .hip"
    names = dialect.takers(language)
    return f"use --backend {names[0]}" if names else "no backend that is installed takes it"


def _name(path: Path) -> str:
    from kengine.plugins.dialect import LANGUAGES

    return LANGUAGES.get(language_of(path), "C++")


def _describe(what: str, paths: Sequence[Path]) -> str:
    from kengine.report.plain import count
    from kengine.tasks.paths import show_path

    listed = ", ".join(map(show_path, paths[:3])) + (", ..." if len(paths) > 3 else "")
    verbs = ("holds", "hold") if what == _TASK else ("is", "are")
    return f"{count(len(paths), 'file')} that {verbs[len(paths) > 1]} {what} ({listed})"
