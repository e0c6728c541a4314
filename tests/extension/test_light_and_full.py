"""The light headers and torch's own give the same answers, bit by bit, on the same candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from extension_corpora import FIRST, SECOND, WHOLE, answer  # noqa: E402
from kengine.extension import Settings  # noqa: E402
from kengine.extension.precompiled import precompile  # noqa: E402

NAMES = [*FIRST, *SECOND]


@pytest.fixture(scope="session")
def precompiled(settings: Settings) -> Settings:
    precompile(settings)
    return settings


@pytest.mark.slow
@pytest.mark.skipif(not WHOLE, reason="a build with torch's headers takes long: set KENGINE_TEST_WHOLE_CORPUS=1")
@pytest.mark.parametrize("name", NAMES)
def test_the_answers_are_the_same_bits(name: str, precompiled: Settings) -> None:
    light = answer(name, precompiled)
    with_torch = answer(name, replace(precompiled, light_headers=False))
    assert (light.paths, with_torch.paths) == ({"light"}, {"full"})
    assert (light.dtype, light.shape, light.stride) == (with_torch.dtype, with_torch.shape, with_torch.stride)
    assert light.content == with_torch.content
