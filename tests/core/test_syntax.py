"""Parsing in several threads."""

from __future__ import annotations

import ast
import gc
import threading

import pytest
from kengine.syntax import parse_tree


def test_trees_and_errors_are_pythons_own() -> None:
    assert ast.dump(parse_tree("x = 1 + 2")) == ast.dump(ast.parse("x = 1 + 2"))
    assert isinstance(parse_tree("a + b", mode="eval"), ast.Expression)
    with pytest.raises(SyntaxError):
        parse_tree("x = = 1")


@pytest.mark.parametrize("tail", [".a", "()", "[0]", "+a"])
def test_a_tree_that_no_compiler_goes_down_is_refused_by_every_python(tail: str) -> None:
    with pytest.raises(RecursionError):
        parse_tree("a" + tail * 100_000)
    tree = parse_tree("a" + tail * 500)
    assert len(tree.body) == 1 and compile(tree, "kernel.py", "exec")


def test_another_thread_in_the_middle_of_a_tree_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    parse, calls = ast.parse, []

    def disturbed(*args: object, **kwargs: object) -> object:
        calls.append(1)
        if len(calls) < 3:
            raise SystemError("AST constructor recursion depth mismatch (before=171, after=46)")
        return parse(*args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(ast, "parse", disturbed)
    assert parse_tree("x").body and len(calls) == 3
    monkeypatch.setattr(ast, "parse", lambda *_, **__: (_ for _ in ()).throw(SystemError("broken")))
    with pytest.raises(SystemError, match="broken"):
        parse_tree("x")


def test_many_threads_while_objects_are_collected() -> None:
    text = "def f(a, b):\n" + "\n".join(f"    x{n} = (a + {n}) * [b, ({n},)][0]" for n in range(150))
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(6):
                parse_tree(text)
        except BaseException as error:
            failures.append(error)

    before = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
    assert failures == []


def test_a_finaliser_that_parses_in_the_middle_of_a_tree() -> None:
    text = "\n".join(f"x{n} = (a + {n}) * [b, ({n},)][0]" for n in range(300))

    class Ring:
        def __init__(self) -> None:
            self.ring = self

        def __del__(self) -> None:
            ast.parse("def f(x):\n    return x")

    before = gc.get_threshold()
    gc.set_threshold(60, 2, 2)
    try:
        for _ in range(3):
            Ring()
            assert len(parse_tree(text, filename="kernel.py").body) == 300
    finally:
        gc.set_threshold(*before)


def test_an_error_names_the_file_it_was_given() -> None:
    with pytest.raises(SyntaxError) as caught:
        parse_tree("x = = 1", filename="kernel.py")
    assert (caught.value.filename, caught.value.lineno) == ("kernel.py", 1)
