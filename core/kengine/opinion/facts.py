"""What the structure of a candidate shows: definitions and what the entry reaches, calls by name, kernels, launches."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from kengine.lint.runner import read_sources
from kengine.lint.source import SourceTree
from kengine.model import Candidate, Finding, Launch
from kengine.tasks.cfamily import blank_comments, kernel_names

_MOST = 60
"""Most entries of one list."""


def collect(
    candidate: Candidate, findings: Sequence[Finding], launches: Sequence[Sequence[Launch]]
) -> dict[str, Any]:
    """Facts as JSON: strings, numbers, lists and objects only."""
    seen = Counter[str]()
    for launch in (one for case in launches for one in case):
        seen[launch.kernel] += launch.count
    facts: dict[str, Any] = {
        "entry": candidate.entry,
        "language": candidate.language,
        "lint_findings": [
            {"code": f.code, "severity": f.severity, "message": f.message} for f in list(findings)[:_MOST]
        ],
        "kernels_launched": [{"kernel": name, "launches": count} for name, count in seen.most_common(_MOST)],
        "cases_without_launch": sum(1 for case in launches if not case),
        "cases_launched": len(launches),
    }
    sources = [source for source in read_sources(candidate) if isinstance(source, SourceTree)]
    facts["definitions"] = [one for source in sources for one in _definitions(source)][:_MOST]
    texts = [text for source in sources for text in _native_texts(source)]
    texts += [f.text for f in candidate.files if candidate.language != "python" and not f.path.endswith(".py")]
    if texts:
        kernels = list(dict.fromkeys(name for text in texts for name in kernel_names(text)))
        facts["native_kernels_defined"] = kernels[:_MOST]
        facts["native_names_qualified"] = sorted({name for text in texts for name in _qualified(text)})[:_MOST]
    return facts


def _definitions(source: SourceTree) -> Iterator[dict[str, Any]]:
    for node in source.nodes:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inside = [inner for statement in node.body for inner in ast.walk(statement)]
        calls = {name for inner in inside if isinstance(inner, ast.Call) for name in source.resolve(inner.func)}
        yield {
            "name": node.name,
            "kind": "class" if isinstance(node, ast.ClassDef) else "function",
            "decorators": sorted({name for one in node.decorator_list for name in _decorator(source, one)}),
            "reached_from_entry": node in source.reached,
            "calls": sorted(name.removeprefix("@") for name in calls)[:_MOST],
            "matrix_products_by_operator": sum(
                isinstance(inner, (ast.BinOp, ast.AugAssign)) and isinstance(inner.op, ast.MatMult) for inner in inside
            ),
        }


def _decorator(source: SourceTree, node: ast.expr) -> frozenset[str]:
    return source.resolve(node.func if isinstance(node, ast.Call) else node)


def _native_texts(source: SourceTree) -> Iterator[str]:
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value and ";" in node.value:
            yield node.value


def _qualified(text: str) -> Iterator[str]:
    """Names such as `at::matmul` and `cublasSgemm(` of libraries, in code alone."""
    code = blank_comments(text)
    for match in re.finditer(r"\b(?:[A-Za-z_]\w*::)+[A-Za-z_]\w*", code):
        yield match[0]
    for match in re.finditer(r"\b(?:cu|hip|roc|mi)(?:blas|dnn|sparse|fft|solver|open)\w*(?=\s*\()", code):
        yield match[0]
