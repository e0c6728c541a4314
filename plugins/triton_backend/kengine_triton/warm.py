"""Warming up: in the zygote everything that needs no device, in a standby runner the device itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kengine.model import Mode, Target

from kengine_triton import glue, interpretation, observe, targets
from kengine_triton.chips import EMULATED, Chip, find

_GUARDED = (
    "triton", "triton.testing", "triton.runtime.jit", "triton.runtime.jit.JITFunction", "triton.runtime.autotuner",
    "triton.runtime.autotuner.Autotuner", "triton.runtime.interpreter", "triton.runtime.interpreter.GridExecutor",
    "triton.compiler.compiler", "triton.compiler.compiler.CompiledKernel", "triton.language",
)  # fmt: skip
"""Where a candidate could replace what launches its kernels or measures them."""

_COMPILING = (
    "triton.compiler.code_generator", "triton.experimental.gluon.nvidia.hopper", "kengine_triton.record.linker",
    "kengine_triton.interpret.unsupported", "triton.tools.tensor_descriptor",
    "kengine_triton.interpret.references",
)  # fmt: skip
"""What a first compile imports; Triton does with a whole second language, to know its descriptors, for 50 ms."""
_PRETENDING = (
    "kengine_triton.host", "kengine_triton.record.driver", "kengine_triton.interpret.autotune",
    "kengine_triton.interpret.warmup", "kengine_triton.interpret.memory", "kengine.pretence.cuda",
    "kengine.pretence.tensors",
)  # fmt: skip
_TIMING = ("kengine_triton.time", "kengine.device.timing", "kengine.device.rapid", "kengine.device.trace")


def warm_up(target: Target) -> bool:
    """Import torch and Triton (one thread), mend the interpreter, and run or compile one small kernel."""
    import torch
    import triton.testing  # noqa: F401
    from kengine.runner import state, watch
    from kengine.runner.modules import import_modules

    from kengine_triton import assembler, compile, faults, launch, occupancy, resources, session  # noqa: F401
    from kengine_triton.lint import kernels  # noqa: F401

    import_modules("torch.utils._device")
    torch.set_num_threads(1)
    watch.trust("triton")
    state.include(*_GUARDED)
    interpretation.hold(target.arch == "interpret")
    if target.arch == "interpret":
        _interpret()
        return True
    import_modules(*_COMPILING, *(_TIMING if targets.is_local(target) else _PRETENDING))
    chip = find(target.arch)
    if chip is not None:
        kernel = _compile(chip)
        if targets.is_local(target):
            _build_driver(chip, kernel)
    return True


_prepared: list[tuple[Any, Any]] = []
"""The small kernel, compiled before the fork, and what launches it; empty where that could not be prepared."""


def open_device(target: Target) -> bool:
    """Open the device's context and launch one kernel; nothing to do where the target's device is not."""
    if target.arch == "interpret" or not targets.is_local(target):
        return True
    import torch

    observe.install_compiled()
    x = torch.zeros(16, device="cuda")
    if not any(_launch(kernel, launcher, x) for kernel, launcher in _prepared):
        from kengine_triton.dummy import increment

        increment[(1,)](x, 16, BLOCK=16)
    torch.cuda.synchronize()
    return True


def _launch(kernel: Any, launcher: Any, x: Any) -> bool:
    """Load and launch what was compiled before the fork: compiling it in every runner would take each of them half a
    second of a processor. False where this Triton does it in another way."""
    import torch
    from triton.runtime import driver

    try:
        device = torch.cuda.current_device()
        loaded = driver.active.utils.load_binary(kernel.name, kernel.kernel, kernel.metadata.shared, device)
        stream = driver.active.get_current_stream(device)
        launcher(1, 1, 1, stream, loaded[1], kernel.packed_metadata, None, None, None, x, 16, 16)
    except (AttributeError, TypeError, ValueError, IndexError):
        return False
    return True


def _build_driver(chip: Chip, kernel: Any) -> None:
    """Build and load Triton's glue to the vendor's driver and the launcher of the small kernel, which runs a C compiler
    for about a second and touches no device; every fork has them then. Where they cannot be built the forks try for
    themselves, and say what is wrong."""
    from kengine.native import cache
    from kengine.runner.sandbox import paths
    from triton.backends import backends
    from triton.runtime import driver

    glue.install()
    headers = cache.shared_folder() / "launchers"
    with suppress(Exception), glue.compiling_ahead(headers):
        driver.set_active(backends["amd" if chip.is_amd else "nvidia"].driver())
        _prepared.append((kernel, driver.active.launcher_cls(kernel.src, kernel.metadata)))
    if headers.is_dir():
        cache.open_to_all(headers)
        cache.remove_unused(headers)
        paths.share(str(headers))


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


def _compile(chip: Chip) -> Any:
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
    return triton.compile(source, target=chip.target(), options={})
