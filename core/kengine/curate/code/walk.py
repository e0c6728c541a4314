"""Walks a tree-sitter tree without recursion, so that no depth of nesting can end it, and gathers its leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

from kengine.curate.code.leaves import KEYWORD, NAME, Leaves
from kengine.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

ASSIGN, BIND, BIND_MEMBER = 9, 10, 11
"""Roles of names where they get a value: one declared elsewhere, one of the file's own, one used after a dot."""

Rule = Union[int, Mapping[str, int]]
"""Role of a name below a node: always the same, or by the field that it stands in."""


class Visit:
    """Where a walk is: its cursor and node, the source, and the types of the nodes above, outermost first."""

    def __init__(self, cursor: Any, source: bytes, leaves: Leaves) -> None:
        self.cursor = cursor
        self.node: Node = cursor.node
        self.source = source
        self.leaves = leaves
        self.above: list[str] = []

    @property
    def text(self) -> bytes:
        """The node's text."""
        return self.source[self.node.start_byte : self.node.end_byte]


@dataclass(frozen=True)
class Grammar:
    """How one language is read. names: types of names, with `rules` for their roles by the type of the node around.

    actions: by type of node; True goes on below it. leave: called after a node.
    """

    load: Callable[[], object]
    package: str
    names: frozenset[str]
    rules: Mapping[str, Rule]
    actions: Mapping[str, Callable[[Visit], bool]]
    leave: Mapping[str, Callable[[Leaves], None]]
    _parsers: list[Parser] = field(default_factory=list)

    def parser(self) -> Parser:
        """The language's parser. Raises UsageError when it is not installed."""
        if not self._parsers:
            try:
                from tree_sitter import Language, Parser

                self._parsers.append(Parser(Language(self.load())))
            except ImportError as error:
                raise UsageError(
                    f"comparing code needs {self.package}: pip install 'kernel-engine[curate]' ({error})"
                ) from None
        return self._parsers[0]


def walk(grammar: Grammar, source: bytes, leaves: Leaves, skip: Callable[[Node], bool] | None = None) -> bool:
    """Add the leaves of a text; False when it does not parse as a whole. skip: which nodes of the top to leave out."""
    tree = grammar.parser().parse(source)
    cursor = tree.walk()
    visit = Visit(cursor, source, leaves)
    names, actions, leave, above = grammar.names, grammar.actions, grammar.leave, visit.above
    down, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    while True:
        node = cursor.node
        assert node is not None
        kind = node.type
        if len(above) == 1:
            leaves.scopes.append(len(leaves.texts))
        if kind in names:
            text = source[node.start_byte : node.end_byte]
            if text:
                _add_name(grammar, visit, text)
        else:
            action = actions.get(kind)
            if action is not None:
                visit.node = node
            if (skip is None or len(above) != 1 or not skip(node)) and (action is None or action(visit)):
                if down():
                    above.append(kind)
                    continue
                if not node.is_named:
                    leaves.add(kind)
                elif node.start_byte < node.end_byte:
                    leaves.add(source[node.start_byte : node.end_byte])
        while not along():
            if not up():
                return not tree.root_node.has_error
            closed = leave.get(above.pop())
            if closed is not None:
                closed(leaves)


_AT_TOP = frozenset({
    "alias_declaration", "declaration", "enum_specifier", "expression_statement", "preproc_def",
    "preproc_function_def", "struct_specifier", "type_definition",
})  # fmt: skip


def _add_name(grammar: Grammar, visit: Visit, text: bytes) -> None:
    leaves = visit.leaves
    rule = grammar.rules.get(visit.above[-1])
    role = NAME
    if rule is not None:
        role = rule if isinstance(rule, int) else rule.get(visit.cursor.field_name, NAME)
        if role >= ASSIGN:
            leaves.given.append(len(leaves.texts))
        if role >= BIND:
            leaves.bound.add(text)
            if role == BIND_MEMBER:
                leaves.members.add(text)
                leaves.common.add(text)
            elif visit.above[1] in _AT_TOP and "function_declarator" not in visit.above:
                leaves.common.add(text)
            role = NAME
        elif role == ASSIGN:
            role = NAME
        elif role == KEYWORD and leaves.calls:
            leaves.callees[len(leaves.texts)] = leaves.calls[-1]
    leaves.texts.append(text)
    leaves.roles.append(role)


def begin(visit: Visit) -> bool:
    """A statement begins."""
    visit.leaves.begin()
    return True


def ignore(visit: Visit) -> bool:
    """Neither the node nor what is below it counts."""
    return False


def number(visit: Visit) -> bool:
    """A number."""
    visit.leaves.add_number(visit.text)
    return False
