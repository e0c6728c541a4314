"""Which language a file of a candidate is in: by the suffix of its name, or by what its text holds."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Literal, cast

from kengine.tasks.cfamily import SUFFIXES, blank_comments
from kengine.tasks.source import SourceError, parse

Language = Literal["python", "cuda", "hip"]

_NAMES = {"python": "candidate.py", "cuda": "candidate.cu", "hip": "candidate.hip"}
_PYTHON = re.compile(
    r"^(?:import \w|from [\w.]+ import\b|(?:async )?def \w+\s*\(|class \w+[^{;\n]*:\s*$|@\w)", re.MULTILINE
)
_NATIVE = re.compile(r"^\s*#(?: ?include\s*[<\"]|pragma\b|define\b)|\b__(?:global|device|shared)__\b|^extern \"C\"",
                     re.MULTILINE)  # fmt: skip
_HIP = re.compile(r"^\s*#\s*include\s*[<\"]hip/|\bhip[A-Z]\w+\s*\(|\bHIP_\w+", re.MULTILINE)


def read_suffix(name: str) -> Language:
    """The language that the suffix of a file's name says: .cu and .cuh, .hip, else Python."""
    return cast("Language", SUFFIXES.get(PurePath(name).suffix.lower(), "python"))


def guess_language(text: str) -> Language:
    """The language of a candidate's text: Python if it parses as such or begins lines as Python does, else CUDA or HIP
    if it holds what only these have; Python for what is none of them.

    CUDA text inside the strings of Python is Python's. HIP is told from CUDA by its headers and functions.
    """
    if not _NATIVE.search(text):
        return "python"
    try:
        if parse(text, "").tree.body:
            return "python"
    except SourceError:
        pass
    code = blank_comments(text, strings=False)
    if _PYTHON.search(code) or not _NATIVE.search(code):
        return "python"
    return "hip" if _HIP.search(code) else "cuda"


def name_file(text: str) -> str:
    """What the file of a candidate without a name is called, so that its suffix tells the language of its text."""
    return _NAMES[guess_language(text)]
