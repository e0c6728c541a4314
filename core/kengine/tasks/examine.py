"""What is wrong with a candidate that its text alone shows: told before any process is asked to run it."""

from __future__ import annotations

import ast
import re

from kengine.errors import CandidateFault, UsageError
from kengine.model import Candidate, Status, Task
from kengine.tasks import kernelbench, native, numpy_form
from kengine.tasks.block import read_candidate_block, suggest
from kengine.tasks.cfamily import has_name, kernel_names
from kengine.tasks.completion import explain_markdown
from kengine.tasks.form import top_level
from kengine.tasks.signature import Signature, find_method, read_signature
from kengine.tasks.source import Source, SourceError, check_text, parse


def examine(candidate: Candidate, task: Task) -> CandidateFault | None:
    """Return (never raise) the fault of a candidate that cannot be read, lacks its entry or has the wrong arity.

    compile_failed: empty, over the size limit, NUL bytes, not Unicode, syntax error, nested too deeply, a malformed
    block, no entry.
    launch_failed: an entry that cannot take the number of inputs that the task passes. None when nothing is visible.
    """
    path = candidate.main.path
    for file in candidate.files:
        try:
            check_text(file.text) if file is candidate.main or len(file.text) > 0 else None
            if file.path.endswith(".py") and file is not candidate.main:
                parse(file.text, file.path)
        except SourceError as error:
            return _fault(Status.compile_failed, file.path, error.message, error.line)
    try:
        read_candidate_block(candidate.main.text, path, candidate.language)
    except UsageError as error:
        return CandidateFault(Status.compile_failed.value, str(error))
    markdown = explain_markdown(candidate.main.text, candidate.language)
    if candidate.language != "python":
        if markdown:
            return _fault(Status.compile_failed, path, markdown, 0)
        if not has_name(candidate.main.text, candidate.entry):
            kernels = kernel_names(candidate.main.text)
            return _fault(
                Status.compile_failed, path, f"the entry {candidate.entry!r} is not defined"
                f"{suggest(candidate.entry, kernels)}; kernels in the file: {', '.join(kernels) or 'none'}",
                _line_that_names(candidate.main.text, candidate.entry),
            )  # fmt: skip
        return None
    try:
        source = parse(candidate.main.text, path)
    except SourceError as error:
        message = f"{error.message}; {markdown}" if markdown else error.message
        return _fault(Status.compile_failed, path, message, error.line)
    names = top_level(source)
    if candidate.entry not in names:
        if _binds_unseen(source):
            return None
        defined = [n for n, node in names.items() if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        return _fault(
            Status.compile_failed, path, f"defines no {candidate.entry!r}{suggest(candidate.entry, defined)}; "
            f"it defines {', '.join(defined) or 'no function or class'}", 0,
        )  # fmt: skip
    return _check_arity(names[candidate.entry], candidate, task, path)


def _line_that_names(text: str, entry: str) -> int:
    """The line of a block that names this entry, 0 when none does."""
    named = re.compile(rf"^//\s*(?:kernel|entry)\s*=\s*[\"']{re.escape(entry)}\b")
    return next((n for n, line in enumerate(text.split("\n"), 1) if named.match(line)), 0)


def _check_arity(node: ast.stmt, candidate: Candidate, task: Task, path: str) -> CandidateFault | None:
    try:
        source = parse(task.source, task.path or task.name)
    except SourceError:
        return None
    entry, outs = candidate.entry, None
    if task.form == "module":
        given = kernelbench.arity(source)
        forward = find_method(node, "forward")
        init = find_method(node, "__init__")
        count = kernelbench.init_arity(source)
        made = read_signature(init, method=True) if init else None
        if init is not None and made is not None and count is not None and not made.accepts(count):
            return _wrong_arity(path, init.lineno, f"{entry}.__init__", made, count, ())
        signature, entry = (read_signature(forward, method=True) if forward else None), f"{entry}.forward"
        node = forward or node
    elif task.form == "numpy":
        given, signature = numpy_form.arity(source), read_signature(node)
    else:
        given, signature, outs = native.arity(source), read_signature(node), native.outputs(source)
    if given is None or signature is None:
        return None
    count, names = given
    # an entry may also take its outputs as further arguments: how many these are the text says only sometimes
    too_many = signature.required > count and (
        task.form == "module" or (outs is not None and not signature.accepts(count + outs))
    )
    too_few = not signature.varargs and len(signature.names) < count
    if too_few or too_many or signature.required_keywords:
        return _wrong_arity(path, node.lineno, entry, signature, count, names)
    return None


def _wrong_arity(
    path: str, line: int, entry: str, signature: Signature, count: int, names: tuple[str, ...]
) -> CandidateFault:
    takes = native.describe_count(signature.required, len(signature.names))
    if signature.required_keywords:
        takes += f" and needs the keywords {', '.join(signature.required_keywords)}"
    given = f" ({', '.join(names)})" if names else ""
    return _fault(Status.launch_failed, path, f"{entry} takes {takes}, the task passes {count}{given}", line)


def _binds_unseen(source: Source) -> bool:
    """Whether names may be bound in a way that the text does not show: star imports, globals(), exec, global."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            return True
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return True
        if isinstance(node, ast.Name) and node.id in {"globals", "exec", "locals", "vars", "setattr"}:
            return True
    return False


def _fault(status: Status, path: str, message: str, line: int) -> CandidateFault:
    place = f"{path}:{line}" if line else path
    return CandidateFault(status.value, f"{place}: {message}", "", line)
