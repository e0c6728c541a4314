"""Which files of machine code are mapped."""

from __future__ import annotations

import subprocess
import sys

from kengine.provenance import mappings

CODE = """
from kengine.provenance import mappings
before = mappings.paths()
assert mappings.paths() is before, "nothing was loaded, so nothing is read"
import _sqlite3
came = mappings.paths() - before
assert any("_sqlite3" in path for path in came), came
print("seen")
"""


def test_what_is_mapped_executable_is_listed_by_its_path() -> None:
    found = mappings.paths()
    assert any("/libc" in path or "/ld-" in path for path in found)
    assert all(path.startswith("/") for path in found)


def test_a_library_that_comes_later_is_seen() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.stdout == "seen\n", done.stderr


def test_where_the_c_library_does_not_count_it_is_read_each_time(monkeypatch) -> None:
    monkeypatch.setattr(mappings, "_count", lambda: (0, 0))
    first = mappings.paths()
    assert mappings.paths() == first and mappings.paths() is not first


def test_vendors_libraries_are_told_by_the_names_of_their_files(monkeypatch):
    found = frozenset({"/usr/lib/libcublasLt.so.13", "/opt/cublas/libmine.so", "/x/libMIOpen.so.1", "/lib/libc.so.6"})
    monkeypatch.setattr(mappings, "paths", lambda: found)
    assert mappings.vendors() == {"libcublasLt.so.13", "libMIOpen.so.1"}
