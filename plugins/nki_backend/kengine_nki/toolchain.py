"""The packages of the Neuron SDK on this machine, told from the placeholders of the same names on the public index.

Nothing is imported: what a package holds is read from its folder.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from kengine.plugins.probe import probe

INSTALL = "pip install nki neuronx-cc --extra-index-url=https://pip.repos.neuron.amazonaws.com"
DEVICE = Path("/dev/neuron0")

_LOOK = """
import json, re, subprocess
try:
    done = subprocess.run(["neuron-ls", "--json-output"], capture_output=True, text=True, timeout=8)
    text = done.stdout + done.stderr
except OSError:
    text = ""
found = re.search(r"(trn|inf)[ -]?([123])", text, re.IGNORECASE)
print(json.dumps({"chip": (found.group(1) + found.group(2)).lower() if found else ""}))
"""


@dataclass(frozen=True)
class Package:
    """One generation's package: whether a real one is installed, its version, and why not ("" when it is)."""

    installed: bool
    version: str = ""
    problem: str = ""


def find_new() -> Package:
    """The standalone package `nki`."""
    return _find("nki", "nki", ("language", "isa"))


def find_old() -> Package:
    """`neuronxcc.nki`, which the compiler's package `neuronx-cc` carries."""
    return _find("neuronxcc", "neuronx-cc", ("nki",))


def has_compiler() -> bool:
    """Whether the compiler `neuronxcc` is installed for real."""
    return find_old().installed


def can_simulate(package: Package) -> bool:
    """Whether a standalone package has `nki.simulate`, which came with 0.3."""
    numbers = re.match(r"(\d+)\.(\d+)", package.version)
    return package.installed and (numbers is None or (int(numbers[1]), int(numbers[2])) >= (0, 3))


def find_device() -> str:
    """The chip of this machine (`trn1`, `trn2`, `trn3`; Inferentia2 counts as trn1), "" without one."""
    if not DEVICE.exists():
        return ""
    answer = probe(_LOOK).value
    chip = str(answer.get("chip", "")) if isinstance(answer, dict) else ""
    return "trn1" if chip == "inf2" else chip


def find_profiler() -> str:
    """Path of the tool that measures a NEFF on the device, "" without one."""
    return shutil.which("neuron-profile") or shutil.which("neuron-explorer") or ""


def _find(module: str, distribution: str, parts: tuple[str, ...]) -> Package:
    version = _version(distribution)
    folder = _folder(module)
    names = {entry.partition(".")[0] for entry in os.listdir(folder)} if folder is not None else set()
    if folder is not None and names >= set(parts):
        return Package(True, version)
    if version or folder is not None:
        found = f"the installed {distribution} {version}".rstrip()
        return Package(False, version, f"{found} is the placeholder of pypi.org, which holds nothing; {INSTALL}")
    return Package(False, "", f"no package {distribution}; {INSTALL} (those on pypi.org hold nothing)")


def _folder(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return next((Path(p) for p in places if os.path.isdir(p)), None)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""
