"""What every mode of PyTorch's dispatcher here has in common."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode


class DispatchMode(TorchDispatchMode):  # type: ignore[misc]
    """A mode that sees operators and does not have PyTorch import its compiler, which takes seconds, on the first."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False
