"""Write docs/nki-functions.md: every NKI function of both generations and what it is checked against.

python scripts/nki_coverage.py            write the page
python scripts/nki_coverage.py --check    exit with 1 if the page is out of date
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "nki-functions.md"


def main(arguments: list[str]) -> int:
    try:
        from kengine_nki.sim.coverage import render
    except ImportError:
        sys.path.insert(0, str(ROOT / "plugins" / "nki_backend"))
        from kengine_nki.sim.coverage import render
    text = render()
    if "--check" in arguments:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != text:
            print(f"{PAGE} is out of date: run python scripts/nki_coverage.py", file=sys.stderr)
            return 1
        return 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}: {text.count('| supported |')} supported, {text.count('| unsupported |')} unsupported")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 when the page is out of date")
    raise SystemExit(main(["--check"] if parser.parse_args().check else []))
