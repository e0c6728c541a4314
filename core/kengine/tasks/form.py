"""Tell the forms of tasks apart by the names that a file defines, and say what a near miss lacks."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from kengine.errors import TaskError, UsageError
from kengine.tasks.block import suggest
from kengine.tasks.source import Source


@dataclass(frozen=True)
class Form:
    """One form: the names that make up a task, names that may come with them, and the usual names of an entry."""

    name: Literal["function", "module", "numpy"]
    roots: tuple[str, ...]
    optional: tuple[str, ...]
    entries: tuple[str, ...]
    hints: Mapping[str, str]

    @property
    def reserved(self) -> frozenset[str]:
        """Names that belong to the task."""
        return frozenset(self.roots + self.optional)


FUNCTION = Form(
    "function",
    ("reference", "make_inputs"),
    (),
    ("candidate",),
    {
        "reference": "add `def reference(*inputs)` that computes the right answer with plain framework operators",
        "make_inputs": "add `def make_inputs(seed, device)` that returns the tuple of inputs",
    },
)
MODULE = Form(
    "module",
    ("Model", "get_inputs", "get_init_inputs"),
    (),
    ("ModelNew",),
    {
        "Model": "add `class Model(nn.Module)` that computes the right answer",
        "get_inputs": "add `def get_inputs()` that returns the list of inputs of forward",
        "get_init_inputs": "add `def get_init_inputs()` returning the arguments of Model (`return []` for none)",
    },
)
NUMPY = Form(
    "numpy",
    ("forward", "get_inputs"),
    ("transform_to_nki_inputs", "transform_nki_outputs"),
    ("candidate", "kernel"),
    {
        "forward": "add `def forward(*inputs)` that computes the right answer with numpy",
        "get_inputs": "add `def get_inputs()` that returns the list of numpy arrays",
    },
)
FORMS = (FUNCTION, MODULE, NUMPY)

_ALIASES = {
    "ref": "reference", "reference_fn": "reference", "ref_impl": "reference", "reference_impl": "reference",
    "reference_kernel": "reference", "ref_kernel": "reference", "golden": "reference", "make_input": "make_inputs",
    "generate_input": "make_inputs", "generate_inputs": "make_inputs", "gen_inputs": "make_inputs",
    "ReferenceModel": "Model", "get_input": "get_inputs", "get_init_input": "get_init_inputs",
    "init_inputs": "get_init_inputs",
}  # fmt: skip
_NOT_ENTRIES = ("test", "bench", "main", "check", "verify", "compare", "run_test", "validate")


def top_level(source: Source) -> dict[str, ast.stmt]:
    """Names that a module binds at its top level (through `if`, `try` and `with` as well), with the last statement."""
    found: dict[str, ast.stmt] = {}
    pending: list[ast.stmt] = list(reversed(source.tree.body))
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = node
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                        found[name.id] = node
        elif isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for part in ("finalbody", "orelse", "handlers", "body"):
                for inner in reversed(getattr(node, part, [])):
                    pending += reversed(inner.body) if isinstance(inner, ast.ExceptHandler) else [inner]
    return found


def find_form(names: Collection[str]) -> Form | None:
    """The form whose roots are all there; None when no form is complete."""
    for form in FORMS:
        if all(root in names for root in form.roots):
            return None if form is NUMPY and "Model" in names else form
    return None


def explain_near_miss(names: Collection[str], file: str) -> TaskError | None:
    """The error for a file that is nearly a task: what it has, what it lacks, and what it may have misspelt."""
    best: tuple[int, Form] | None = None
    for form in FORMS:
        exact = sum(root in names for root in form.roots)
        near = sum(_misspelt(root, names) != "" for root in form.roots if root not in names)
        score = 4 * exact + 3 * near
        if (exact or near == len(form.roots)) and (best is None or score > best[0]):
            best = score, form
    if best is None:
        return None
    form = best[1]
    there = [root for root in form.roots if root in names]
    wanted = []
    for root in form.roots:
        if root not in names:
            other = _misspelt(root, names)
            wanted.append(f"{root} ({f'did you mean {other!r}?' if other else form.hints[root]})")
    has = f"defines {' and '.join(there)}, but" if there else "looks like a task, but"
    return TaskError(f"{file}: {has} lacks {', '.join(wanted)}")


def find_entry(source: Source, form: Form, named: str = "") -> str:
    """The name of the candidate: the block's, a usual one, or the only public function that can be it.

    Raises UsageError when there is none or it cannot be told which.
    """
    names = top_level(source)
    if named:
        if named in names and named not in form.reserved:
            return named
        problem = "belongs to the task" if named in form.reserved else "is not defined in the file"
        raise UsageError(f"{source.name}: the entry {named!r} {problem}{suggest(named, set(names) - form.reserved)}")
    for usual in form.entries:
        if usual in names:
            return usual
    likely = single_entry(source, form)
    if len(likely) == 1:
        return likely[0]
    if likely:
        raise UsageError(
            f"{source.name}: which of {', '.join(likely)} is the candidate? Call it {form.entries[0]!r}, "
            'or name it in a block: `# /// kengine`, `# entry = "..."`, `# ///`'
        )
    near = suggest(form.entries[0], set(names) - form.reserved)
    raise UsageError(f"{source.name}: no candidate found: define `{form.entries[0]}`, "
                     f"or name the entry in a `# /// kengine` block{near}")  # fmt: skip


def single_entry(source: Source, form: Form) -> list[str]:
    """What `likely_entries` gives, but the only kernel that can be called like a function where that is ambiguous."""
    from kengine.plugins import dialect

    likely = likely_entries(source, form)
    if len(likely) == 1 or form is MODULE:
        return likely
    kernels = [name for name in decorated(source, dialect.declared().called) if not likely or name in likely]
    return kernels if len(kernels) == 1 else likely


def decorated(source: Source, decorators: Collection[str]) -> list[str]:
    """Functions with one of these decorators, whatever name it was imported under."""
    known: dict[str, str] = {}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            known.update({a.asname: a.name for a in node.names if a.asname})
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            known.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    found = []
    for name, statement in top_level(source).items():
        for decorator in getattr(statement, "decorator_list", ()):
            written = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
            head, dot, rest = written.partition(".")
            if known.get(head, head) + dot + rest in decorators:
                found.append(name)
    return found


def likely_entries(source: Source, form: Form) -> list[str]:
    """Public functions outside the task that nothing else in the file uses; for modules, classes whose name fits."""
    from kengine.plugins import dialect

    names = top_level(source)
    if form is MODULE:
        return [n for n, node in names.items() if isinstance(node, ast.ClassDef) and n.startswith("ModelNew")]
    kernels = decorated(source, dialect.declared().launched)
    functions = [
        name
        for name, node in sorted(names.items(), key=lambda item: item[1].lineno)
        if isinstance(node, ast.FunctionDef)
        and not name.startswith("_")
        and name not in form.reserved
        and not name.startswith(_NOT_ENTRIES)
        and name not in kernels
    ]
    if len(functions) <= 1:
        return functions
    used: set[str] = set()
    for node in source.tree.body:
        own = getattr(node, "name", "")
        if own in form.reserved or (isinstance(own, str) and own.startswith(_NOT_ENTRIES)):
            continue
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Assign)):
            used |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id != own}
    return [name for name in functions if name not in used]


def _misspelt(root: str, names: Collection[str]) -> str:
    for name in names:
        if _ALIASES.get(name) == root:
            return name
    found = suggest(root, [n for n in names if not any(n in f.reserved for f in FORMS)], 0.8)
    return found.partition("'")[2].rpartition("'")[0]
