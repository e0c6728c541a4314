"""Conditions of `#if`: true, false, or not known here, and whether the answer rests on a name that nobody defined."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kengine.lint.cpp.tokens import Token

_PRECEDENCE = {"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
               "<<": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10}  # fmt: skip
_MAX_DEPTH = 60


class Condition:
    """Evaluates one condition. `value` is None where the text cannot tell; `assumed`: a name was taken as undefined."""

    def __init__(self, tokens: Sequence[Token], unknown: Callable[[str], bool]) -> None:
        self._tokens = tokens
        self._unknown = unknown
        self._at = 0
        self.assumed = False
        self.value: int | None = None
        try:
            self.value = self._binary(0, 0)
        except (IndexError, ValueError, OverflowError):
            self.value = None
        if self._at < len(tokens):
            self.value = None

    def _binary(self, least: int, depth: int) -> int | None:
        if depth > _MAX_DEPTH:
            raise ValueError("too deep")
        left = self._unary(depth)
        while self._at < len(self._tokens):
            op = self._tokens[self._at].text
            strength = _PRECEDENCE.get(op, 0)
            if op == "?" and least == 0:
                self._at += 1
                yes = self._binary(0, depth + 1)
                self._expect(":")
                no = self._binary(0, depth + 1)
                return None if left is None else yes if left else no
            if not strength or strength <= least:
                return left
            self._at += 1
            left = _apply(op, left, self._binary(strength, depth + 1))
        return left

    def _unary(self, depth: int) -> int | None:
        if depth > _MAX_DEPTH:
            raise ValueError("too deep")
        token = self._tokens[self._at]
        self._at += 1
        if token.text in ("!", "-", "~", "+"):
            value = self._unary(depth + 1)
            if value is None:
                return None
            return int(not value) if token.text == "!" else -value if token.text == "-" else (
                ~value if token.text == "~" else value)  # fmt: skip
        if token.text == "(":
            value = self._binary(0, depth + 1)
            self._expect(")")
            return value
        if token.kind == "num":
            digits = re.match(r"0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+", token.text.replace("'", ""))
            if not digits:
                raise ValueError("no integer")
            word = digits[0]
            octal = len(word) > 1 and word[0] == "0" and word.isdigit()
            return int(word, 8 if octal else 0)
        if token.kind == "id":
            if self._at < len(self._tokens) and self._tokens[self._at].text == "(":
                self._skip()
                return None
            if token.text in ("true", "false"):
                return int(token.text == "true")
            if self._unknown(token.text):
                return None
            self.assumed = True
            return 0
        raise ValueError("no value")

    def _skip(self) -> None:
        depth = 0
        while self._at < len(self._tokens):
            depth += {"(": 1, ")": -1}.get(self._tokens[self._at].text, 0)
            self._at += 1
            if not depth:
                return

    def _expect(self, text: str) -> None:
        if self._tokens[self._at].text != text:
            raise ValueError(f"expected {text}")
        self._at += 1


def _apply(op: str, left: int | None, right: int | None) -> int | None:
    if op == "&&" and (left == 0 or right == 0):
        return 0
    if op == "||" and (left or right):
        return 1
    if left is None or right is None:
        return None
    if op in ("/", "%"):
        return None if not right else left // right if op == "/" else left % right
    if op == "<<":
        return left << right if 0 <= right < 64 else None
    return int({"&&": left and right, "||": left or right, "|": left | right, "^": left ^ right, "&": left & right,
                "==": left == right, "!=": left != right, "<": left < right, ">": left > right, "<=": left <= right,
                ">=": left >= right, "+": left + right, "-": left - right, "*": left * right}[op])  # fmt: skip
