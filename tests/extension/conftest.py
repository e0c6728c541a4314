"""One cache of tools a session; extensions are built for the emulator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine.extension import Extension, Settings, load_inline, warm  # noqa: E402
from kengine.simt import CompilerMissing  # noqa: E402
from kengine.simt.toolchain import find_compiler  # noqa: E402

Load = Callable[..., Extension]


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings without torch's own headers; KENGINE_TEST_EXTENSION_CACHE keeps the cache between sessions."""
    try:
        find_compiler()
    except CompilerMissing as error:
        pytest.skip(str(error))
    torch.set_num_threads(1)
    kept = os.environ.get("KENGINE_TEST_EXTENSION_CACHE")
    made = Settings(cache=Path(kept) if kept else tmp_path_factory.mktemp("extension"), full_headers=False)
    warm(made)
    return made


@pytest.fixture
def load(settings: Settings) -> Load:
    """`load_inline` of a device source whose functions are declared by their own text."""

    def load_it(device: str, *declarations: str, host: str = "", check: bool = False, **options: Any) -> Extension:
        names = [d.split("(")[0].split()[-1].lstrip("&*") for d in declarations]
        cpp = host + "\n" + "\n".join(f"{d};" for d in declarations)
        options.setdefault("functions", names or None)
        how = options.pop("settings", replace(settings, check=check))
        return load_inline("under_test", cpp, device, settings=how, **options)

    return load_it


@pytest.fixture
def knock_out() -> Iterator[Callable[[Extension, Any], None]]:
    """Set the mode of launches until the test ends."""
    changed: list[Extension] = []

    def set_it(extension: Extension, mode: Any) -> None:
        changed.append(extension)
        extension.set_mode(mode)

    yield set_it
    for extension in changed:
        extension.set_mode("normal")
