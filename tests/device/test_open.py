"""A standby runner opens its device by launching what was compiled before it was forked; against a double driver."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("needs torch and triton", allow_module_level=True)

import torch
from kengine.model import Target
from kengine_triton import chips, observe, targets, warm

SM_90 = Target("triton", "sm_90")


class Driver:
    """Stands for Triton's driver of a device: loads anything, and notes what is launched."""

    def __init__(self) -> None:
        self.launched: list[tuple[Any, ...]] = []
        self.loaded: list[tuple[Any, ...]] = []
        self.utils = SimpleNamespace(load_binary=self._load)

    def _load(self, name: str, binary: bytes, shared: int, device: int) -> tuple[int, ...]:
        assert binary[:4] == b"\x7fELF"
        self.loaded.append((name, shared, device))
        return 11, 22, 16, 0, 1024

    def get_current_stream(self, device: int) -> int:
        return 77

    def launcher_cls(self, src: Any, metadata: Any) -> Any:
        assert list(src.signature) == ["x_ptr", "n", "BLOCK"] and metadata.num_warps == 4
        return lambda *args: self.launched.append(args)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Driver:
    from triton.backends import backends
    from triton.runtime import driver as config

    made = Driver()
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setitem(backends, "nvidia", SimpleNamespace(**{**vars(backends["nvidia"]), "driver": lambda: made}))
    monkeypatch.setattr(config, "_active" if hasattr(config, "_active") else "active", made)
    monkeypatch.setattr(observe, "install_compiled", lambda: None)
    monkeypatch.setattr(targets, "is_local", lambda target: target == SM_90)
    monkeypatch.setattr(warm, "_prepared", [])
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *size, device: zeros(*size))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    return made


def test_a_runner_launches_without_compiling(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    import triton

    assert warm.warm_up(SM_90)
    assert driver.loaded == []  # before the fork nothing may touch the device
    monkeypatch.setattr(triton, "compile", lambda *_, **__: pytest.fail("it compiles in the runner"))
    assert warm.open_device(SM_90)
    assert driver.loaded == [("increment", 0, 0)]
    ((x, y, z, stream, function, _, *hooks, array, n, block),) = driver.launched
    assert (x, y, z, stream, function, hooks) == (1, 1, 1, 77, 22, [None] * 3)
    assert array.tolist() == [0.0] * 16 and (n, block) == (16, 16)


def test_what_could_not_be_prepared_is_launched_as_any_kernel(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    from kengine_triton import dummy

    launched: list[Any] = []
    monkeypatch.setattr(dummy, "increment", {(1,): lambda *args, **kwargs: launched.append((args[1:], kwargs))})
    assert warm.open_device(SM_90)
    assert launched == [((16,), {"BLOCK": 16})] and driver.loaded == []
    # A Triton whose launchers are called otherwise.
    monkeypatch.setattr(warm, "_prepared", [(SimpleNamespace(), None)])
    assert warm.open_device(SM_90) and len(launched) == 2


def test_a_chip_that_is_not_here_opens_no_device(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: pytest.fail("it opens the device"))
    assert warm.open_device(Target("triton", "sm_100")) and warm.open_device(Target("triton", "interpret"))
    assert driver.launched == []


def test_a_driver_that_cannot_be_built_is_left_to_the_runners(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton.backends import backends

    def refuse() -> Any:
        raise RuntimeError("no C compiler")

    monkeypatch.setattr(warm, "_prepared", [])
    monkeypatch.setitem(backends, "nvidia", SimpleNamespace(driver=refuse))
    warm._build_driver(chips.find("sm_90"), object())
    assert warm._prepared == []
