"""Fold expressions of constants, as code does that hides a name: pieces, joins, reversals, codecs."""

from __future__ import annotations

import ast
import base64
import binascii
import codecs
import re
from collections.abc import Callable

Value = str | bytes | int
_MAX = 1 << 16
_METHODS = frozenset({"lower", "upper", "strip", "lstrip", "rstrip", "replace", "format", "title", "swapcase",
                      "capitalize", "removeprefix", "removesuffix", "encode", "decode", "translate"})  # fmt: skip
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": base64.b64decode,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.a85decode": base64.a85decode,
    "base64.b85decode": base64.b85decode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "builtins.bytes": bytes,
}


_WIDTH = re.compile(r"\d{4}|\*|[{][^}]*[{]")


def _swells(text: str | bytes) -> bool:
    """Whether a format string could make a text far larger than itself: a wide field, or a width from elsewhere."""
    return len(text) > 4096 or _WIDTH.search(text if isinstance(text, str) else text.decode("latin-1")) is not None


class Folder:
    """Evaluates nothing: only constants, and a fixed list of pure text operations on them, up to 64 KiB."""

    def __init__(self, constant: Callable[[str, ast.AST], ast.AST | None], name: Callable[[ast.AST], str]) -> None:
        self.constant = constant
        self.name = name
        self.depth = 0
        # By node, with the node kept alive: a name that stands twice in each of many lines must be followed once.
        self._known: dict[int, tuple[ast.AST, Value | None]] = {}

    def fold(self, node: ast.AST) -> Value | None:
        """The value, None when the expression is no constant (or refers to itself)."""
        known = self._known.get(id(node))
        if known is not None:
            return known[1]
        if self.depth > 40:
            return None
        self._known[id(node)] = (node, None)
        value = self._guarded(node)
        self._known[id(node)] = (node, value)
        return value

    def _guarded(self, node: ast.AST) -> Value | None:
        self.depth += 1
        try:
            value = self._fold(node)
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, binascii.Error):
            value = None
        finally:
            self.depth -= 1
        if isinstance(value, (str, bytes)) and len(value) > _MAX:
            return None
        return value

    def _fold(self, node: ast.AST) -> Value | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, (str, bytes, int)) else None
        if isinstance(node, ast.Name):
            bound = self.constant(node.id, node)
            return self.fold(bound) if bound is not None else None
        if isinstance(node, ast.BinOp):
            return self._operator(node)
        if isinstance(node, ast.JoinedStr):
            return self._join([v.value if isinstance(v, ast.FormattedValue) else v for v in node.values], "")
        if isinstance(node, ast.Subscript):
            return self._slice(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        return None

    def _operator(self, node: ast.BinOp) -> Value | None:
        if isinstance(node.op, ast.Add):
            return self._sum(node)
        left = self.fold(node.left)
        if isinstance(node.op, ast.Mod) and isinstance(left, str):
            parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            values = [self.fold(part) for part in parts]
            return None if None in values or _swells(left) else left % tuple(values)
        right = self.fold(node.right)
        if isinstance(left, int) and isinstance(right, int):
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.BitXor):
                return left ^ right
        return None

    def _sum(self, node: ast.BinOp) -> Value | None:
        """A chain of additions, without a recursion for each link."""
        parts: list[ast.expr] = []
        at: ast.expr = node
        while isinstance(at, ast.BinOp) and isinstance(at.op, ast.Add):
            parts.append(at.right)
            at = at.left
            if len(parts) > 16 and isinstance(
                at, ast.BinOp
            ):  # the beginnings of a long sum are not asked for by themselves
                self._known.setdefault(id(at), (at, None))
        values: list[Value | None] = []
        for part in reversed([*parts, at]):
            values.append(self.fold(part))
            if values[-1] is None or len(values) > 4096:
                return None
        if all(isinstance(v, str) for v in values):
            return "".join(v for v in values if isinstance(v, str))
        if all(isinstance(v, bytes) for v in values):
            return b"".join(v for v in values if isinstance(v, bytes))
        return sum(v for v in values if isinstance(v, int)) if all(isinstance(v, int) for v in values) else None

    def _join(self, parts: list[ast.expr], between: str) -> str | None:
        values = [self.fold(part) for part in parts]
        if any(v is None or isinstance(v, bytes) for v in values):
            return None
        return between.join(str(v) for v in values)

    def _slice(self, node: ast.Subscript) -> Value | None:
        base = self.fold(node.value)
        if not isinstance(base, (str, bytes)):
            return None
        if not isinstance(node.slice, ast.Slice):
            at = self.fold(node.slice)
            return base[at] if isinstance(at, int) else None
        parts: list[int | None] = []
        for part in (node.slice.lower, node.slice.upper, node.slice.step):
            value = self._signed(part) if part is not None else None
            if part is not None and value is None:
                return None
            parts.append(value)
        return base[slice(*parts)]

    def _signed(self, node: ast.expr) -> int | None:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.fold(node.operand)
            return -value if isinstance(value, int) else None
        value = self.fold(node)
        return value if isinstance(value, int) else None

    def _call(self, node: ast.Call) -> Value | None:
        if isinstance(node.func, ast.Attribute):
            base = self.fold(node.func.value)
            if isinstance(base, str) and node.func.attr == "join" and len(node.args) == 1:
                return self._join_items(node.args[0], base)
            if isinstance(base, (str, bytes)) and node.func.attr in _METHODS and not node.keywords:
                values = [self.fold(arg) for arg in node.args]
                if None in values or (node.func.attr == "format" and _swells(base)):
                    return None
                if node.func.attr == "replace" and len(base) * max((len(str(v)) for v in values), default=0) > _MAX:
                    return None
                made = getattr(base, node.func.attr)(*values)
                return made if isinstance(made, (str, bytes, int)) else None
            if node.func.attr == "fromhex" and self.name(node.func) == "builtins.bytes.fromhex":
                text = self.fold(node.args[0])
                return bytes.fromhex(text) if isinstance(text, str) else None
        name = self.name(node.func)
        if not node.args:
            return None
        first = node.args[0]
        if name == "builtins.chr":
            value = self.fold(first)
            return chr(value) if isinstance(value, int) else None
        if name in ("builtins.str", "sys.intern"):
            value = self.fold(first)
            return value.decode() if isinstance(value, bytes) else str(value) if value is not None else None
        if name == "codecs.decode" and len(node.args) == 2:
            value, how = self.fold(first), self.fold(node.args[1])
            return self._decode(value, how) if isinstance(how, str) else None
        if name == "builtins.bytes" and isinstance(first, (ast.List, ast.Tuple)):
            numbers = [self.fold(e) for e in first.elts]
            return bytes(n for n in numbers if isinstance(n, int)) if None not in numbers else None
        if name in _DECODERS and name != "builtins.bytes":
            value = self.fold(first)
            raw = value.encode() if isinstance(value, str) else value
            return _DECODERS[name](raw) if isinstance(raw, bytes) else None
        return None

    def _decode(self, value: Value | None, how: str) -> Value | None:
        codec = how.lower().replace("-", "").replace("_", "")
        if codec == "rot13" and isinstance(value, str):
            return codecs.encode(value, "rot13")
        raw = value.encode() if isinstance(value, str) else value
        if isinstance(raw, bytes) and codec in ("hex", "base64", "utf8", "ascii"):
            made: Value = codecs.decode(raw, codec)
            return made
        return None

    def _join_items(self, node: ast.expr, between: str) -> str | None:
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._join(list(node.elts), between)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._join_characters(node, between)
        if isinstance(node, ast.Call):
            name = self.name(node.func)
            if name == "builtins.reversed" and node.args:
                text = self.fold(node.args[0])
                return between.join(reversed(text)) if isinstance(text, str) else None
            if name == "builtins.map" and len(node.args) == 2 and self.name(node.args[0]) == "builtins.chr":
                numbers = self._numbers(node.args[1])
                return between.join(map(chr, numbers)) if numbers is not None else None
        text = self.fold(node)
        return between.join(text) if isinstance(text, str) else None

    def _join_characters(self, node: ast.ListComp | ast.GeneratorExp, between: str) -> str | None:
        """`"".join(chr(c) for c in [109, 97])`, the one comprehension that is read."""
        made = node.elt
        simple = len(node.generators) == 1 and not node.generators[0].ifs
        if (
            simple
            and isinstance(made, ast.Call)
            and self.name(made.func) == "builtins.chr"
            and isinstance(made.args[0], ast.Name)
        ):
            numbers = self._numbers(node.generators[0].iter)
            return between.join(map(chr, numbers)) if numbers is not None else None
        return None

    def _numbers(self, node: ast.expr) -> list[int] | None:
        if not isinstance(node, (ast.List, ast.Tuple)):
            value = self.fold(node)
            return list(value) if isinstance(value, bytes) else None
        values = [self.fold(item) for item in node.elts]
        return [v for v in values if isinstance(v, int)] if all(isinstance(v, int) for v in values) else None
