"""Write core/kengine/schemas/*.json from the records; `--check` only says whether they are up to date."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "core"))

from kengine.schema import PUBLISHED, describe, file_name  # noqa: E402

FOLDER = ROOT / "core" / "kengine" / "schemas"


def render() -> dict[str, str]:
    """Text of each schema file by name."""
    return {file_name(record): json.dumps(describe(record), indent=2) + "\n" for record in PUBLISHED}


def main() -> int:
    """Write or check; 1 when a file differs from the records."""
    texts = render()
    there = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    stale = sorted(name for name in texts if there.get(name) != texts[name])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 when a file is out of date")
    if parser.parse_args().check:
        print("\n".join(f"schemas/{name} differs; run scripts/write_schemas.py" for name in stale) or "up to date")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(texts[name])
        print(f"wrote schemas/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
