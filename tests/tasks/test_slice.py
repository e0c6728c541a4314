"""A single file in two halves: each executes by itself, and neither holds what only the other needs."""

from __future__ import annotations

import ast
import textwrap

import pytest
from kengine.errors import TaskError
from kengine.tasks.slice import slice_file
from kengine.tasks.source import parse

FUNCTION = ("reference", "make_inputs")
MODULE = ("Model", "get_inputs", "get_init_inputs")


def cut(text: str, roots: tuple[str, ...] = FUNCTION, entry: str = "candidate") -> tuple[str, str]:
    text = textwrap.dedent(text).lstrip("\n")
    halves = slice_file(parse(text, "k.py"), roots, entry)
    for half in (halves.task, halves.candidate):
        ast.parse(half)
        assert half.count("\n") == text.count("\n"), "line numbers moved"
    return halves.task, halves.candidate


def defined(text: str) -> set[str]:
    space: dict[str, object] = {}
    exec(compile(text, "half.py", "exec"), space)
    return {name for name in space if not name.startswith("__")}


def test_each_half_holds_its_own_and_line_numbers_stay() -> None:
    text = """
    import math
    import random

    EPS = 1e-6
    SCALE = 2.0


    def _mean(x):
        return sum(x) / len(x)


    def reference(x):
        return [v / math.sqrt(_mean(x) + EPS) for v in x]


    def make_inputs(seed, device, n=4):
        rng = random.Random(seed)
        return ([rng.random() * SCALE for _ in range(n)],)


    def _kernel(x):
        return math.floor(x + EPS)


    def candidate(x):
        return _kernel(x)
    """
    task, candidate = cut(text)
    assert defined(task) == {"math", "random", "EPS", "SCALE", "_mean", "reference", "make_inputs"}
    assert defined(candidate) == {"math", "EPS", "_kernel", "candidate"}
    lines = textwrap.dedent(text).lstrip("\n").split("\n")
    for half in (task, candidate):
        for ours, theirs in zip(half.split("\n"), lines):
            assert ours in ("", theirs)
    assert "sqrt" not in candidate and "_mean" not in candidate
    assert "_kernel" not in task


def test_a_local_of_the_same_name_is_no_use() -> None:
    task, candidate = cut(
        """
        def helper(x):
            return x
        def reference(x):
            helper = 3
            return helper * x
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return helper(x)
        """
    )
    assert defined(task) == {"reference", "make_inputs"}
    assert defined(candidate) == {"helper", "candidate"}


def test_decorators_defaults_annotations_and_bases_are_uses() -> None:
    task, candidate = cut(
        """
        def once(f):
            return f
        LIMIT = 3
        class Root:
            pass
        class Box(Root):
            pass
        @once
        def reference(x, k=LIMIT):
            return Box()
        def make_inputs(seed, device):
            return (1,)
        class Config:
            pass
        def wrap(f):
            return f
        @wrap
        def candidate(x: "Config"):
            return x
        """
    )
    assert defined(task) == {"once", "LIMIT", "Root", "Box", "reference", "make_inputs"}
    assert defined(candidate) == {"Config", "wrap", "candidate"}
    assert "@once" not in candidate


def test_try_imports_stay_whole() -> None:
    task, candidate = cut(
        """
        try:
            import no_such_module_at_all as fast
            HAS = True
        except ImportError:
            fast = None
            HAS = False
        def reference(x):
            return x
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return x if HAS else -x
        """
    )
    assert defined(task) == {"reference", "make_inputs"}
    assert "HAS = True" in candidate
    assert "HAS" in defined(candidate)


def test_conditional_definitions_are_split() -> None:
    task, candidate = cut(
        """
        import sys
        if sys.version_info >= (3, 0):
            NEW = True
            def reference(x):
                return x
            def candidate(x):
                return x, NEW
        else:
            def reference(x):
                return -x
        def make_inputs(seed, device):
            return (1,)
        """
    )
    assert defined(task) == {"sys", "reference", "make_inputs"}
    assert defined(candidate) == {"sys", "NEW", "candidate"}


def test_a_container_without_survivors_goes_wholly() -> None:
    _, candidate = cut(
        """
        HAS = True
        if HAS:
            def reference(x):
                return x
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return x
        """
    )
    assert defined(candidate) == {"candidate"}


def test_statements_that_share_a_line() -> None:
    task, candidate = cut(
        """
        A = 1; B = (
            2); C = 3
        def reference(x): return x + A
        def make_inputs(seed, device): return (B,)
        def candidate(x): return C + x
        """
    )
    assert defined(task) == {"A", "B", "reference", "make_inputs"}
    assert defined(candidate) == {"C", "candidate"}


