"""A torch mode under which a reference's own `float32` means float64, so that nothing narrows an exact run."""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_WIDER = {torch.float32: torch.float64, torch.complex64: torch.complex128}


class Widening(TorchFunctionMode):  # type: ignore[misc]
    """Replaces float32 by float64 in casts and factories. Narrower dtypes stay: a task may round on purpose."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.Tensor.float:
            return args[0].double()
        if func is torch.Tensor.view or func is torch.Tensor.view_as:
            return func(*args, **kwargs)
        args = tuple(_wider(a) for a in args)
        kwargs = {k: _wider(v) for k, v in kwargs.items()}
        return func(*args, **kwargs)


def _wider(value: Any) -> Any:
    return _WIDER.get(value, value) if isinstance(value, torch.dtype) else value
