"""Warming up: in the zygote everything that needs no device, in a standby runner the device itself."""

from __future__ import annotations

from contextlib import suppress

from kengine.model import Mode, Target

from kengine_triton import observe, targets
from kengine_triton.chips import EMULATED, Chip, find


def warm_up(target: Target) -> bool:
    """Import torch and Triton (one thread), mend the interpreter, and run or compile one small kernel."""
    import torch

    from kengine_triton import assembler, compile, faults, launch, occupancy, resources, session  # noqa: F401
    from kengine_triton.lint import kernels  # noqa: F401

    torch.set_num_threads(1)
    if target.arch == "interpret":
        _interpret()
        return True
    chip = find(target.arch)
    if chip is not None:
        _compile(chip)
        if targets.is_local(target):
            _build_driver(chip)
    return True


def open_device(target: Target) -> bool:
    """Open the device's context, compile and launch one kernel; nothing to do where there is no device."""
    if target.arch == "interpret":
        return True
    import torch

    if not torch.cuda.is_available():
        return True
    from kengine_triton.dummy import increment

    observe.install_compiled()
    x = torch.zeros(16, device="cuda")
    increment[(1,)](x, 16, BLOCK=16)
    torch.cuda.synchronize()
    return True


def _build_driver(chip: Chip) -> None:
    """Build and load Triton's glue to the vendor's driver, which runs a C compiler for about a second and touches no
    device; every fork has it then. Where it cannot be built the forks try for themselves, and say what is wrong."""
    from triton.backends import backends
    from triton.runtime import driver

    with suppress(Exception):
        driver.set_active(backends["amd" if chip.is_amd else "nvidia"].driver())


def _interpret() -> None:
    from kengine_triton import interpret
    from kengine_triton.host import pretend
    from kengine_triton.record.driver import StubDriver, active

    interpret.install()
    observe.install_interpreted()
    from kengine_triton.dummy import increment

    with (
        active(StubDriver(EMULATED, None)),
        pretend(EMULATED, poison=True),
        observe.observing(Mode.normal),
    ):
        import torch

        increment[(1,)](torch.zeros(16, device="cuda"), 16, BLOCK=16)


def _compile(chip: Chip) -> None:
    """Compile the small kernel for a chip: loads the compiler and its libraries, so that every fork has them."""
    import triton
    from triton.compiler import ASTSource

    from kengine_triton.dummy import increment

    observe.install_compiled()
    source = ASTSource(
        increment,
        signature={"x_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        constexprs={(2,): 16},
        attrs={(0,): [["tt.divisibility", 16]], (1,): [["tt.divisibility", 16]]},
    )
    triton.compile(source, target=chip.target(), options={})
