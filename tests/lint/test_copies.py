"""Whether a kernel could hold part of a product: common names, names that its backend declares, loops that add."""

from __future__ import annotations

import ast

import pytest
from kengine.lint.copies import may_multiply, only_copies
from kengine.lint.source import SourceTree
from kengine.plugins import Dialect, dialect
from kengine.plugins.dialect import Dialects


def kernel(body: str) -> ast.FunctionDef:
    tree = ast.parse("def kernel(a, b, c):\n    " + body.replace("\n", "\n    ") + "\n")
    assert isinstance(tree.body[0], ast.FunctionDef)
    return tree.body[0]


@pytest.fixture
def acme(monkeypatch):
    made = Dialects(acme=Dialect("ACME", adding=frozenset({"array_product"})))
    monkeypatch.setattr(dialect, "declared", lambda: made)


@pytest.mark.parametrize(
    "body",
    [
        "l.dot(a, b)", "c = a @ b", "l.sum(a * b)", "l.atomic_add(c, a)", "l.dot_scaled(a, b)", "l.gemm(a, b, c)",
        "for i in range(4):\n    c += a", "sum(a, b)", "l.array_product(a, b)",
    ],
)  # fmt: skip
def test_what_adds_terms_may_be_part_of_a_product(acme, body) -> None:
    assert may_multiply(kernel(body))


@pytest.mark.parametrize("body", ["l.store(c, l.load(a))", "l.store(c, a * b)", "c += a", "l.tensor_product(a, b)"])
def test_what_copies_or_works_element_by_element_is_none(acme, body) -> None:
    assert not may_multiply(kernel(body))


def test_names_of_a_backend_count_where_it_is_installed(monkeypatch) -> None:
    monkeypatch.setattr(dialect, "declared", Dialects)
    assert not may_multiply(kernel("l.array_product(a, b)")) and may_multiply(kernel("l.dot(a, b)"))


@pytest.mark.parametrize(
    ("backend", "names"),
    [
        ("triton", ["dot_scaled", "associative_scan", "warpgroup_mma", "mma_v2", "tcgen05_mma", "mfma", "wmma"]),
        ("nki", ["nc_matmul", "nc_matmul_mx", "tensor_reduce", "tensor_partition_reduce", "activation_reduce",
                 "tensor_scalar_reduce", "tensor_tensor_scan", "tensor_scalar_cumulative", "bn_stats", "bn_aggr"]),
        ("cuda", ["wgmma"]),
    ],
)  # fmt: skip
def test_names_of_the_installed_backends(backend, names) -> None:
    if backend not in dialect.declared():
        pytest.skip(f"the backend {backend!r} is not installed")
    assert all(may_multiply(kernel(f"x.{name}(a, b)")) for name in names)


def test_stores_of_what_was_loaded_copy() -> None:
    for body, copies in (
        ("l.store(c, l.load(a))", True),
        ("v = l.load(a)\nl.store(c, (v * 1).to(l.float16))", True),
        ("l.store(c, l.load(a) * 2)", False),
        ("l.store(c, l.load(l.load(a)))", False),
        ("l.load(a)", False),
    ):
        text = "def kernel(a, b, c):\n    " + body.replace("\n", "\n    ") + "\n"
        source = SourceTree(text, ast.parse(text))
        assert only_copies(source, source.tree.body[0]) is copies, body
