"""What the tests of the CUDA plugin share."""

from __future__ import annotations

import pytest
from alone import run_alone


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Tests of extensions run as their candidates do: one to a process."""
    return run_alone(pyfuncitem) if pyfuncitem.path.name == "test_interpose.py" else None
