"""A translation unit: functions with their bodies, names with their arguments, launches; all over tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kengine.lint.cpp.preprocessor import Preprocessor
from kengine.lint.cpp.tokens import MAX_TEXT, Token

_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_ATTRIBUTES = frozenset({
    "__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "__block_size__", "alignas", "__align__",
    "decltype", "noexcept", "__declspec", "explicit", "requires", "static_assert",
})  # fmt: skip
_KEYWORDS = frozenset({"if", "for", "while", "switch", "return", "sizeof", "catch", "alignof", "new", "delete", "throw",
                       "co_return", "else", "do", "case", "decltype", "static_assert"})  # fmt: skip
MAX_FUNCTIONS = 4000
MAX_TOKENS = 40_000
"""Most tokens of a source that are looked at; some 4,000 lines."""

MAX_LAUNCHES = 200
_FAR = 200  # tokens that one argument of a launch may have


@dataclass(frozen=True)
class Function:
    """A function with a body; numbers are indices of tokens. head: where its declaration begins."""

    name: str
    head: int
    parameters: tuple[int, int]
    body: tuple[int, int]
    is_kernel: bool
    is_device: bool
    exported: bool


@dataclass(frozen=True)
class Name:
    """A name in use: `parts` of `a::b::c`. member: it stands behind `.` or `->`. arguments: between its parentheses."""

    at: int
    parts: tuple[str, ...]
    member: bool
    arguments: tuple[int, int] | None

    @property
    def text(self) -> str:
        """The name as one text."""
        return "::".join(self.parts)


@dataclass(frozen=True)
class Launch:
    """A kernel launch. kernel: its name, "" where the text does not give it. grid, block: ranges of tokens."""

    at: int
    kernel: str
    grid: tuple[int, int]


class Unit:
    """One source after the preprocessor. line of a token: `first` + its line in the text - 1."""

    def __init__(
        self,
        text: str,
        first: int = 1,
        defines: Mapping[str, str] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> None:
        made = Preprocessor(defines, files).run(text, first)
        self.first = first
        self.text = text
        self.tokens: Sequence[Token] = made.tokens[:MAX_TOKENS]
        self.headers = made.headers
        self.incomplete = made.exhausted or len(text) > MAX_TEXT or len(made.tokens) > MAX_TOKENS
        self.match = _match(self.tokens)
        self.functions: list[Function] = []
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._opened: set[str] = set()
        self._scan(0, len(self.tokens), 0)
        self._find_aliases()

    def word(self, at: int) -> str:
        """The text of a token, "" for literals and beyond the end."""
        if 0 <= at < len(self.tokens) and self.tokens[at].kind in ("id", "op"):
            return self.tokens[at].text
        return ""

    def _scan(self, start: int, end: int, depth: int, exported: bool = False) -> None:
        """Find the functions of a scope that holds declarations."""
        head, i = start, start
        while i < end:
            word = self.word(i)
            if word == ";":
                head = i + 1
            elif word == "{":
                close = self.match.get(i, end)
                self._block(head, i, close, depth, exported)
                head = i = close + 1
                continue
            elif word in "([" and word:
                i = self.match.get(i, end)
            i += 1

    def _block(self, head: int, opening: int, close: int, depth: int, exported: bool) -> None:
        words = [self.word(i) for i in range(head, opening)]
        if depth < 40 and ("namespace" in words or (words[:1] == ["extern"] and "(" not in words)):
            self._scan(opening + 1, close, depth + 1, exported or "extern" in words)
            return
        name, parameters = self._declarator(head, opening)
        kind = next((w for w in words if w in ("class", "struct", "union", "enum")), "")
        if not name and kind:
            if depth < 40 and kind != "enum":
                self._scan(opening + 1, close, depth + 1, exported)
            return
        if len(self.functions) < MAX_FUNCTIONS:
            device = "__device__" in words and "__host__" not in words
            self.functions.append(
                Function(name, head, parameters, (opening + 1, close), "__global__" in words, device,
                         exported or "extern" in words)
            )  # fmt: skip

    def _declarator(self, head: int, opening: int) -> tuple[str, tuple[int, int]]:
        """(name, parameters) of the function whose body opens here; a name of "" for anything else."""
        i = head
        while i < opening:
            word = self.word(i)
            if word == "template" and self.word(i + 1) == "<":
                i = self.angle(i + 1, opening) + 1
                continue
            if word == "=":
                return "", (i, opening)
            if word == "(":
                before = i - 1
                if self.word(before) in _ATTRIBUTES:
                    i = self.match.get(i, opening) + 1
                    continue
                name = self.tokens[before].text if before >= head and self.tokens[before].kind == "id" else ""
                if not name and self.word(before) == ">":
                    back = before
                    while back > head and self.word(back) != "<":
                        back -= 1
                    name = self.word(back - 1)
                if self.word(i - 2) == "operator" or self.word(before) == "operator":
                    name = "operator"
                return name, (i + 1, self.match.get(i, opening))
            i += 1
        return "", (opening, opening)

    def angle(self, at: int, end: int) -> int:
        """Where the `<` at a token closes; the token itself when it is no bracket."""
        depth, i = 0, at
        while i < min(end, at + 40):
            word = self.word(i)
            if word == "<":
                depth += 1
            elif word == ">":
                depth -= 1
                if not depth:
                    return i
            elif word in "([" and word:
                i = self.match.get(i, end)
            elif word in (";", "{", "}", "&&", "||"):
                return at
            i += 1
        return at

    def names(self, start: int, end: int) -> Iterator[Name]:
        """Names in a range, aliases of namespaces and of functions followed."""
        i = start
        while i < end:
            if self.tokens[i].kind != "id" or self.tokens[i].text in _KEYWORDS:
                i += 1
                continue
            at = i
            parts = [self.tokens[i].text]
            while self.word(i + 1) == "::" and i + 2 < end and self.tokens[i + 2].kind == "id":
                i += 2
                parts.append(self.tokens[i].text)
            member = self.word(at - 1) in (".", "->")
            after = i + 1
            if self.word(after) == "<":
                closed = self.angle(after, end)
                if closed != after and self.word(closed + 1) in ("(", "::", "{"):
                    after = closed + 1
            arguments = (after + 1, self.match.get(after, end)) if self.word(after) == "(" else None
            yield Name(at, tuple(parts) if member else self._follow(parts), member, arguments)
            i += 1

    def _follow(self, parts: Sequence[str]) -> tuple[str, ...]:
        found = tuple(parts)
        for _ in range(8):
            target = self._aliases.get(found[0])
            if target is None or target[0] == found[0]:
                break
            found = (*target, *found[1:])
        return found

    def _find_aliases(self) -> None:
        for i, token in enumerate(self.tokens):
            if token.kind != "id" or token.text not in ("using", "namespace", "typedef"):
                continue
            if token.text == "using" and self.word(i + 1) == "namespace":
                self._opened.add("::".join(self._chain(i + 2)))
            elif token.text == "using":
                chain = self._chain(i + 1)
                if len(chain) > 1:
                    self._aliases.setdefault(chain[-1], chain)
                elif self.word(i + 2) == "=" and chain:
                    target = self._chain(i + 3)
                    if target:
                        self._aliases.setdefault(chain[0], target)
            elif token.text == "namespace" and self.word(i + 2) == "=":
                target = self._chain(i + 3)
                if target:
                    self._aliases.setdefault(self.word(i + 1), target)

    def _chain(self, at: int) -> tuple[str, ...]:
        if self.word(at) == "::":
            at += 1
        parts: list[str] = []
        while at < len(self.tokens) and self.tokens[at].kind == "id":
            parts.append(self.tokens[at].text)
            if self.word(at + 1) != "::":
                break
            at += 2
        return tuple(parts)

    @cached_property
    def opened(self) -> frozenset[str]:
        """Namespaces that a `using namespace` opens."""
        return frozenset(self._opened)

    @cached_property
    def defined(self) -> frozenset[str]:
        """Names of the functions that the unit defines."""
        return frozenset(f.name for f in self.functions)

    @cached_property
    def declared(self) -> frozenset[str]:
        """Names that the unit defines, declares behind a type, or binds with `auto`: they are its own."""
        found = set(self.defined)
        for i, token in enumerate(self.tokens):
            if token.kind == "id" and self.word(i + 1) in ("(", "="):
                before = self.tokens[i - 1] if i else token
                typed = before.kind == "id" and before.text not in _KEYWORDS
                pointed = before.text in ("*", "&", ">") and i > 1 and self.tokens[i - 2].kind == "id"
                if typed or (pointed and self.inside(i) is None):
                    found.add(token.text)
        return frozenset(found)

    @cached_property
    def kernels(self) -> dict[str, Function]:
        """Kernels with a body, by name."""
        return {f.name: f for f in self.functions if f.is_kernel}

    @cached_property
    def launches(self) -> list[Launch]:
        """Every launch, by chevrons or by a function of the runtime."""
        found: list[Launch] = []
        for i, token in enumerate(self.tokens):
            if len(found) >= MAX_LAUNCHES:
                break
            if token.kind == "op" and token.text == "<<<":
                grid = (i + 1, self._comma(i + 1))
                found.append(Launch(i, self._kernel_before(i), grid))
            elif token.kind == "id" and token.text in _LAUNCHERS and self.word(i + 1) == "(":
                comma = self._comma(i + 2)
                names = [t.text for t in self.tokens[i + 2 : comma] if t.kind == "id"]
                kernel = next((n for n in names if n in self.kernels), "")
                found.append(Launch(i, kernel, (comma + 1, self._comma(comma + 1))))
        return found

    def _comma(self, at: int) -> int:
        """The comma or bracket that ends the expression at a token."""
        end = min(len(self.tokens), at + _FAR)
        while at < end and self.word(at) not in (",", ";", ")", "}", "]", ">"):
            at = self.match.get(at, at) + 1 if self.word(at) in _CLOSERS else at + 1
        return at

    def _kernel_before(self, at: int) -> str:
        i = at - 1
        if self.word(i) == ">":
            depth = 0
            while i > max(0, at - _FAR):
                depth += {">": 1, "<": -1}.get(self.word(i), 0)
                i -= 1
                if not depth:
                    break
        return self.word(i)

    def inside(self, at: int) -> Function | None:
        """The function whose body holds a token."""
        place = bisect_right(self._bodies, at) - 1
        found = self._by_body[place] if place >= 0 else None
        return found if found is not None and at < found.body[1] else None

    @cached_property
    def _by_body(self) -> list[Function]:
        return sorted(self.functions, key=lambda f: f.body[0])

    @cached_property
    def _bodies(self) -> list[int]:
        return [f.body[0] for f in self._by_body]

    @cached_property
    def every_name(self) -> list[Name]:
        """All names of the unit, in order."""
        return list(self.names(0, len(self.tokens)))


_LAUNCHERS = frozenset({
    "hipLaunchKernelGGL", "hipLaunchKernel", "cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC",
    "cuLaunchKernel", "cuLaunchKernelEx", "hipModuleLaunchKernel", "hipExtModuleLaunchKernel", "hipExtLaunchKernelGGL",
    "cudaLaunchCooperativeKernel", "hipLaunchCooperativeKernel", "cuLaunchCooperativeKernel",
})  # fmt: skip


def _match(tokens: Sequence[Token]) -> dict[int, int]:
    """Index of the bracket that closes each opening one; what never closes runs to the end."""
    found: dict[int, int] = {}
    stack: list[tuple[int, str]] = []
    for i, token in enumerate(tokens):
        if token.kind != "op":
            continue
        if token.text in _CLOSERS:
            stack.append((i, _CLOSERS[token.text]))
        elif token.text in (")", "]", "}"):
            while stack and stack[-1][1] != token.text and token.text == "}":
                found[stack.pop()[0]] = i
            if stack and stack[-1][1] == token.text:
                found[stack.pop()[0]] = i
    for i, _ in stack:
        found[i] = len(tokens)
    return found
