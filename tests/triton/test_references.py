"""What a kernel may call and refer to on the interpreter: the compiler's language, and no Python of the host."""

from __future__ import annotations

from typing import Any

import pytest
import torch

X = torch.arange(64, dtype=torch.float32)

EMULATED = 'EMULATED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")'
HOST = f"""
import collections, dataclasses, enum, math, os
import numpy as np

{EMULATED}


def host(value):
    return value + 1.0


class Record:
    def __len__(self):
        return 0


store = Record()


class Loud:
    def __add__(self, other):
        return other

    __radd__ = __add__


class Getter:
    @property
    def one(self):
        return 1.0


math.own = Loud()
LOUD = tl.constexpr(Loud())
GETTER = tl.constexpr(Getter())
NUMBERS = tl.constexpr(np.ones(64, np.float32))
WRAPPED = tl.core.builtin(host)
MARKED = host.__get__(1.0)


@triton.jit
def plain(a, b):
    return a + b


class Made(type(plain)):
    def __call__(self, value):
        return value + 1.0


made = Made(plain.fn)
replaced = triton.jit(plain.fn)
replaced.rewrite = lambda: host
"""


def kernel(lines: str) -> str:
    body = "\n".join("    " + line for line in lines.strip("\n").splitlines())
    return f"""{HOST}

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
{body}
    tl.store(y_ptr + i, y)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=x.numel())
    return y
"""


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("y = host(x)", "'host'"),
        ("if EMULATED:\n    y = host(x)\nelse:\n    y = x + 1.0", "'host'"),
        ("y = x + tl.sum(x, 0)\nnp.add(x_ptr, 1)", "'add'"),
        ("y = WRAPPED(x)", "'host'"),
        ("y = MARKED()", "'host'"),
        ("y = made(x)", "'plain'"),
        ("y = replaced(x, 1.0)", "'plain'"),
        ("y = x + tl.reduce(x, 0, host)", "'host'"),
        ("y = LOUD + x", "'LOUD'"),
        ("y = x + GETTER.one", "'GETTER'"),
        ("y = x + NUMBERS", "'NUMBERS'"),
        ("y = x + math.own", "'math.own'"),
        ("y = x\nif store:\n    y = x", "'store'"),
        ("y = x\nx.handle.data[:] = 1.0", "'handle'"),
        ("y = x\ngetattr(x, 'hand' + 'le')", "'handle'"),
        ("y = x\nimport math", "Import"),
        ("y = (lambda v: v + 1.0)(x)", "Lambda"),
        ("y = x\neval('1')", "'eval'"),
        ("y = x\nnp.ctypeslib.as_array(x_ptr)", "'as_array'"),
        ("y = x + 1.0\nclass Own:\n    pass", "ClassDef"),
    ],
)
def test_python_of_the_host_is_refused(judge: Any, lines: str, word: str) -> None:
    answer = judge.interpret(kernel(lines), X)
    assert answer.status == "compile_failed"
    assert word in answer.message and "Python of the host" in answer.message


def test_names_of_the_host_that_are_called_like_attributes_mean_nothing(judge: Any) -> None:
    assert torch.equal(judge.interpret(kernel("y = x + 1.0"), X).value, X + 1.0)


def test_a_refusal_is_not_lost_where_it_is_swallowed(judge: Any) -> None:
    launch = "    kernel[(1,)](x, y, x.numel(), BLOCK=x.numel())\n"
    caught = f"    try:\n    {launch}    except Exception:\n        y = x + 1.0\n"
    source = kernel("y = host(x)").replace(launch, caught)
    answer = judge.interpret(source, X)
    assert answer.status == "compile_failed" and "'host'" in answer.message


def test_a_function_of_constants_is_computed_once_for_the_same_constants(judge: Any) -> None:
    source = """
COUNT = []

@triton.constexpr_function
def twice(n):
    COUNT.append(n)
    return n * 2

@triton.jit
def kernel(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * twice(BLOCK) + twice(BLOCK))

def candidate(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, BLOCK=x.numel())
    return y + 1000 * len(COUNT)
"""
    if not hasattr(__import__("triton"), "constexpr_function"):
        pytest.skip("this Triton has no constexpr_function")
    assert torch.equal(judge.interpret(source, X).value, X * 128 + 128 + 1000)
    answer = judge.interpret(source.replace("* twice(BLOCK)", "* twice(tl.load(x_ptr))"), X)
    assert answer.status == "compile_failed" and "takes constants" in answer.message


def test_what_the_compiler_takes_is_taken(judge: Any) -> None:
    source = """
import enum, math
from collections import namedtuple

class Mode(enum.IntEnum):
    ADD = 1

Pair = namedtuple("Pair", ["first", "second"])
SCALE = tl.constexpr(math.sqrt(4.0))
MODE = tl.constexpr(Mode.ADD)
KIND = tl.constexpr("fast")

@triton.jit
def add(a, b):
    return a + b

@triton.jit
def apply(FN: tl.constexpr, a, b):
    return FN(a, b)

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, ACT: tl.constexpr = "relu"):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n, other=0.0).to(tl.float32)
    y = apply(add, x, 0.0) * SCALE
    tl.static_assert(len(x.shape) == 1)
    if MODE == 1:
        y += min(n, 1) + max(0, 1) + float(int(1.0))
    if KIND == "fast" and ACT == "relu":
        y = tl.maximum(y, 0.0)
    y += tl.reduce(x * 0.0, 0, add) + tl.math.exp(x * 0.0) - 1.0 + tl.cdiv(BLOCK, 64) - 1
    y += tl.cumsum(x * 0.0, 0) + tl.sigmoid(x) - 1.0 / (1.0 + tl.exp(-x))
    tl.store(y_ptr + i, tl.cast(y, y_ptr.dtype.element_ty), i < n)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=x.numel())
    return y
"""
    assert torch.allclose(judge.interpret(source, X).value, X * 2 + 3)
