"""What the tests of the CUDA plugin share."""

from __future__ import annotations

import pytest
from alone import run_alone


def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """The interposer counts what a whole process launches: such a test has one to itself."""
    return run_alone(pyfuncitem) if pyfuncitem.path.name == "test_interpose.py" else None
