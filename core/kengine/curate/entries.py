"""What an answer has to define: a function or a class, what it takes and gives back, and in which kind of block."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from kengine.curate.record import Sample
from kengine.model import Task
from kengine.plugins.dialect import Dialect
from kengine.syntax import parse_tree

Style = Literal["", "destination", "native"]
"""How an answer that is there already is written: "" for a function or class of Python that returns its results,
"destination" for one that takes arrays for them after its inputs, "native" for a file of CUDA or HIP."""


@dataclass(frozen=True)
class Call:
    """How a task calls a candidate. inputs: number of arguments, None where its text does not say.

    returns: whether the reference returns anything; one that does not only writes. transforms: the candidate is given,
    and gives, another layout than the reference's.
    """

    inputs: int | None = None
    returns: bool = True
    transforms: bool = False


def read_call(task: Task) -> Call:
    """What the text of a task says of the call."""
    if task.form == "module":
        return Call()
    try:
        tree = parse_tree(task.source)
    except (SyntaxError, ValueError, RecursionError):
        return Call()
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found = functions.get("reference" if task.form == "function" else "forward")
    if found is None:
        return Call()
    transforms = "transform_to_nki_inputs" in functions or "transform_nki_outputs" in functions
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(found))
    inner = _passes_on(found, functions)
    takes = (inner or found).args
    count = None if takes.vararg else len(takes.posonlyargs) + len(takes.args)
    return Call(None if transforms else count, returns, transforms)


def _passes_on(found: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> ast.FunctionDef | None:
    """The function that `def reference(*inputs): return run(*inputs)` stands for."""
    last = found.body[-1]
    if found.args.vararg is None or not isinstance(last, ast.Return) or not isinstance(last.value, ast.Call):
        return None
    call = last.value
    starred = len(call.args) == 1 and isinstance(call.args[0], ast.Starred) and not call.keywords
    return functions.get(call.func.id) if starred and isinstance(call.func, ast.Name) else None


def style_of(sample: Sample, call: Call) -> tuple[Style, str]:
    """How the sample's own answer is written, and what its function is called; "" and "" when there is none."""
    if not sample.files:
        return "", ""
    main = sample.files[0]
    if not main.path.endswith(".py") and sample.language != "python":
        return "native", ""
    if call.inputs is not None:
        inside = _parameters(main.text, sample.entry or "candidate")
        required = _count(inside) if inside is not None else None
        if required is not None and required > call.inputs:
            return "destination", sample.entry
    return "", sample.entry


@lru_cache(maxsize=1024)
def _count(inside: str) -> int | None:
    """How many positional arguments must be given, by the text of the parameters; None for any number."""
    parts = inside.split(",") if not _NESTED.search(inside) else _split(inside)
    names = [part.strip() for part in parts if part.strip()]
    if any(re.match(r"\*\s*\w", name) and not name.startswith("**") for name in names):
        return None
    end = next((n for n, name in enumerate(names) if name.startswith("*")), len(names))
    return sum("=" not in name for name in names[:end] if name != "/")


def signature(code: str, name: str) -> str:
    """`name(x, y)` as a text defines it, without annotations it may be long with."""
    inside = _parameters(code, name)
    return f"{name}({' '.join(inside.split()).rstrip(',') if inside is not None else '...'})"


_NESTED = re.compile(r"[\[({\"'#]")


def _parameters(code: str, name: str) -> str | None:
    """What stands between the parentheses of `def name(...)`."""
    start = code.find(f"def {name}(")
    if start < 0:
        return None
    start += len(name) + 5
    end = code.find(")", start)
    if end < 0:
        return None
    inside = code[start:end]
    if "(" not in inside and "[" not in inside and "#" not in inside:
        return inside
    depth = 1
    for at in range(start, min(len(code), start + 10_000)):
        depth += (code[at] in "([{") - (code[at] in ")]}")
        if not depth:
            return re.sub(r"#.*", "", code[start:at])
    return None


def _split(inside: str) -> list[str]:
    parts, depth = [""], 0
    for char in inside:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def describe(task: Task, call: Call, spoken: Dialect, name: str, style: Style) -> str:
    """The block that is asked for and what it defines, as a noun phrase. name: of a function that is there already."""
    if style == "native":
        tag = spoken.native.lstrip(".").replace("cu", "cuda") or "cuda"
        return f"one ```{tag} block that holds the whole file: its kernels, and how they are launched"
    return f"one ```python block that defines {_defines(task, call, spoken, name or 'candidate', style)}"


def _defines(task: Task, call: Call, spoken: Dialect, name: str, style: Style) -> str:
    if task.form == "module":
        return "a class `ModelNew` with the same constructor and the same `forward` as `Model`"
    reference = "`reference`" if task.form == "function" else "`forward`"
    what = f"a function `{name}`"
    if spoken.entry:
        what = spoken.entry if name == "candidate" else f"{spoken.entry}, called `{name}`,"
    if call.transforms:
        return (
            f"{what} that takes what `transform_to_nki_inputs` gives, or else the inputs of {reference}, and returns "
            f"what `transform_nki_outputs` takes, or else the result of {reference}"
        )
    if task.spec.writes:
        names = ", ".join(f"`{written}`" for written in task.spec.writes)
        gives = f"returns what {reference} returns" if call.returns else "returns nothing"
        return f"{what} that takes the same arguments as {reference}, writes its results into {names}, and {gives}"
    if style == "destination":
        return (
            f"{what} that takes the inputs of {reference} and after them one array for each result, which it writes; "
            "it returns nothing"
        )
    return f"{what} that takes the inputs of {reference} and returns its result"
