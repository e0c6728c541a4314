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
