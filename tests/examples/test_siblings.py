"""Each fault in each form of each example kernel of CUDA and HIP gets its status, made from the correct files by the
edits in siblings/*.toml; the files of wrong siblings in examples/ are read by test_cuda.py and test_hip.py."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from kengine import Engine, Plan, Status, Verdict, tasks
from kengine.model import Task

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TABLES = {
    name: tomllib.loads((Path(__file__).parent / "siblings" / f"{name}.toml").read_text()) for name in ("cuda", "hip")
}
PLACE = re.compile(r"block \(\d+,\d+,\d+\), thread \(\d+,\d+,\d+\), line (\d+)\]")


@dataclass(frozen=True)
class Sibling:
    """One fault of one kernel in one form: the correct file, its task, and what the tables say of the fault."""

    backend: str
    kernel: str
    fault: str
    form: str

    @property
    def told(self) -> Mapping[str, Any]:
        table = TABLES[self.backend]["kernels"][self.kernel][self.fault]
        # HIP to HIP is a matter of the task: the candidate is the bare file.
        own = table.get({"hip2hip": "bare", "model": "inline"}.get(self.form, self.form), {})
        return {**table, **own}

    @property
    def correct(self) -> Path:
        files = self.told.get("correct") or TABLES[self.backend]["forms"][self.kernel]
        return EXAMPLES / self.backend / self.kernel / files["inline" if self.form == "model" else self.form]

    def read_task(self) -> Task:
        path = self.correct.parent / ("task.hip" if self.form == "hip2hip" else "task.py")
        text = path.read_text()
        return tasks.parse_task(to_model_task(text) if self.form == "model" else text, path.name)

    def read(self) -> str:
        """The correct text, without a task that stands in it: all forms are judged by one task."""
        text = self.correct.read_text()
        return cut_task(text) if self.correct.suffix == ".py" else text

    def write(self) -> str:
        """The text with the fault in it."""
        text = self.read()
        for old, new in self.told["edit"]:
            assert text.count(old) == 1, f"{self.correct}: {old!r} fits at {text.count(old)} places, want 1"
            text = text.replace(old, new)
        if "include" in self.told:
            start = 'r"""\n' if self.correct.suffix == ".py" else "\n// ///\n"
            assert text.count(start) == 1, f"{self.correct}: the kernel's text starts at {text.count(start)} places"
            text = text.replace(start, f"{start}#include <{self.told['include']}>\n")
        return to_model(text) if self.form == "model" else text


def cut_task(text: str) -> str:
    """A Python example without the task in it."""
    text = re.sub(r"^# /// kengine\n(#.*\n)*?# ///\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^def (make_inputs|reference)\(.*\n(( .*)?\n)*", "", text, flags=re.MULTILINE)


def to_model(text: str) -> str:
    """A Python example as a module: its function becomes the method `forward` of ModelNew."""
    above, function = text.split("def candidate(")
    method = ("def forward(self, " + function).replace("\n", "\n    ").rstrip()
    return f"{above}class ModelNew(torch.nn.Module):\n    {method}\n"


def to_model_task(text: str) -> str:
    """The same task as a Model with inputs that take no arguments, which has the sizes of the defaults alone."""
    text = re.sub(r"^# /// kengine\n(#.*\n)*?# ///\n", "", text, flags=re.MULTILINE)
    text = text.replace("def reference(", "def answer(").replace("def make_inputs(", "def draw(")
    return f"""{text}

class Model(torch.nn.Module):
    def forward(self, *inputs):
        return answer(*inputs)


def get_inputs():
    return list(draw(int(torch.randint(1 << 30, ())), "cpu"))


def get_init_inputs():
    return []
"""


SIBLINGS = [
    Sibling(backend, kernel, fault, form)
    for backend, table in TABLES.items()
    for kernel, forms in table["forms"].items()
    for fault in table["faults"]
    if f"{kernel} {fault}" not in table["left_out"]
    for form in [*forms, *(["model"] if fault == "missing_sync" else [])]
]
NARROW = [sibling for sibling in SIBLINGS if sibling.fault == "narrow_wave"]
pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch: pip install torch"),
    pytest.mark.skipif(
        not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="the emulator needs a C++ compiler"
    ),
    pytest.mark.slow,
]


def name(sibling: Sibling) -> str:
    return "-".join((sibling.backend, sibling.kernel, sibling.fault, sibling.form))


@pytest.fixture(scope="module")
def engines() -> Iterator[dict[str, Engine]]:
    """One engine for each target, started when it is first asked for. Compiling for chips has tests elsewhere."""
    started: dict[str, Engine] = {}
    yield started
    for engine in started.values():
        engine.close()


def judge(engines: dict[str, Engine], target: str, sibling: Sibling, text: str) -> Verdict:
    if target not in engines:
        engines[target] = Engine(target=target, compile_for=(), plan=Plan(), workers=1)
    return engines[target].verify(tasks.pair(text, sibling.read_task(), sibling.correct.name))


@pytest.mark.parametrize("sibling", SIBLINGS, ids=name)
def test_status(engines, sibling) -> None:
    text, told = sibling.write(), sibling.told
    verdict = judge(engines, f"{sibling.backend}:cpu", sibling, text)
    assert verdict.status is Status(told["status"]), verdict.message
    assert told["message"] in verdict.message
    if told.get("lane"):
        place = PLACE.search(verdict.message)
        assert place and verdict.line == int(place[1]), verdict.message
        line = text.split("\n")[verdict.line - 1]
        assert any(part in line for part in told["line"]), f"line {verdict.line}: {line}; {verdict.message}"


@pytest.mark.parametrize("sibling", NARROW, ids=name)
def test_a_lane_assumption_holds_where_wavefronts_have_32(engines, sibling) -> None:
    verdict = judge(engines, "hip:cpu-gfx1100", sibling, sibling.write())
    assert verdict.status is Status.passed, verdict.message
    assert str(verdict.stages.launch.details["with_64_lanes"]).startswith("differs: output 0")


@pytest.mark.parametrize(
    "sibling",
    [s for s in SIBLINGS if (s.fault, s.form) == ("race", "hip2hip") or (s.kernel, s.form) == ("rmsnorm", "model")],
    ids=name,
)
def test_without_the_fault_forms_that_have_no_example_file_pass(engines, sibling) -> None:
    text = to_model(sibling.read()) if sibling.form == "model" else sibling.read()
    verdict = judge(engines, f"{sibling.backend}:cpu", sibling, text)
    assert verdict.status is Status.passed, verdict.message


@pytest.mark.parametrize("backend", list(TABLES))
def test_the_tables_leave_nothing_out_in_silence(backend) -> None:
    table = TABLES[backend]
    assert set(table["kernels"]) == set(table["forms"]) == {"softmax", "rmsnorm", "matmul", "reduction"}
    for kernel, faults in table["kernels"].items():
        out = {fault for fault in table["faults"] if f"{kernel} {fault}" in table["left_out"]}
        assert set(faults) == set(table["faults"]) - out
        assert {"raw_kernel", "inline", "bare"} <= set(table["forms"][kernel])
