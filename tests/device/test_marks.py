"""Marks in a device's record: what is asked of the driver, and what is made of a record that has them or has not."""

from __future__ import annotations

import types
from typing import Any

import pytest
from device_doubles import FILL, KERNEL, Library
from device_doubles import Marks as Double
from kengine.device import cupti, marks
from kengine.device.cupti import Activity, CuptiError


class Driver:
    def __init__(self) -> None:
        self.code = 0
        self.asked: list[tuple[Any, ...]] = []

    def cuMemsetD32Async(self, *given: Any) -> int:
        self.asked.append(tuple(each.value for each in given))
        return self.code


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    torch = pytest.importorskip("torch")
    made = Driver()
    memory = types.SimpleNamespace(data_ptr=lambda: 4096)
    monkeypatch.setattr(marks, "_driver", lambda: made)
    monkeypatch.setattr(marks, "_allocate", lambda nbytes: setattr(memory, "nbytes", nbytes) or memory)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: types.SimpleNamespace(cuda_stream=77))
    made.memory = memory  # type: ignore[attr-defined]
    return made


def test_each_mark_is_a_fill_of_a_length_of_its_own(driver: Driver) -> None:
    made = marks.Marks()
    for _ in range(9000):
        made()
    assert len(made) == 9000
    lengths = [words for _, _, words, _ in driver.asked]
    assert {(address, value, stream) for address, value, _, stream in driver.asked} == {(4096, 0, 77)}
    assert all(n % 2 for n in lengths) and len(set(lengths[:4096])) == 4096 and lengths[4096:8192] == lengths[:4096]
    assert 4 * max(lengths) <= driver.memory.nbytes < 1 << 20  # type: ignore[attr-defined]
    assert len({marks.Marks()._first for _ in range(20)}) > 1


def test_a_refusal_of_the_driver_is_said_and_spoils_the_record(driver: Driver) -> None:
    made = marks.Marks()
    driver.code = 700
    with pytest.raises(CuptiError, match="cuMemsetD32Async failed with CUDA error 700"):
        made()
    with pytest.raises(CuptiError, match="has 0 of the 1 marks"):
        made.find([])


def test_a_machine_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError(f"{name}: cannot open shared object file")

    marks._driver.cache_clear()
    monkeypatch.setattr(marks.ctypes, "CDLL", missing)
    with pytest.raises(CuptiError, match=r"cannot be loaded: libcuda\.so\.1"):
        marks._driver()


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Double.library = Library()
    monkeypatch.setattr(cupti, "_load", lambda: made)
    return made


def test_marks_are_found_among_other_fills(library: Library) -> None:
    made = Double()
    with cupti.Cupti().record() as records:
        for length in (4096, 4 * (made._first - 2), 4 * (made._first + 6)):
            made()
            library.run(FILL, 9, nbytes=length)
            library.run(KERNEL, 9, "k")
    found = made.find(records)
    assert [record.nbytes // 4 - made._first for record in found] == [0, 2, 4]
    assert [record.begin_ns for record in found] == sorted(record.begin_ns for record in found)


@pytest.mark.parametrize("wrong", ["missing", "twice", "order"])
def test_marks_that_are_not_as_they_were_left(library: Library, wrong: str) -> None:
    made = Double()
    with cupti.Cupti().record() as records:
        for _ in range(3):
            made()
    spoilt = list(records)
    if wrong == "missing":
        del spoilt[1]
    elif wrong == "twice":
        spoilt.append(Activity("fill", "fill", 9000, 9001, 0, spoilt[1].nbytes))
    else:
        first, second, *rest = spoilt
        spoilt = [Activity("fill", "fill", second.begin_ns + 1, second.end_ns, 0, first.nbytes), second, *rest]
    count = {"missing": 2, "twice": 4, "order": 3}[wrong]
    with pytest.raises(CuptiError, match=f"has {count} of the 3 marks"):
        made.find(spoilt)
    assert len(made.find(records)) == 3
