"""Twice sixty candidates as machines write them, through the light headers under emulation: the first over thirty
operators, the second over sixty others and in other styles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from extension_corpora import FIRST, SECOND, WHOLE, first_references, run  # noqa: E402
from kengine.extension import Settings, install  # noqa: E402


@pytest.fixture
def installed(settings: Settings) -> Iterator[None]:
    undo = install(settings)
    yield
    undo()


@pytest.fixture
def checked(settings: Settings) -> Iterator[None]:
    undo = install(replace(settings, check=True))
    yield
    undo()


def test_the_corpora_are_sixty_candidates_each() -> None:
    assert (len(FIRST), len(SECOND), len({*FIRST, *SECOND})) == (60, 60, 120)
    operators = {first_references.operator_of(candidate) for candidate in FIRST}
    assert len(operators) == 30
    assert not any(name.startswith(f"{operator}_") for name in SECOND for operator in operators - {"layer_norm", "softmax", "bmm", "matmul"})


@pytest.mark.parametrize("name", [*FIRST, *(SECOND if WHOLE else SECOND[::3])])
def test_candidate_computes_its_operator(name: str, installed: None) -> None:
    _assert_right(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FIRST, *SECOND] if WHOLE else [*FIRST[2::10], *SECOND[1::10]])
def test_checks_raise_no_false_alarm(name: str, checked: None) -> None:
    _assert_right(name)


def _assert_right(name: str) -> None:
    found = run(name)
    assert found.actual.dtype == found.expected.dtype
    torch.testing.assert_close(found.actual, found.expected, rtol=found.tolerance, atol=found.tolerance)
    # A library of operators is no module that the candidate could hold.
    assert found.extensions or name == "embedding_torch_library"
    assert all(extension.path == "light" for extension in found.extensions)
