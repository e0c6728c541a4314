"""From files or texts to one `Item`: a candidate, and the task that it is judged by."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Union

from kengine.errors import TaskError, UsageError
from kengine.model import Candidate, SourceFile, Task
from kengine.tasks import kernel_file, kernelbench, native, numpy_form
from kengine.tasks.block import Block, candidate_options, check_keys, find_block, read_candidate_block, read_entry
from kengine.tasks.cfamily import HEADERS, kernel_names
from kengine.tasks.completion import explain_markdown
from kengine.tasks.form import FORMS, Form, explain_near_miss, find_entry, find_form, single_entry, top_level
from kengine.tasks.item import Item
from kengine.tasks.language import Language, name_file, read_suffix
from kengine.tasks.paths import show_path
from kengine.tasks.slice import slice_file
from kengine.tasks.source import Source, SourceError, normalise, read_text
from kengine.tasks.source import parse as parse_source
from kengine.tasks.spec import read_name, read_spec

PathLike = Union[str, "os.PathLike[str]"]
"""A path, as text or as an object."""

_CHECKS = {"function": native.check_task, "module": kernelbench.check_task, "numpy": numpy_form.check_task}
_HELP = (
    "expected one file with reference(*inputs), make_inputs(seed, device) and candidate(*inputs), "
    "or Model, get_inputs(), get_init_inputs() and ModelNew; or a candidate and its task: --task FILE"
)


def load(files: PathLike | Sequence[PathLike], task: PathLike | Task | None = None) -> Item:
    """Read one candidate and its task. The first file that is no header is the main one, the rest go with it.

    files: one path, or several. task: a path, or a task that was read before. Without it, one Python file holds both,
    or one of several files is a task without a candidate. Raises UsageError for files that cannot be read and for a
    file that holds no candidate or no task, TaskError for a task that is broken. A separate candidate that does not
    parse or lacks its entry is no error here: `examine` says what is wrong with it, and its verdict does.
    """
    paths = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    if not paths:
        raise UsageError("no file given; " + _HELP)
    texts = [SourceFile(_short(Path(path)), normalise(read_text(Path(path)))) for path in paths]
    key = show_path(paths[0])
    if task is None and len(texts) > 1:
        alone = [i for i, file in enumerate(texts) if _is_task_alone(file)]
        if len(alone) == 1:
            judged = parse_task(texts[alone[0]].text, texts[alone[0]].path)
            return _pair([f for i, f in enumerate(texts) if i != alone[0]], judged, key)
    if task is not None:
        return _pair(texts, task if isinstance(task, Task) else load_task(task), key)
    return _single(_main_first(texts), key)


def load_task(path: PathLike) -> Task:
    """Read the file of a task alone; see `parse_task`. Raises TaskError, also for a file that cannot be read."""
    return parse_task(_read_task(Path(path)), _short(Path(path)))


def parse(text: str, name: str = "", task_text: str | None = None, task_name: str = "task.py") -> Item:
    """Read a candidate from text, with its task from another text or (None) from the same one; see `load`.

    The suffix of `name` tells the language: .cu and .hip, else Python. Without a name the text does, see
    `kengine.tasks.language`.
    """
    file = _file(text, name)
    if task_text is None:
        return _single([file], file.path)
    return _pair([file], parse_task(task_text, task_name), file.path)


def parse_task(text: str, name: str = "task.py") -> Task:
    """Read a task from text that holds nothing but the task. Raises TaskError with file, line and what is missing.

    A CUDA or HIP file is a task by its block; see `kengine.tasks.kernel_file`.
    """
    name = show_path(name)
    if read_suffix(name) != "python":
        made, own = kernel_file.to_python(normalise(text), name, read_suffix(name))
        written = _read_source(made, name)
        form = find_form(top_level(written))
        assert form is not None
        return _make_task(written, made, form, own, self_referenced=False)
    source = _read_source(normalise(text), name)
    names = top_level(source)
    form = find_form(names)
    if form is None:
        raise explain_near_miss(names, name) or TaskError(f"{name}: holds no task; expected {_forms()}")
    block = find_block(source.text, name)
    if block is not None:
        check_keys(block, backend_keys=read_entry(block) != "" or _has_candidate(source, form))
    return _make_task(source, source.text, form, block, self_referenced=False)


def pair(candidate: str, task: Task, name: str = "") -> Item:
    """Put a candidate's text beside a task that was read before; the way to judge many candidates by one task.

    name: what its file is called, whose suffix tells the language (.cu, .hip, else Python); "" lets the text tell it.
    The text is code, not an answer around it, which `extract` takes apart; for one that is not, a warning is given.
    """
    file = _file(candidate, name)
    if problem := explain_markdown(file.text, read_suffix(file.path)):
        warnings.warn(f"{file.path}: {problem}", stacklevel=2)
    return _pair([file], task, file.path)


def _single(files: list[SourceFile], key: str) -> Item:
    main = files[0]
    if read_suffix(main.path) != "python":
        raise UsageError(f"{main.path}: a {read_suffix(main.path)} file holds no task; give one with --task FILE")
    try:
        source = parse_source(main.text, main.path)
    except SourceError as error:
        return _unreadable(main, error, key)
    names = top_level(source)
    form = find_form(names)
    block = find_block(source.text, main.path)
    if form is None:
        near = explain_near_miss(names, main.path)
        if near is not None:
            raise near
        raise UsageError(f"{main.path}: holds no task; {_HELP}")
    if block is not None:
        check_keys(block, backend_keys=True)
    entry = find_entry(source, form, read_entry(block))
    roots = form.reserved & set(names)
    try:
        halves = slice_file(source, roots, entry)
    except SourceError as error:
        return _unreadable(main, error, key)
    task = _make_task(source, halves.task, form, block, self_referenced=True)
    cut = SourceFile(main.path, halves.candidate)
    return Item(Candidate((cut, *files[1:]), entry, "python", candidate_options(block)), task, key)


def _pair(files: list[SourceFile], task: Task, key: str) -> Item:
    files = _main_first(files)
    main = files[0]
    language = read_suffix(main.path)
    try:
        block = read_candidate_block(main.text, main.path, language)
    except UsageError:
        block = None  # the candidate's own fault, which `examine` reports
    form = next(form for form in FORMS if form.name == task.form)
    entry = read_entry(block) or _launched_kernel(block, language) or _guess_entry(main, language, form)
    return Item(Candidate(tuple(files), entry, language, candidate_options(block)), task, key)


def _launched_kernel(block: Block | None, language: Language) -> str:
    """The kernel that a launch block names (of several launches the first one that does), "" when it names none."""
    if block is None or language == "python":
        return ""
    tables = block.values.get("launch", ())
    for table in (block.values, *(tables if isinstance(tables, tuple) else ())):
        kernel = table.get("kernel") if isinstance(table, Mapping) else None
        if isinstance(kernel, str):
            name = re.split(r"[<(]", kernel)[0].rpartition("::")[2].strip()
            return name if name.isidentifier() else ""
    return ""


def _guess_entry(main: SourceFile, language: Language, form: Form) -> str:
    """The likely entry of a separate candidate; the usual name when there is none, which `examine` then reports."""
    if language != "python":
        kernels = kernel_names(main.text)
        usual = next((name for name in form.entries if name in kernels), "")
        return usual or (kernels[-1] if len(kernels) == 1 else form.entries[0])
    try:
        source = parse_source(main.text, main.path)
    except SourceError:
        return form.entries[0]
    names = top_level(source)
    usual = next((name for name in form.entries if name in names), "")
    likely = single_entry(source, form)
    return usual or (likely[0] if len(likely) == 1 else form.entries[0])


def _unreadable(main: SourceFile, error: SourceError, key: str) -> Item:
    """A single file that does not parse is a candidate that does not compile, if it is one of the forms at all."""
    heads = set(re.findall(r"^(?:async\s+def|def|class)\s+([A-Za-z_]\w*)", main.text[:2_000_000], re.MULTILINE))
    form = find_form(heads)
    place = f"{main.path}:{error.line}" if error.line else main.path
    if form is None:
        raise UsageError(f"{place}: {error.message}")
    task = Task(_stem(main.path), form.name, main.text, main.path, self_referenced=True)
    return Item(Candidate((main,), form.entries[0]), task, key)


def _make_task(source: Source, text: str, form: Form, block: Block | None, self_referenced: bool) -> Task:
    spec = read_spec(block)
    _CHECKS[form.name](source, spec)
    name = read_name(block, _stem(source.name))
    return Task(name, form.name, text, source.name, spec, self_referenced)


def _read_source(text: str, name: str) -> Source:
    try:
        return parse_source(text, name)
    except SourceError as error:
        raise TaskError(
            f"{name}:{error.line}: {error.message}" if error.line else f"{name}: {error.message}"
        ) from error


def _read_task(path: Path) -> str:
    try:
        return read_text(path)
    except UsageError as error:
        raise TaskError(f"the task cannot be read: {error}") from error


def _has_candidate(source: Source, form: Form) -> bool:
    return any(entry in top_level(source) for entry in form.entries)


def _is_task_alone(file: SourceFile) -> bool:
    if read_suffix(file.path) != "python":
        return False
    try:
        source = parse_source(file.text, file.path)
    except SourceError:
        return False
    form = find_form(top_level(source))
    return form is not None and not _has_candidate(source, form)


def _main_first(files: list[SourceFile]) -> list[SourceFile]:
    if not files:
        raise UsageError("no candidate given, only a task; " + _HELP)
    main = next((f for f in files if PurePath(f.path).suffix not in HEADERS), files[0])
    return [main, *(f for f in files if f is not main)]


def _file(text: str, name: str) -> SourceFile:
    clean = normalise(text)
    return SourceFile(show_path(name) or name_file(clean), clean)


def _short(path: Path) -> str:
    """A path for people, as text: relative to the working directory where it lies below it, else the file's name."""
    try:
        return show_path(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return show_path(path.name)


def _stem(path: str) -> str:
    return PurePath(path).stem or "task"


def _forms() -> str:
    return "; or ".join(" and ".join(form.roots) for form in FORMS)
