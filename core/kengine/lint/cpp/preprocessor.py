"""The preprocessor: macros expanded, tokens pasted, dead branches dropped, within a budget."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kengine.lint.cpp.condition import Condition
from kengine.lint.cpp.tokens import Token, tokenize

MAX_STEPS = 150_000
"""Most tokens that expansion may handle in one source."""

_EXTERNAL = re.compile(
    r"_[_A-Z]\w*|(?:CUDA|CUDART|CUDNN|CUBLAS|CUTLASS|TORCH|C10|AT|ATEN|HIP|ROCM|ROCWMMA|NV|NVCC|USE|WITH|HAVE|ENABLE|"
    r"M|INT|UINT|LONG|FLT|DBL|SIZE|PY|PYBIND11|CPP|GLIBC|BOOST|OMP|MKL|EIGEN)_\w+|"
    r"(?:NDEBUG|INFINITY|NAN|NULL|EOF|RAND_MAX|"
    r"WIN32|CHAR_BIT|assert)\Z"
)
"""Names that a compiler, a flag or a header may define: whether they are defined, the text does not show."""


@dataclass(frozen=True)
class Macro:
    """One definition. parameters: None for an object-like macro."""

    name: str
    body: tuple[Token, ...]
    parameters: tuple[str, ...] | None = None
    variadic: bool = False


@dataclass
class Preprocessed:
    """What comes out: tokens, headers that are included with their lines, and whether the budget was enough."""

    tokens: list[Token] = field(default_factory=list)
    headers: list[tuple[str, int]] = field(default_factory=list)
    exhausted: bool = False


class _Exhausted(Exception):
    pass


LIVE, MAYBE, DEAD = 2, 1, 0


class Preprocessor:
    """One run over one source. defines: macros of the compiler's flags. files: texts that `#include "x"` finds."""

    def __init__(self, defines: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None) -> None:
        self.macros: dict[str, Macro] = {}
        self.undefined: set[str] = set()
        self.files = dict(files or {})
        self.out = Preprocessed()
        self.steps = 0
        for name, value in (defines or {}).items():
            self.macros[name] = Macro(name, tuple(tokenize(value)))
        self._stack: list[list[int]] = []  # [state of this branch, what is left for later branches, state outside]

    def run(self, text: str, first_line: int = 1) -> Preprocessed:
        """Preprocess a text. Never raises on hostile text: `exhausted` says that the rest stands as it was written."""
        try:
            self._lines(tokenize(text, first_line), 0)
        except (_Exhausted, RecursionError):
            self.out.exhausted = True
        return self.out

    def _lines(self, tokens: Sequence[Token], depth: int) -> None:
        at, size, start = 0, len(tokens), 0
        while at < size:
            if tokens[at].first and tokens[at].text == "#" and tokens[at].kind == "op":
                self._emit(tokens[start:at])
                end = at + 1
                while end < size and not tokens[end].first:
                    end += 1
                self._directive(tokens[at + 1 : end], depth)
                at = start = end
            else:
                at += 1
        self._emit(tokens[start:])

    @property
    def _state(self) -> int:
        return self._stack[-1][0] if self._stack else LIVE

    def _emit(self, tokens: Sequence[Token]) -> None:
        state = self._state
        if state == DEAD or not tokens:
            return
        made = self.expand(tokens, 0)
        self.out.tokens += made if state == LIVE else [t._replace(sure=False) for t in made]

    def _directive(self, tokens: Sequence[Token], depth: int) -> None:
        if not tokens:
            return
        name, rest = tokens[0].text, tokens[1:]
        if name in ("if", "ifdef", "ifndef"):
            self._open(name, rest)
        elif name in ("elif", "elifdef", "elifndef", "else") and self._stack:
            self._next(name, rest)
        elif name == "endif" and self._stack:
            self._stack.pop()
        elif self._state == DEAD:
            return
        elif name == "define" and rest:
            self._define(rest)
        elif name == "undef" and rest:
            self.macros.pop(rest[0].text, None)
            self.undefined.add(rest[0].text)
        elif name in ("include", "import", "include_next") and rest:
            self._include(rest, depth)

    def _include(self, tokens: Sequence[Token], depth: int) -> None:
        made = self.expand(tokens, 0)
        if not made:
            return
        quoted = made[0].kind == "str"
        header = made[0].text if quoted else "".join(t.text for t in made[1:]).partition(">")[0]
        self.out.headers.append((header, tokens[0].line))
        text = self.files.get(header) or self.files.get(header.rpartition("/")[2])
        if text is not None and depth < 8:
            before = self.files.pop(header.rpartition("/")[2], None)  # a header that includes itself is read once
            inner = [t._replace(line=tokens[0].line) for t in tokenize(text)]
            self._lines(inner, depth + 1)
            if before is not None:
                self.files[header.rpartition("/")[2]] = before

    def _judge(self, name: str, tokens: Sequence[Token]) -> tuple[int, int]:
        """(state of the branch, state of what comes after it)."""
        if name.endswith("def"):
            negated = name.endswith("ndef")
            one = [Token("op", "!", 0)] if negated else []
            tokens = [*one, Token("id", "defined", 0), *tokens[:1]]
        condition = Condition(self.expand(self._resolve_defined(tokens), 0), self._is_unknown)
        value = condition.value
        if value is None:
            return MAYBE, MAYBE
        assumed = condition.assumed or self._assumed_defined
        if value:
            return LIVE, MAYBE if assumed else DEAD
        return (MAYBE if assumed else DEAD), LIVE

    _assumed_defined = False

    def _resolve_defined(self, tokens: Sequence[Token]) -> list[Token]:
        self._assumed_defined = False
        out: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.kind == "id" and token.text == "defined" and at + 1 < len(tokens):
                wrapped = tokens[at + 1].text == "("
                name = tokens[at + 2].text if wrapped and at + 2 < len(tokens) else tokens[at + 1].text
                at += 4 if wrapped else 2
                if name in self.macros:
                    out.append(Token("num", "1", token.line))
                elif self._is_unknown(name):
                    out.append(Token("id", "__unknown__", token.line))
                else:
                    self._assumed_defined = name not in self.undefined
                    out.append(Token("num", "0", token.line))
                continue
            out.append(token)
            at += 1
        return out

    def _is_unknown(self, name: str) -> bool:
        return name not in self.undefined and _EXTERNAL.match(name) is not None

    def _open(self, name: str, tokens: Sequence[Token]) -> None:
        outside = self._state
        if outside == DEAD or len(self._stack) > 500:
            self._stack.append([DEAD, DEAD, DEAD])
            return
        state, later = self._judge(name, tokens)
        self._stack.append([min(state, outside), later, outside])

    def _next(self, name: str, tokens: Sequence[Token]) -> None:
        _, left, outside = self._stack[-1]
        if left == DEAD or outside == DEAD:
            self._stack[-1] = [DEAD, DEAD, outside]
            return
        state, later = (LIVE, DEAD) if name == "else" else self._judge(name.removeprefix("el"), tokens)
        self._stack[-1] = [min(state, left, outside), min(later, left), outside]

    def _define(self, tokens: Sequence[Token]) -> None:
        name, rest = tokens[0], list(tokens[1:])
        if name.kind != "id" or (self._state == MAYBE and name.text in self.macros):
            return
        parameters: tuple[str, ...] | None = None
        variadic = False
        if rest and rest[0].text == "(" and not rest[0].spaced:
            end = next((i for i, t in enumerate(rest) if t.text == ")"), len(rest) - 1)
            names = [t.text for t in rest[1:end] if t.text != ","]
            variadic = bool(names) and names[-1] == "..."
            if variadic:
                named = len(names) > 1 and rest[end - 2].text != ","
                names = names[:-1] if named else [*names[:-1], "__VA_ARGS__"]
            parameters, rest = tuple(names), rest[end + 1 :]
        self.macros[name.text] = Macro(name.text, tuple(rest), parameters, variadic)

    def expand(self, tokens: Iterable[Token], depth: int) -> list[Token]:
        """Expand macros by hide sets. Raises when the budget of the source is spent."""
        stack = list(tokens)
        if not self.macros:
            return stack
        stack.reverse()
        out: list[Token] = []
        while stack:
            self.steps += 1
            if self.steps > MAX_STEPS:
                raise _Exhausted
            token = stack.pop()
            macro = self.macros.get(token.text) if token.kind == "id" else None
            if macro is None or token.text in token.hide:
                out.append(token)
                continue
            if macro.parameters is None:
                stack += reversed(self._substitute(macro, [], token, token.hide | {macro.name}, depth))
                continue
            if not stack or stack[-1].text != "(":
                out.append(token)
                continue
            arguments, close = _arguments(stack)
            self.steps += sum(map(len, arguments)) if close else len(stack)
            if close is None:
                out.append(token)
                continue
            hide = (token.hide & close.hide) | {macro.name}
            stack += reversed(self._substitute(macro, arguments, token, hide, depth))
        return out

    def _substitute(
        self, macro: Macro, arguments: list[list[Token]], at: Token, hide: frozenset[str], depth: int
    ) -> list[Token]:
        given = self._bind(macro, arguments, at)
        expanded: dict[str, list[Token]] = {}
        out: list[Token] = []
        body = macro.body
        i, size = 0, len(body)
        pasting = False
        while i < size:
            token = body[i]
            if token.text == "##" and token.kind == "op" and out:
                pasting = True
                i += 1
                continue
            follows = i + 1 < size and body[i + 1].text == "##"
            made: list[Token]
            if token.text == "#" and macro.parameters is not None and i + 1 < size and body[i + 1].text in given:
                made = [Token("str", _spell(given[body[i + 1].text]), at.line)]
                i += 1
            elif token.kind == "id" and token.text in given:
                if pasting or follows:
                    made = list(given[token.text])
                else:
                    if token.text not in expanded:
                        inner = given[token.text]
                        expanded[token.text] = self.expand(inner, depth + 1) if depth < 40 else list(inner)
                    made = expanded[token.text]
            elif token.text == "__VA_OPT__":
                i += 1
                made = []
                continue
            else:
                made = [token]
            if pasting:
                _paste(out, made, at.line)
                pasting = False
            else:
                out += made
            self.steps += len(made)
            if self.steps > MAX_STEPS:
                raise _Exhausted
            i += 1
        return [t._replace(line=at.line, hide=t.hide | hide, first=False, sure=t.sure and at.sure) for t in out]

    def _bind(self, macro: Macro, arguments: list[list[Token]], at: Token) -> dict[str, list[Token]]:
        names = macro.parameters or ()
        given: dict[str, list[Token]] = {}
        for i, name in enumerate(names):
            if macro.variadic and i == len(names) - 1:
                rest: list[Token] = []
                for k, argument in enumerate(arguments[i:]):
                    rest += [Token("op", ",", at.line)] * (k > 0) + argument
                given[name] = rest
            else:
                given[name] = arguments[i] if i < len(arguments) else []
        return given


def _arguments(stack: list[Token]) -> tuple[list[list[Token]], Token | None]:
    """Take `( ... )` off the stack, split at its commas; the stack stays as it was when it does not close."""
    found: list[list[Token]] = [[]]
    depth = 0
    for taken in range(1, len(stack) + 1):
        token = stack[-taken]
        if token.text in "([{" and token.kind == "op":
            depth += 1
            if depth == 1:
                continue
        elif token.text in ")]}" and token.kind == "op":
            depth -= 1
            if not depth:
                del stack[-taken:]
                return found, token
        if token.text == "," and depth == 1:
            found.append([])
        else:
            found[-1].append(token)
    return found, None


def _paste(out: list[Token], made: list[Token], line: int) -> None:
    if not made:
        return
    if not out:
        out += made
        return
    left = out.pop()
    joined = tokenize(left.text + made[0].text, line) if left.kind not in ("str", "char") else [left, made[0]]
    out += joined or [left, made[0]]
    out += made[1:]


def _spell(tokens: Sequence[Token]) -> str:
    return "".join(" " * (t.spaced and i > 0) + t.text for i, t in enumerate(tokens))
