"""Where the keys of a curate.toml stand, so that errors can name file and line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path


class Places:
    """Where the keys of a curate.toml stand. given: keys that the command line says instead."""

    def __init__(self, path: Path, text: str, given: Sequence[str] = ()) -> None:
        self.path = path
        self.text = text
        self._lines = {key: line for key, line in _find_lines(text) if key not in given}
        self._given = tuple(given)

    def find(self, key: str, value: str = "") -> str:
        """`FILE:LINE: ` of a key, or of what stands nearest to it; `--set: ` for one of the command line."""
        if not self._lines and not self._given:
            return ""
        place = re.sub(r"\[(['\"])(.*?)\1\]", r".\2", key)  # a key of a table, as errors of records name it
        if any(place == name or place.startswith((f"{name}.", f"{name}[")) for name in self._given):
            return "--set: "
        while place and place not in self._lines:
            shorter = re.sub(r"(\.[^.\[]*|\[[^\]]*\]|^[^.\[]*)$", "", place)
            place = shorter if shorter != place else ""
        line = self._lines.get(place, 1)
        return f"{self.path}:{self._item(line, value) if value else line}: "

    def _item(self, line: int, value: str) -> int:
        """The line of an item of a list that begins on `line`, up to where the next key or table stands."""
        starts = sorted(n for n in self._lines.values() if n > line)
        lines = self.text.split("\n")
        end = starts[0] if starts else len(lines) + 1
        quoted = (f'"{value}"', f"'{value}'")
        return next((n for n in range(line, end) if any(q in lines[n - 1] for q in quoted)), line)


def _find_lines(text: str) -> Iterator[tuple[str, int]]:
    """Dotted keys as they stand in a TOML text, `source[0].path`, with their 1-based lines; the first one counts."""
    section, counts, seen = "", dict[str, int](), set[str]()
    for number, line in enumerate(text.split("\n"), 1):
        head = re.match(r"\s*(\[\[?)\s*([A-Za-z0-9_.\"' -]+?)\s*\]", line)
        if head:
            section = re.sub(r"[\"' ]", "", head[2])
            if head[1] == "[[":
                counts[section] = counts.get(section, -1) + 1
                section = f"{section}[{counts[section]}]"
            keys = [section]
        else:
            key = re.match(r"\s*[\"']?([A-Za-z0-9_.-]+)[\"']?\s*=", line)
            keys = [f"{section}.{key[1]}" if section else key[1]] if key else []
        for key_ in keys:
            for spelling in (key_, key_.replace("-", "_")):
                if spelling not in seen:
                    seen.add(spelling)
                    yield spelling, number
