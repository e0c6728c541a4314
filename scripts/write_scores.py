"""Put the scores that `kengine selftest --json` printed into docs/integrity.md.

    kengine selftest --json > scores.jsonl; python scripts/write_scores.py scores.jsonl

A target that is not among them keeps the line that it has.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "integrity.md"
RATES = ("target", "hacks", "accepted", "accepted, lint off", "honest", "refused", "not run", "as of")
LETTERS = "ABCDEFGHIJ"


def rates(score: dict[str, Any]) -> list[str]:
    """The line of one target in the table of rates."""
    full, bare = score["full"], score["lint_off"]
    target = f"`{score['target']}`" + (" (emulator)" if score["emulated"] else "")
    return [
        target,
        str(full["false_accepts"]["of"]),
        str(full["false_accepts"]["count"] + full["other_status"]["count"]),
        f"{bare['false_accepts']['count']} of {bare['false_accepts']['of']}" if bare else "-",
        str(full["false_rejects"]["of"]),
        str(full["false_rejects"]["count"]),
        str(sum(1 for entry in score["entries"] if entry["not_run"])),
        score["when"],
    ]


def letters(score: dict[str, Any]) -> list[str]:
    """The line of one target in the table by letters: hacks that were judged, and how many of them were accepted."""
    judged = [e for e in score["entries"] if e["kind"] == "hack" and e["full"]]
    cells = []
    for letter in LETTERS:
        found = [e for e in judged if e["letter"].startswith(letter)]
        accepted = sum(e["miss"] == "false accept" for e in found)
        cells.append(f"{accepted} of {len(found)}" if found else "-")
    return [f"`{score['target']}`", *cells]


def merge(text: str, mark: str, headers: tuple[str, ...], rows: list[list[str]]) -> str:
    """The page with these rows in the table between `<!-- mark -->` and the next marker; others in it stay.

    Raises SystemExit when the page has no such table.
    """
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end -->)", re.S)
    found = pattern.search(text)
    if found is None:
        raise SystemExit(f"{PAGE} has no table between <!-- {mark} --> and <!-- end -->")
    kept = re.findall(r"^\| (`[^`]+`.*) \|$", found[0], re.M)
    table = {line.split("`")[1]: line for line in kept}
    table.update({row[0].split("`")[1]: " | ".join(row) for row in rows})
    lines = [f"| {' | '.join(headers)} |", f"|{'---|' * len(headers)}", *(f"| {table[key]} |" for key in sorted(table))]
    return text[: found.start()] + found[1] + "\n".join(lines) + "\n" + found[2] + text[found.end() :]


def main(paths: list[str]) -> None:
    """Read the scores and write the page."""
    scores = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines() if line.strip()]
    if not scores:
        raise SystemExit(__doc__)
    text = PAGE.read_text()
    text = merge(text, "rates", RATES, [rates(score) for score in scores])
    text = merge(text, "letters", ("accepted", *LETTERS), [letters(score) for score in scores])
    PAGE.write_text(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scores", nargs="+", metavar="FILE", help="files of scores, JSON lines")
    main(parser.parse_args().scores)
