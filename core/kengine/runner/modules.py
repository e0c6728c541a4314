"""What a zygote imports so that none of its forks has to."""

from __future__ import annotations

import importlib
from contextlib import suppress


def import_modules(*names: str) -> None:
    """Import these modules; one that is not to be had here, or not in this version of a library, is left out."""
    for name in names:
        with suppress(ImportError):
            importlib.import_module(name)
