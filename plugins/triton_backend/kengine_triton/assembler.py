"""What ptxas says of each kernel while Triton compiles it: its log is read before Triton throws it away.

Asking ptxas once more for the same text would cost as much as compiling, and a quarter of a verdict's processor time.
"""

from __future__ import annotations

import hashlib
import subprocess
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_LOGS: dict[str, str] = {}


def install() -> None:
    """Listen to the assembler of this process from now on; safe to call again."""
    from triton.backends import backends

    # Through the class, since some versions of Triton load this module a second time, under another name.
    names = backends["nvidia"].compiler.make_cubin.__globals__
    if not isinstance(names["subprocess"], SimpleNamespace):
        names["subprocess"] = SimpleNamespace(**{**vars(subprocess), "run": _run})


def log_of(cubin: bytes) -> str | None:
    """What ptxas printed when it made this binary; None when it was made elsewhere."""
    return _LOGS.get(_key(cubin))


def _run(command: Any, *args: Any, **options: Any) -> Any:
    done = subprocess.run(command, *args, **options)
    with suppress(OSError, TypeError, ValueError, IndexError, AttributeError):
        # Triton directs ptxas's words into a named file, and names the binary last.
        words = Path(options["stderr"].name).read_text(errors="replace") if "stderr" in options else ""
        if "-v" in command and "Compiling entry function" in words:
            _LOGS[_key(Path(command[-1]).read_bytes())] = words
    return done


def _key(cubin: bytes) -> str:
    return hashlib.sha256(cubin).hexdigest()
