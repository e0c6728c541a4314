"""What a runner may read: the interpreter, installed packages, the system, and the packages that are loaded already.

User folders are never among them. A folder on `sys.path` that is a project, not an installation, may hold task files
beside its packages; of such a folder only the packages in use are readable.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable

SYSTEM = (
    "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/etc", "/opt", "/sys", "/nix/store", "/gnu/store",
)  # fmt: skip
"""Folders of the system itself."""

_shared: set[str] = set()


def share(path: str) -> None:
    """Let runners read one more folder: for what warming up has built. Call it before they are forked."""
    _shared.add(os.path.abspath(path))


def readable() -> tuple[str, ...]:
    """List the paths, each of which exists, none of them inside another. Call it after everything is imported."""
    installed = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sysconfig.get_paths().values()}
    installed |= {p for p in (*sys.path, *site.getsitepackages()) if _is_installation(p)}
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    found = {*SYSTEM, *(p for p in (*installed, *libraries) if os.path.isabs(p) and not _is_home(p))}
    outer = _outermost(found | _shared)
    return _outermost([*outer, *_packages(outer)])


def _is_installation(path: str) -> bool:
    if not path or not os.path.isabs(path):
        return False
    if os.path.isfile(path):  # a zip file of modules
        return True
    if os.path.basename(os.path.normpath(path)) in ("site-packages", "dist-packages", "lib-dynload"):
        return True
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(path))
    except OSError:
        return False


def _is_home(path: str) -> bool:
    """Whether a path is so high up that users' own files lie beneath it."""
    real = os.path.realpath(path)
    return real in ("/", "/home", "/root", "/tmp", "/var", "/mnt", "/media", "/srv", os.path.expanduser("~"))


def _packages(covered: tuple[str, ...]) -> set[str]:
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not os.path.isabs(file) or "." in name or _inside(file, covered):
            continue
        found.add(os.path.dirname(file) if os.path.basename(file).startswith("__init__.") else file)
    for name, module in list(sys.modules.items()):
        if "." not in name and getattr(module, "__file__", None) is None:
            # A package without __init__ has folders only.
            places = getattr(module, "__path__", ())
            found |= {p for p in places if os.path.isabs(p) and not _inside(p, covered) and not _is_home(p)}
    return found


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for path in sorted({os.path.normpath(p) for p in paths if os.path.exists(p)}, key=len):
        if not _inside(path, kept):
            kept.append(path)
    return tuple(kept)


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(path == f or path.startswith(f.rstrip("/") + "/") for f in folders)
