"""How Python is read: Triton, NKI, and the host side of CUDA, whose sources stand in strings."""

from __future__ import annotations

import re

from kengine.curate.code import cuda
from kengine.curate.code.leaves import FIXED, KEYWORD, MEMBER, NAME, Leaves, Text
from kengine.curate.code.lexical import add_tokens
from kengine.curate.code.walk import BIND, BIND_MEMBER, Grammar, Rule, Visit, begin, ignore, number, walk

_NAMES: dict[str, Rule] = {
    "attribute": {"attribute": MEMBER},
    "keyword_argument": {"name": KEYWORD},
    "function_definition": {"name": BIND_MEMBER},
    "class_definition": {"name": BIND_MEMBER},
    **dict.fromkeys(
        ("parameters", "lambda_parameters", "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern",
         "pattern_list", "tuple_pattern", "list_pattern", "as_pattern_target"),
        BIND,
    ),
    **{node: {"name": BIND} for node in ("default_parameter", "typed_default_parameter", "named_expression")},
    **{node: {"left": BIND} for node in ("assignment", "augmented_assignment", "for_statement", "for_in_clause")},
}  # fmt: skip
_STATEMENTS = (
    "assert_statement", "break_statement", "class_definition", "continue_statement", "decorator", "delete_statement",
    "elif_clause", "else_clause", "except_clause", "finally_clause", "for_statement", "function_definition",
    "global_statement", "if_statement", "match_statement", "nonlocal_statement", "pass_statement", "raise_statement",
    "return_statement", "try_statement", "while_statement", "with_statement",
)  # fmt: skip
_WORD = re.compile(rb"[^\W\d]\w*")
_SHORT = 64
_IMPORTS: dict[bytes, dict[Text, Text]] = {}


def _expression(visit: Visit) -> bool:
    node = visit.node
    if node.child_count == 1:
        child = node.child(0)
        if child is not None and child.type in ("string", "concatenated_string"):
            return False  # a docstring
    visit.leaves.begin()
    return True


def _string(visit: Visit) -> bool:
    children, leaves = visit.node.children, visit.leaves
    text = visit.source[children[0].end_byte : children[-1].start_byte] if len(children) > 1 else b""
    if b"__global__" in text or b"__device__" in text or (b";" in text and (b"(" in text or b"{" in text)):
        walk(cuda.GRAMMAR, text, leaves)
    elif any(child.type == "interpolation" for child in children):
        leaves.add_text(text)
    elif _WORD.fullmatch(text):
        leaves.add(text, NAME)
    elif len(text) <= _SHORT and not re.search(rb"\s", text):
        leaves.add(b'"' + text, FIXED)  # an equation, a mode, a dtype: it decides what is computed
    else:
        leaves.add_text(text)
    return False


def _import(visit: Visit) -> bool:
    text = visit.text
    found = _IMPORTS.get(text)
    if found is None:
        if len(_IMPORTS) > 10_000:
            _IMPORTS.clear()
        found = _IMPORTS[text] = _aliases(visit)
    visit.leaves.aliases.update(found)
    return False


def _aliases(visit: Visit) -> dict[Text, Text]:
    node, found = visit.node, dict[Text, Text]()
    module = node.child_by_field_name("module_name")
    prefix = (module.text or b"") + b"." if module is not None else b""
    for item in node.children_by_field_name("name"):
        alias = item.child_by_field_name("alias")
        whole = item.child_by_field_name("name") if item.type == "aliased_import" else item
        path = (whole.text if whole is not None else b"") or b""
        name = (alias.text if alias is not None else path if prefix else path.partition(b".")[0]) or b""
        found[name] = prefix + path if prefix or alias is not None else name
    return found


def _call(visit: Visit) -> bool:
    visit.leaves.calls.append(len(visit.leaves.texts))
    return True


def _end_call(leaves: Leaves) -> None:
    leaves.calls.pop()


def _block(visit: Visit) -> bool:
    visit.leaves.add("(:")
    return True


def _end_block(leaves: Leaves) -> None:
    leaves.begin()
    leaves.add(":)")
    leaves.begin()


def _broken(visit: Visit) -> bool:
    add_tokens(visit.text, visit.leaves, "python")
    return False


def _load() -> object:
    import tree_sitter_python

    return tree_sitter_python.language()


GRAMMAR = Grammar(
    _load,
    "tree_sitter_python",
    frozenset({"identifier"}),
    _NAMES,
    {
        **dict.fromkeys(_STATEMENTS, begin),
        **dict.fromkeys(("comment", "line_continuation"), ignore),
        **dict.fromkeys(("import_statement", "import_from_statement", "future_import_statement"), _import),
        **dict.fromkeys(("integer", "float"), number),
        "expression_statement": _expression,
        "string": _string,
        "call": _call,
        "block": _block,
        "ERROR": _broken,
    },
    {"call": _end_call, "block": _end_block},
)
