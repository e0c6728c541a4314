"""The arguments of the benchmarks: a few optional ones by position, with `--help` and a plain error for what is wrong."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


def read(
    about: str | None, given: Sequence[str] | None = None, *, least: int = 1, **defaults: Any
) -> argparse.Namespace:
    """Read `given`, or those of the command. Each keyword is an argument, of its default's type.

    A list or tuple of texts allows one of these, the first by default. Whole numbers may have commas and are at least
    `least`. `about`: the benchmark's own description.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in defaults.items():
        label = name.rstrip("_").upper()
        if isinstance(default, (list, tuple)):
            parser.add_argument(name, nargs="?", choices=default, default=default[0])
            continue
        kind = whole(least) if type(default) is int else type(default)
        shown = f"default: {default:,}" if type(default) is int else f"default: {default}"
        parser.add_argument(name, nargs="?", metavar=label, type=kind, default=default, help=shown)
    return parser.parse_args(given)


def whole(least: int) -> Any:
    """A type for argparse: whole numbers from `least` on, with or without commas."""

    def read_number(text: str) -> int:
        try:
            number = int(text.replace(",", ""))
        except ValueError:
            raise argparse.ArgumentTypeError(f"want a whole number, got {text!r}") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"want at least {least}, got {number}")
        return number

    return read_number
