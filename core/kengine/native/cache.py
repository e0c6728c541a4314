"""Where the emulator's parts lie that are built once for a machine, and how runners get at them.

The folder is written by trusted processes only (a zygote that warms up). A runner works in a folder of its own, with
links to these parts, so that what one candidate builds is never seen by another.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import os
import shutil
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kengine.errors import InfraError
from kengine.native import retention
from kengine.native.driver import Dialect
from kengine.native.retention import UNUSED_S

VARIABLE = "KENGINE_CACHE"
"""Environment variable that names the folder."""

_prepared: list[Path] = []
"""What `prepare` built in this process or the one that it was forked from: runners are other users elsewhere."""


def shared_folder() -> Path:
    """The folder of this machine: KENGINE_CACHE, else /var/cache/kengine for root and ~/.cache/kengine for others."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named).absolute()
    if os.geteuid() == 0:
        return Path("/var/cache/kengine")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kengine"


def parts_folder() -> Path:
    """The folder of the parts that belong to this version, compiler, processor and torch; made where it is missing.

    Runners link to all that lies in it, so each combination has one of its own. It is in use from now on until this
    process ends; of others that nobody uses the last few stay (`kengine.native.retention`).

    Raises kengine.simt.CompilerMissing, UsageError for KENGINE_CACHE_VERSIONS, InfraError where the disk
    is full, OSError.
    """
    from kengine.simt.toolchain import identity

    digest = hashlib.sha256(identity().encode())
    if importlib.util.find_spec("torch") is not None:
        from kengine.extension import toolkit

        digest.update(toolkit.identity().encode())
    folder = shared_folder() / "simt" / digest.hexdigest()[:16]
    with telling_full(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        retention.hold(folder)
        folder.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # another user's
        os.utime(folder)
    retention.remove_others(folder.parent, folder)
    retention.remove_unfinished(folder)
    return folder


@contextlib.contextmanager
def telling_full(folder: Path) -> Iterator[None]:
    """Inside the block, a disk that is full is the machine's fault: InfraError, with the folder and what to do."""
    from kengine.simt import CompilerUnusable

    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise _full(folder, os.strerror(error.errno)) from None
    except CompilerUnusable as error:
        said = next((word for word in map(os.strerror, (errno.ENOSPC, errno.EDQUOT)) if word in error.log), None)
        if said is None:
            raise
        raise _full(folder, said) from None


def _full(folder: Path, said: str) -> InfraError:
    place = next((p for p in (folder, *folder.parents) if p.exists()), folder)
    free = shutil.disk_usage(place).free >> 20
    return InfraError(
        f"{said}: {folder} cannot hold what the emulator's candidates share (about 1 GB; {free} MB are free); make "
        f"room there or in {os.environ.get('TMPDIR', '/tmp')}, or name another folder in {VARIABLE}"
    )


def remove_unused(folder: Path) -> None:
    """Remove what lies in a folder and was not touched for UNUSED_S seconds."""
    oldest = time.time() - UNUSED_S
    for part in folder.iterdir():
        with contextlib.suppress(OSError):  # another process removes it too, or it is another user's
            if part.stat().st_mtime < oldest:
                shutil.rmtree(part) if part.is_dir() else part.unlink()


def prepare(lanes: int, dialect: Dialect) -> Path:
    """Build the runtime and the precompiled headers of one dialect, load the runtime, and let runners read them.

    Takes some ten seconds once on a machine. Raises kengine.simt.CompilerMissing or CompilerUnusable, InfraError where
    the disk is full, OSError.
    """
    from kengine.simt.runtime import load_runtime
    from kengine.simt.toolchain import Mode, precompiled_header, runtime_library

    folder = parts_folder()
    modes = [Mode(lanes, dialect == "hip", check, lockstep) for check in (True, False) for lockstep in (False, True)]
    with telling_full(folder):
        library = runtime_library(folder)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda mode: precompiled_header(mode, folder), modes))
        load_runtime(library)
        _prepare_extensions(lanes, dialect, folder)
    publish(folder)
    return folder


def publish(folder: Path) -> None:
    """Let runners that are forked later read a folder, and have links to its parts."""
    from kengine.runner.sandbox import paths

    open_to_all(folder)
    paths.share(str(folder))
    _prepared[:] = [folder]


def _prepare_extensions(lanes: int, dialect: Dialect, folder: Path) -> None:
    """The same for extensions of torch, where torch is installed."""
    if importlib.util.find_spec("torch") is None:
        return
    from kengine.extension import Settings, precompiled, toolkit, warm
    from kengine.simt import CompileError
    from kengine.simt.toolchain import unusable

    for check in (True, False):
        settings = Settings(cache=folder, dialect=dialect, lanes=64 if lanes == 64 else 32, check=check)
        try:
            warm(settings)
        except CompileError as error:
            raise unusable(error) from None
        toolkit.offer(settings)
        precompiled.offer(settings)


def make_private(workdir: Path) -> Path:
    """A folder inside `workdir` with links to everything that `prepare` built. Safe to call again.

    Raises kengine.simt.CompilerMissing where nothing was prepared and there is no compiler.
    """
    shared = _prepared[0] if _prepared else parts_folder()
    own = workdir / ".kengine" / "simt"
    own.mkdir(parents=True, exist_ok=True)
    if shared.is_dir():
        for part in shared.iterdir():
            link = own / part.name
            shared_part = not part.name.startswith(("program-", "tmp")) and part.suffix not in (".lock", ".part")
            if shared_part and not link.exists():
                link.symlink_to(part)
    return own


def open_to_all(folder: Path) -> None:
    """Make a folder and all in it readable for the users that runners become, whatever the umask was."""
    for place in (folder, *folder.rglob("*")):
        try:
            mode = place.stat().st_mode
            wanted = mode | (0o555 if stat.S_ISDIR(mode) else 0o444)
            if wanted != mode:
                place.chmod(wanted)
        except OSError:
            continue
