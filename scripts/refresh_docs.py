"""Run the commands that documents show and put what they print in the place of what stands there.

A block is refreshed when it opens with ```console and its first line is `$ kengine ...`; one that opens with
```console device is left alone where there is no device, and ```console MODULE where that module is not installed.
Usage: refresh_docs.py FILES...
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

BLOCK = re.compile(r"^```console(?P<needs>[^\n]*)\n\$ (?P<command>kengine [^\n]*)\n(?P<output>.*?)^```$", re.M | re.S)


def refresh(text: str, cwd: Path) -> str:
    """Return the text of a document with every block brought up to date; commands run in `cwd`."""

    def replace(block: re.Match[str]) -> str:
        needs = block["needs"].split()
        if "device" in needs and shutil.which("nvidia-smi") is None:
            return block[0]
        if any(name != "device" and find_spec(name) is None for name in needs):
            return block[0]
        return f"```console{block['needs']}\n$ {block['command']}\n{run(block['command'], cwd)}```"

    return BLOCK.sub(replace, text)


def run(command: str, cwd: Path) -> str:
    """What a command prints, stdout and stderr together, 100 columns wide."""
    environ = {**os.environ, "COLUMNS": "100", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command], cwd=cwd, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())


def main(names: list[str]) -> int:
    """Refresh the named files and say which changed."""
    root = Path(__file__).resolve().parent.parent
    for name in names:
        path = Path(name)
        before = path.read_text()
        after = refresh(before, root)
        if after != before:
            path.write_text(after)
        print(f"{name}: {'refreshed' if after != before else 'as it was'}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="documents to refresh")
    sys.exit(main(parser.parse_args().files))
