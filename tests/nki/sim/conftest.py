"""Make the package importable from a checkout."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("ml_dtypes")

try:
    import kengine_nki.sim  # noqa: F401
except ImportError:
    sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "plugins" / "nki_backend"))
    for name in [n for n in sys.modules if n.partition(".")[0] == "kengine_nki"]:
        del sys.modules[name]
sys.path.insert(0, str(Path(__file__).parent))