def test_names_of_one_import_are_told_apart() -> None:
    task, candidate = cut(
        """
        from math import sqrt as reference, floor
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return floor(x)
        """
    )
    assert defined(task) == {"reference", "make_inputs"}
    assert defined(candidate) == {"floor", "candidate"}


def test_tests_benchmarks_and_the_script_part_go() -> None:
    _, candidate = cut(
        """
        import time
        def reference(x):
            return x
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return x
        def test_it():
            assert candidate(1) == reference(1)
        def bench():
            test_it()
            print(time.time())
        __all__ = ["candidate", "reference"]
        if __name__ == "__main__":
            bench()
        """
    )
    assert defined(candidate) == {"candidate"} | ({"time"} if "import time" in candidate else set())
    assert "reference" not in candidate and "bench" not in candidate


def test_side_effects_of_the_candidate_stay_with_it() -> None:
    task, candidate = cut(
        """
        REGISTRY = {}
        SIZES = [1]
        SIZES.append(2)
        def register(f):
            REGISTRY[f.__name__] = f
            return f
        @register
        def kernel(x):
            return x
        def reference(x):
            return x
        def make_inputs(seed, device):
            return tuple(SIZES)
        def candidate(x):
            return REGISTRY["kernel"](x)
        """
    )
    assert defined(task) == {"SIZES", "reference", "make_inputs"}
    space: dict[str, object] = {}
    exec(candidate, space)
    assert space["candidate"](5) == 5  # type: ignore[operator]
    exec(task, space)
    assert space["make_inputs"](0, "cpu") == (1, 2)  # type: ignore[operator]


def test_helpers_found_by_their_text_are_kept() -> None:
    _, candidate = cut(
        """
        def plain(x):
            return x
        def reference(x):
            return plain(x)
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return globals()["plain"](x)
        """
    )
    assert "plain" in defined(candidate)


def test_a_candidate_that_asks_the_reference_gets_none() -> None:
    _, candidate = cut(
        """
        def reference(x):
            return x
        def make_inputs(seed, device):
            return (1,)
        def candidate(x):
            return reference(x)
        """
    )
    assert defined(candidate) == {"candidate"}


def test_kernelbench_in_one_file() -> None:
    task, candidate = cut(
        """
        N = 8
        class Base:
            pass
        class Model(Base):
            def forward(self, x):
                return x
        class ModelNew(Base):
            def forward(self, x):
                return x
        batch = 4
        def get_inputs():
            return [batch, N]
        def get_init_inputs():
            return []
        """,
        MODULE,
        "ModelNew",
    )
    assert defined(task) == {"N", "Base", "Model", "batch", "get_inputs", "get_init_inputs"}
    assert defined(candidate) == {"Base", "ModelNew"}


def test_a_reference_that_uses_the_candidate_is_a_broken_task() -> None:
    with pytest.raises(TaskError, match=r"k.py:2: the reference or the inputs use 'candidate'"):
        cut(
            """
            def reference(x):
                return candidate(x)
            def make_inputs(seed, device):
                return (1,)
            def candidate(x):
                return x
            """
        )


@pytest.mark.parametrize("line", ["reference = candidate = abs", "reference, candidate = abs, abs"])
def test_one_statement_for_both_is_refused(line: str) -> None:
    with pytest.raises(TaskError, match=r"k.py:1: one statement defines both 'candidate' and reference"):
        cut(f"{line}\ndef make_inputs(seed, device):\n    return (1,)\n")


def test_future_and_star_imports_are_in_both() -> None:
    task, candidate = cut(
        """
        '''A file.'''
        from __future__ import annotations
        from math import *
        def reference(x): return sqrt(x)
        def make_inputs(seed, device): return (1,)
        def candidate(x): return floor(x)
        """
    )
    assert {"sqrt", "reference"} <= defined(task)
    assert {"floor", "candidate"} <= defined(candidate)
    assert task.split("\n")[1] == candidate.split("\n")[1] == "from __future__ import annotations"


def test_text_outside_ascii_keeps_its_columns() -> None:
    task, candidate = cut(
        """
        Ä = "ü"; ß = "é"
        def reference(x): return Ä
        def make_inputs(seed, device): return (1,)
        def candidate(x): return ß
        """
    )
    assert defined(task) == {"Ä", "reference", "make_inputs"}
    assert defined(candidate) == {"ß", "candidate"}
