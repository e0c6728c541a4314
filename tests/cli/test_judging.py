"""The first line of a command that judges."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.cli.judging import Output, announce, make_engine
from kengine.config import Plan
from kengine.errors import UsageError
from kengine.model import Capability, Target, TargetInfo

SIM = TargetInfo(Target("acme", "sim"), True, (Capability.compile, Capability.launch), {"time": "no"}, note="a note")
CHIP = TargetInfo(Target("acme", "c1"), False, (), dict.fromkeys(("compile", "launch", "time"), "no clang: get it"))


@pytest.mark.parametrize(
    ("infos", "beside", "line"),
    [
        ((SIM, CHIP), (), "; not compiled for a chip: no clang: get it (a note)"),
        ((SIM, CHIP), (Target("acme", "c2"),), "; compiled for acme:c2 beside it (a note)"),
        ((SIM,), (), " (a note)"),
    ],
)
def test_the_first_line_says_whether_a_chip_s_compiler_has_seen_it(infos, beside, line, capsys) -> None:
    backend = SimpleNamespace(name="acme", targets=lambda: infos)
    announce(SimpleNamespace(info=SIM, compile_for=beside, backend=backend), Output(False, None, False))
    assert capsys.readouterr().out == f"target acme:sim: an emulator, it says nothing about speed{line}\n"


def test_a_target_that_cannot_measure_says_what_can_be_done() -> None:
    with pytest.raises(UsageError, match=r"emulator: .*\(toy has no target that measures\).*`kengine verify`"):
        make_engine("toy", None, Plan(time=True), None, 1, None)
    with pytest.raises(UsageError, match=r"^unknown target toy:cpi \(did you mean toy:cpu\?\)[^`]*$"):
        make_engine(None, "toy:cpi", Plan(), None, 1, None)
    with pytest.raises(UsageError, match=r"^unknown target toy:cpi"):
        make_engine(None, "toy:cpi", Plan(time=True), None, 1, None)
