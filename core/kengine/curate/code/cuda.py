"""How CUDA and HIP are read: the CUDA grammar takes both."""

from __future__ import annotations

import re

from kengine.curate.code.leaves import MEMBER, NAME
from kengine.curate.code.lexical import add_tokens
from kengine.curate.code.walk import ASSIGN, BIND, BIND_MEMBER, Grammar, Rule, Visit, begin, ignore, number

_NAMES: dict[str, Rule] = {
    "field_expression": {"field": MEMBER},
    "template_method": {"name": MEMBER},
    "field_declaration": {"declarator": BIND_MEMBER},
    "function_declarator": {"declarator": BIND_MEMBER},
    "assignment_expression": {"left": ASSIGN},
    "update_expression": {"argument": ASSIGN},
    **{
        node: {"declarator": BIND}
        for node in ("init_declarator", "pointer_declarator", "array_declarator", "parameter_declaration",
         "optional_parameter_declaration", "declaration", "for_range_loop", "type_definition")
    },
    **dict.fromkeys(
        ("reference_declarator", "structured_binding_declarator", "type_parameter_declaration", "preproc_params",
         "variadic_declarator", "parenthesized_declarator"),
        BIND,
    ),
    **{
        node: {"name": BIND}
        for node in ("preproc_def", "preproc_function_def", "struct_specifier", "class_specifier", "union_specifier",
         "enum_specifier", "alias_declaration", "namespace_definition", "enumerator")
    },
}  # fmt: skip
_STATEMENTS = (
    "alias_declaration", "break_statement", "case_statement", "continue_statement", "declaration", "do_statement",
    "else_clause", "expression_statement", "field_declaration", "for_range_loop", "for_statement",
    "function_definition", "if_statement", "preproc_call", "preproc_def", "preproc_function_def", "preproc_if",
    "preproc_ifdef", "return_statement", "switch_statement", "template_declaration", "type_definition",
    "using_declaration", "while_statement",
)  # fmt: skip
_WORD = re.compile(rb"\"([^\W\d]\w*)\"")


def _string(visit: Visit) -> bool:
    word = _WORD.fullmatch(visit.text)
    if word is not None:
        visit.leaves.add(word[1], NAME)
    else:
        visit.leaves.add_text(visit.text)
    return False


def _brace(visit: Visit) -> bool:
    if visit.above and visit.above[-1] == "compound_statement":
        visit.leaves.begin()
    visit.leaves.add("}")
    return False


def _raw(visit: Visit) -> bool:
    add_tokens(visit.text, visit.leaves, "c")
    return False


def _load() -> object:
    import tree_sitter_cuda

    return tree_sitter_cuda.language()


GRAMMAR = Grammar(
    _load,
    "tree_sitter_cuda",
    frozenset({"identifier", "type_identifier", "field_identifier", "namespace_identifier", "statement_identifier"}),
    _NAMES,
    {
        **dict.fromkeys(_STATEMENTS, begin),
        **dict.fromkeys(("comment", "preproc_include"), ignore),
        **dict.fromkeys(("string_literal", "raw_string_literal", "char_literal", "system_lib_string"), _string),
        "number_literal": number,
        **dict.fromkeys(("preproc_arg", "ERROR"), _raw),
        "}": _brace,
    },
    {},
)
