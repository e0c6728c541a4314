"""How Triton's small C modules are built: its launchers, one for each signature, in every process that launches one.

Up to Triton 3.6 each candidate waits for the C compiler at its first launch. Unoptimised the modules are built in half
the time, and a launch takes no longer that any clock here could tell: they hand a few numbers to the driver.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence

_FLAGS = ("-O0", "-pipe", "-shared", "-fPIC", "-w")


def install() -> bool:
    """Have this process build them so; False where this Triton has no place for it, or no C compiler is found."""
    try:
        from triton import knobs
    except ImportError:
        return False
    if not hasattr(getattr(knobs, "build", None), "impl") or not _compiler():
        return False
    knobs.build.impl = build
    return True


def build(
    name: str,
    source: str,
    folder: str,
    library_dirs: Sequence[str],
    include_dirs: Sequence[str],
    libraries: Sequence[str],
) -> str:
    """Compile a C file into a module in `folder`; its path. Raises CalledProcessError with what the compiler says."""
    scheme = sysconfig.get_default_scheme()
    python = sysconfig.get_paths(scheme="posix_prefix" if scheme == "posix_local" else scheme)["include"]
    module = os.path.join(folder, f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    command = [_compiler(), source, *_FLAGS, "-o", module]
    command += [
        f"-l:{library}" if ".so" in library or library.endswith(".a") else f"-l{library}" for library in libraries
    ]
    command += [f"-L{path}" for path in library_dirs]
    command += [f"-I{path}" for path in (*include_dirs, folder, python) if path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)
    return module


def _compiler() -> str:
    return os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or shutil.which("cc") or ""
