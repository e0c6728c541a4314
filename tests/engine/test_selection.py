"""Which target is chosen, and what is said where there is none."""

from __future__ import annotations

import pytest
from kengine.engine import selection
from kengine.errors import TargetUnavailable, UsageError
from kengine.model import Capability, Target, TargetInfo

COMPILE, LAUNCH, TIME = Capability.compile, Capability.launch, Capability.time
EVERYTHING = ("compile", "launch", "time")


class Fake:
    """A backend of some targets."""

    name = "acme"

    def __init__(self, *infos: TargetInfo) -> None:
        self.infos = infos

    def targets(self) -> tuple[TargetInfo, ...]:
        return self.infos


def chip(arch: str, can: tuple[Capability, ...], reason: str = "", **more) -> TargetInfo:
    return TargetInfo(
        Target("acme", arch), False, can, {c.value: reason for c in Capability if c not in can}, **more
    )  # fmt: skip


def emulator(can: tuple[Capability, ...], reason: str = "", *companions: str) -> TargetInfo:
    reasons = {c.value: reason for c in (COMPILE, LAUNCH) if c not in can} | {"time": "no time of its own"}
    beside = tuple(Target("acme", arch) for arch in companions)
    return TargetInfo(Target("acme", "sim"), True, can, reasons, companions=beside)


@pytest.fixture
def use(monkeypatch):
    def install(*infos: TargetInfo) -> Fake:
        made = Fake(*infos)
        monkeypatch.setattr(selection.backends, "load", lambda name: made)
        return made

    return install


def chosen(need: Capability = LAUNCH, device_only: bool = False) -> str:
    return str(selection.choose("acme", None, device_only, need)[1].target)


def test_the_emulator_s_remedy_comes_first_and_equal_reasons_once(use) -> None:
    sdk = "no SDK; pip install sdk"
    small = emulator((), "no module small: pip install small")
    use(chip("c1", (), sdk), chip("c2", (), sdk), small, chip("c3", (), sdk))
    with pytest.raises(TargetUnavailable) as caught:
        chosen()
    assert str(caught.value) == (
        "no target of the backend 'acme' can launch here: acme:sim (emulator): no module small: pip install small; "
        "acme:c1, acme:c2, acme:c3: no SDK; pip install sdk"
    )
    with pytest.raises(TargetUnavailable) as caught:
        chosen(device_only=True)
    assert str(caught.value) == (
        "no device for the backend 'acme' here: acme:c1, acme:c2, acme:c3: no SDK; pip install sdk"
    )


def test_reasons_that_differ_in_the_chip_are_told_once(use) -> None:
    use(*(chip(f"c{n}", (COMPILE,), f"no device; needs a C{n}") for n in range(6)))
    with pytest.raises(TargetUnavailable, match=r"here: acme:c0, acme:c1, acme:c2 and 3 more: no device\Z"):
        chosen()


def test_the_default_to_compile_for_is_that_of_the_emulator(use) -> None:
    use(emulator((COMPILE, LAUNCH), "", "c2"), chip("c1", (COMPILE,), "none"), chip("c2", (COMPILE,), "none"))
    assert (chosen(COMPILE), chosen()) == ("acme:c2", "acme:sim")
    use(emulator((COMPILE, LAUNCH)), chip("c1", (COMPILE,), "none"), chip("c2", (COMPILE,), "none"))
    assert chosen(COMPILE) == "acme:c1"
    here = chip("c3", (COMPILE, LAUNCH, TIME))
    use(emulator((COMPILE, LAUNCH), "", "c2"), chip("c1", (COMPILE,), "none"), chip("c2", (COMPILE,), "none"), here)
    assert (chosen(COMPILE), chosen()) == ("acme:c3", "acme:c3")


def test_why_nothing_is_compiled_beside_an_emulator(use) -> None:
    sim = emulator((COMPILE, LAUNCH))
    missing = [chip(arch, (), "no clang: get it") for arch in ("c1", "c2")]
    assert selection.why_not_compiled(use(sim, *missing), sim) == "no clang: get it"
    assert selection.why_not_compiled(use(sim), sim) == ""
    one = chip("c2", (COMPILE,), "none")
    assert selection.why_not_compiled(use(sim, chip("c1", (), "no clang"), one), sim) == ""
    assert selection.why_not_compiled(use(sim, one), one) == ""


def test_what_to_do_without_a_clock(use) -> None:
    use(emulator((COMPILE, LAUNCH)), chip("c1", (COMPILE,), "no device; needs a C1"))
    assert selection.how_to_time("acme", None).startswith("measuring needs a device (acme:c1: no device; needs a C1); ")
    assert "`kengine verify`" in selection.how_to_time("acme", None)
    use(emulator((COMPILE, LAUNCH)), chip("c1", (COMPILE, LAUNCH, TIME)))
    assert selection.how_to_time("acme", None) == ""
    assert selection.how_to_time(None, "acme:sim") == "here acme:c1 can: --target acme:c1"
    use(emulator((COMPILE, LAUNCH)))
    assert "acme has no target that measures" in selection.how_to_time("acme", None)


def test_what_was_asked_for_and_is_not_there(use) -> None:
    use(emulator((COMPILE, LAUNCH)))
    with pytest.raises(UsageError, match=r"unknown target acme:sin \(did you mean acme:sim\?\)"):
        selection.choose(None, "acme:sin", False)
