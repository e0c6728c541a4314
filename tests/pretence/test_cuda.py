"""What answers in place of a device, and what stays when a candidate has put something of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

torch = pytest.importorskip("torch")

from kengine.pretence import Figures, cuda  # noqa: E402

FIGURES = Figures("sm_90", "a chip", False, (9, 0), 32, 132, 2048, 49152, 233472, 1 << 30)
_NAMES = ("synchronize", "device_count", "Event")


@contextmanager
def answering() -> Iterator[None]:
    with cuda.answering_as(FIGURES, lambda what: RuntimeError(what)):
        yield


@pytest.fixture(autouse=True)
def as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _NAMES:
        monkeypatch.setattr(torch.cuda, name, getattr(torch.cuda, name))


def test_torch_answers_for_the_chip_inside_and_as_before_outside() -> None:
    version = torch.version.cuda
    before = {name: getattr(torch.cuda, name) for name in _NAMES}
    with answering():
        assert torch.cuda.device_count() == 1
        assert torch.cuda.get_device_capability() == (9, 0)
        assert torch.version.cuda == "13.0"
        assert torch.cuda.Event is cuda.Event
    assert {name: getattr(torch.cuda, name) for name in _NAMES} == before
    assert torch.version.cuda == version


def test_what_is_put_in_its_place_inside_stays_to_be_found() -> None:
    def deceive() -> None:
        """A candidate's."""

    count = torch.cuda.device_count
    with answering():
        torch.cuda.synchronize = deceive
    assert torch.cuda.synchronize is deceive
    assert torch.cuda.device_count is count


def test_one_inside_another_leaves_nothing() -> None:
    before = {name: getattr(torch.cuda, name) for name in _NAMES}
    with answering(), answering():
        assert torch.cuda.device_count() == 1
    assert {name: getattr(torch.cuda, name) for name in _NAMES} == before
