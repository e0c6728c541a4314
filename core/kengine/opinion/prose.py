"""Code without what only people read: comments, docstrings and sentences in strings. Names and statements stay."""

from __future__ import annotations

import ast
import re

from kengine.tasks.cfamily import blank_comments

_SENTENCE = re.compile(r"[^\W\d_]{2,}(?:[\s,;:.!?'\"]+[^\W\d_]{2,}){3,}")
"""Four words in a row."""

_NATIVE = re.compile(
    r"\b__global__\b|\b__device__\b|#\s*include\b|\bat::|\btorch::|\bTORCH_LIBRARY|\bPYBIND11_MODULE\b|"
    r"\b(?:void|auto|template|float|int|double)\b[^\n]*[({;]"
)
_NATIVE_TEXT = re.compile(
    r"""R"(?P<tag>[^()\\\s]{0,16})\((?P<raw>.*?)(?:\)(?P=tag)"|\Z)"""
    r"""|"(?P<plain>(?:[^"\\\n]|\\.)*)"|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'""",
    re.DOTALL,
)
_ALL_WORDS = re.compile(r"^[ \t]*#[ \t]*(error|warning|ident|pragma[ \t]+message)\b.*$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def strip_python(text: str) -> str:
    """Python without comments, docstrings and prose; native code in strings is stripped as native code is.

    Statements are written anew from the tree, so that layout says nothing either. Raises SyntaxError, RecursionError.
    """
    from kengine.tasks.source import SourceError, parse

    try:
        tree = parse(text, "candidate.py").tree
    except SourceError as error:
        raise SyntaxError(error.message) from None
    return ast.unparse(ast.fix_missing_locations(_Stripped().visit(tree)))


def strip_native(text: str) -> str:
    """C++, CUDA or HIP without comments, text that no compiler looks at, and prose in literals."""
    code = blank_comments(re.sub(r"\\\r?\n", " ", text), strings=False)
    code = _drop_dead(code)
    code = _ALL_WORDS.sub(r"#\1", code)
    code = _NATIVE_TEXT.sub(_native_literal, code)
    return _BLANK_LINES.sub("\n", re.sub(r"[ \t]+$", "", code, flags=re.MULTILINE)).strip()


class _Stripped(ast.NodeTransformer):
    """Drops statements that are only text, and writes what was prose as its length."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Constant):
            return None
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, str):
            return ast.copy_location(ast.Constant(strip_string(node.value)), node)
        if isinstance(node.value, bytes):
            shown = strip_string(node.value.decode("latin-1")).encode("latin-1", "replace")
            return ast.copy_location(ast.Constant(shown), node)
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list) and not body and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node


def strip_string(value: str) -> str:
    """What is shown of a string: native code without its prose, names and formats as they are, no sentences."""
    if "\n" in value and _NATIVE.search(value):
        return strip_native(value)
    if _SENTENCE.search(value) or len(value) > 400:
        return f"<text of {len(value)} characters>"
    return value


def _native_literal(match: re.Match[str]) -> str:
    raw = match["raw"]
    if raw is not None:
        return f'R"{match["tag"]}({strip_string(raw)}){match["tag"]}"'
    return match[0] if match["plain"] is None else f'"{strip_string(match["plain"])}"'


def _drop_dead(code: str) -> str:
    """Leave out what stands between `#if 0` and its `#else` or `#endif`."""
    kept: list[str] = []
    depth = 0  # of conditionals inside the dead part
    dead = False
    for line in code.split("\n"):
        word = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if dead:
            if word is None:
                continue
            if word[1].startswith("if"):
                depth += 1
            elif depth:
                depth -= word[1] == "endif"
            else:
                dead = False
                # `#elif x` becomes the `#if x` that it now is; after `#else` comes what is compiled.
                kept.append({"elif": f"#if{word[2]}", "else": "#if 1"}.get(word[1], ""))
            continue
        if word is not None and word[1] == "if" and re.fullmatch(r"\s*\(?\s*(?:0|false)\s*\)?\s*", word[2]):
            dead = True
            continue
        kept.append(line)
    return "\n".join(kept)
