"""The page shows code of the example as it is."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "backend_in_an_afternoon.md").read_text()
EXAMPLE = ROOT / "examples" / "third_party_backend"


def test_every_piece_of_code_stands_in_the_example() -> None:
    sources = {path: path.read_text() for path in EXAMPLE.rglob("*.py")}
    blocks = re.findall(r"^```py\n(.*?)^```", PAGE, re.M | re.S)
    assert len(blocks) >= 8
    for block in blocks:
        assert any(block.strip("\n") in text for text in sources.values()), block


def test_the_entry_point_is_that_of_the_example() -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
    text = (EXAMPLE / "pyproject.toml").read_text()
    for line in block.splitlines():
        assert line in text, line
