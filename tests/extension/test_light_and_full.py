"""The light headers and torch's own give the same answers, bit by bit, on the same candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

torch = pytest.importorskip("torch")

from extension_corpora import FIRST, SECOND, WHOLE, run  # noqa: E402
from kengine.extension import Settings, builder, full, install  # noqa: E402

NAMES = [*FIRST, *SECOND]


@pytest.fixture(scope="session")
def precompiled(settings: Settings) -> Settings:
    full.precompile(settings)
    return settings


@pytest.fixture
def build_full(precompiled: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Say whether extensions are built with torch's own headers from here on."""
    light = builder._build
    undo = install(precompiled)

    def choose(own: bool) -> None:
        monkeypatch.setattr(builder, "_build", (lambda s, how: full.build(s, how, "asked for")) if own else light)

    yield choose
    undo()


@pytest.mark.slow
@pytest.mark.skipif(not WHOLE, reason="a build with torch's headers takes a minute: set KENGINE_TEST_WHOLE_CORPUS=1")
@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_the_same_bits(name: str, build_full: Callable[[bool], None]) -> None:
    answers = []
    for own in (False, True):
        build_full(own)
        found = run(name)
        assert {extension.path for extension in found.extensions} == {"full" if own else "light"}
        answers.append(found.actual)
    light, with_torch = answers
    assert (light.dtype, light.shape, light.stride()) == (with_torch.dtype, with_torch.shape, with_torch.stride())
    as_bytes = [answer.contiguous().flatten().view(torch.uint8) for answer in answers]
    assert torch.equal(*as_bytes)
