"""What expressions are called, what constants come to, and what the entry reaches."""

from __future__ import annotations

import ast
import textwrap

import pytest
from kengine.lint.source import SourceTree


def tree(text: str, entry: str = "candidate") -> SourceTree:
    text = textwrap.dedent(text)
    return SourceTree(text, ast.parse(text), "k.py", entry)


def resolve(text: str) -> set[str]:
    """Names of the last expression of a text."""
    source = tree(text)
    last = source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return set(source.resolve(last.value))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import torch\ntorch.matmul", "torch.matmul"),
        ("import torch as t\nt.nn.functional.gelu", "torch.nn.functional.gelu"),
        ("import torch.nn.functional as F\nF.gelu", "torch.nn.functional.gelu"),
        ("from torch.nn import functional as F\nF.gelu", "torch.nn.functional.gelu"),
        ("import torch\nm = torch.mm\nn = m\nn", "torch.mm"),
        ("import torch\na, b = torch.mm, 3\na", "torch.mm"),
        ("import torch\ngetattr(torch, 'm' + 'm')", "torch.mm"),
        ("import torch\nvars(torch)['mm']", "torch.mm"),
        ("import torch\ntorch.__dict__['mm']", "torch.mm"),
        ("import torch\ntorch.__dict__.get('mm')", "torch.mm"),
        ("import torch\ntorch.__getattribute__('mm')", "torch.mm"),
        ("import torch, operator\noperator.attrgetter('nn.functional')(torch)", "torch.nn.functional"),
        ("import torch, functools\nfunctools.partial(torch.mm, 1)", "torch.mm"),
        ("__import__('torch').mm", "torch.mm"),
        ("import importlib\nimportlib.import_module('tor' 'ch').mm", "torch.mm"),
        ("import sys\nsys.modules['torch'].mm", "torch.mm"),
        ("import torch\nglobals()['torch'].mm", "torch.mm"),
        ("import torch\nT = {'a': torch.mm}\nT['a']", "torch.mm"),
        ("import torch\nL = [torch.mm]\nL[0]", "torch.mm"),
        ("import torch\n(lambda: 0) if 1 else torch.mm", "torch.mm"),
        ("import torch\n(f := torch.mm)", "torch.mm"),
        ("exec", "builtins.exec"),
        ("__builtins__.exec", "builtins.exec"),
        ("__builtins__['exec']", "builtins.exec"),
        ("def f(): pass\nf", "@f"),
    ],
)
def test_resolve(text: str, name: str) -> None:
    assert resolve(text) == {name}


def test_resolve_respects_scopes() -> None:
    source = tree(
        """
        import torch
        def f(torch):
            return torch.mm
        def g():
            torch = 3
            return torch.mm
        def h():
            return torch.mm
        """
    )
    found = {
        source.function_of(n).name: source.resolve(n)  # type: ignore[union-attr]
        for n in source.nodes
        if isinstance(n, ast.Attribute)
    }
    assert found == {"f": frozenset(), "g": frozenset(), "h": frozenset({"torch.mm"})}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a' + 'b' 'c'", "abc"),
        (" + ".join(["'a'"] * 100), "a" * 100),
        ("chr(90 + 7)", "a"),
        ("''.join(['a', 'b'])", "ab"),
        ("'cba'[::-1]", "abc"),
        ("''.join(reversed('cba'))", "abc"),
        ("f\"{'a'}b\"", "ab"),
        ("'%s%s' % ('a', 'b')", "ab"),
        ("'{}b'.format('a')", "ab"),
        ("chr(97) + 'b'", "ab"),
        ("''.join(chr(c) for c in [97, 98])", "ab"),
        ("''.join(map(chr, [97, 98]))", "ab"),
        ("bytes([97, 98]).decode()", "ab"),
        ("bytes.fromhex('6162').decode()", "ab"),
        ("'AB'.lower()", "ab"),
        ("'axb'.replace('x', '')", "ab"),
        ("X = 'a'\nX + 'b'", "ab"),
        ("import base64\nbase64.b64decode('YWI=').decode()", "ab"),
        ("import codecs\ncodecs.decode('no', 'rot13')", "ab"),
        ("f('a') + 'b'", None),
        ("X = 'a'\nX = 'c'\nX + 'b'", None),
        ("'%d' % 'a'", None),
    ],
)
def test_fold(text: str, value: str | None) -> None:
    source = tree(text)
    last = source.tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert source.fold(last.value) == value


def reached(text: str) -> set[str]:
    source = tree(text)
    return {n.name for n in source.nodes if isinstance(n, ast.FunctionDef) and n in source.reached}


@pytest.mark.parametrize(
    "text",
    [
        "def k(): pass\ndef candidate(): k()\n",
        "def k(): pass\nj = k\ndef candidate(): j()\n",
        "def k(): pass\nT = {'a': [k]}\ndef candidate(): T['a'][0]()\n",
        "def k(): pass\ndef candidate(): globals()['k']()\n",
        "def k(): pass\ndef candidate(f=k): f()\n",
        "def deco(f): return f\n@deco\ndef k(): pass\ndef candidate(): k()\n",
        "R = []\ndef deco(f):\n    R.append(f)\n@deco\ndef k(): pass\ndef candidate(): R[0]()\n",
        "class R:\n    def add(self, f): self.f = f\nr = R()\n@r.add\ndef k(): pass\ndef candidate(): r.f()\n",
        "class C:\n    def k(self): pass\nc = C()\ndef candidate(): c.k()\n",
        "import lib\n@lib.op('a::k2')\ndef k(): pass\ndef candidate(): lib.ops.a.k2()\n",
        "def k(): pass\nT = {}\nT['x'] = k\ndef candidate(): T['x']()\n",
        "def outer():\n    def k(): pass\n    return k\ng = outer()\ndef candidate(): g()\n",
    ],
)
def test_reached(text: str) -> None:
    assert "k" in reached(text)


def test_not_reached() -> None:
    source = tree(
        """
        def k(): pass
        def main(): k()
        def candidate(): pass
        if __name__ == "__main__":
            main()
        """
    )
    names = {n.name for n in source.live if isinstance(n, ast.FunctionDef) and n in source.reached}
    assert names == {"candidate"}
    assert not [n for n in source.live if isinstance(n, ast.Name)]
