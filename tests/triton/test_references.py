"""What a kernel may call and refer to on the interpreter: the compiler's language, and no Python of the host."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton.runtime import jit

OLD = not hasattr(jit, "JITCallable")
"""Triton 3.3, whose compiler takes less, and calls functions of modules."""
X = torch.arange(64, dtype=torch.float32)

EMULATED = 'EMULATED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")'
HOST = f"""
import collections, dataclasses, enum, math, os
import numpy as np

{EMULATED}


def host(value):
    return value + 1.0


class Loud:
    def __add__(self, other):
        return other

    __radd__ = __add__


math.own = Loud()
LOUD = tl.constexpr(Loud())
NUMBERS = tl.constexpr(np.ones(64, np.float32))
WRAPPED = tl.core.builtin(host)
MARKED = host.__get__(1.0)


class Builtin(Loud):
    __module__ = "builtins"

    def __gt__(self, other):
        return other > 0.0

    __lt__ = __gt__

    def __getitem__(self, other):
        return other

    def __call__(self, other):
        return other


class Fake(Loud):
    __module__ = "triton.language.core"


class Watched(type):
    def __instancecheck__(cls, value):
        return True

    def __eq__(cls, value):
        return True

    __hash__ = type.__hash__


class Shown(metaclass=Watched):
    pass


space = {{"__name__": "names"}}
exec('''
class Generated:
    def __add__(self, other):
        return other
    __radd__ = __add__
''', space)
BUILTIN, GENERATED = tl.constexpr(Builtin()), tl.constexpr(space["Generated"]())
OWN, FAKE = tl.constexpr(Builtin), tl.constexpr(Fake())
WATCHED = WATCHED_CLASS = tl.constexpr(Shown)


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
        ("y = x + tl.sum(x, 0)\nnp.add(x_ptr, 1)", "'np.add'"),
        ("y = BUILTIN + x", "'Builtin'"),
        ("y = x\ny += GENERATED", "'Generated'"),
        ("y = tl.where(x > BUILTIN, x, x)", "'Builtin'"),
        ("y = tl.maximum(x, BUILTIN)", "'Builtin'"),
        ("y = x + max(BUILTIN, x)", "'Builtin'"),
        ("y = tl.load(x_ptr + i, mask=i < n, other=BUILTIN)", "'Builtin'"),
        ("y = x + BUILTIN[x]", "'Builtin'"),
        ("y = x + BUILTIN(x)", "values of the kernel"),
        ("y = x + OWN(x)", "values of the kernel"),
        ("y = x\nif isinstance(x, WATCHED):\n    y = x + 1.0", "'Watched'"),
        ("y = x\nif WATCHED_CLASS == x:\n    y = x + 1.0", "'Watched'"),
        ("y = x + FAKE", "'Fake'"),
        ("y = WRAPPED(x)", "'host'"),
        ("y = MARKED()", "'host'"),
        ("y = made(x)", "'plain'"),
        ("y = replaced(x, 1.0)", "'plain'"),
        ("y = x + tl.reduce(x, 0, host)", "'host'"),
        ("y = LOUD + x", "'Loud'"),
        ("y = x + NUMBERS", "'NUMBERS'"),
        ("y = x + math.own", "'Loud'"),
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


LIBRARY = """
import collections, dataclasses, enum, functools, math, operator, types
import numpy as np
from triton.language.extra import libdevice

PLAIN, NOTHING = 1.0, None
ONE = tl.constexpr(1.0)
PAIR = tl.constexpr((0.5, 0.5))
EACH = (tl.constexpr(0.5), tl.constexpr(0.5))
KIND = "fast"
Made = collections.namedtuple("Made", ["first", "second"])
tools = types.ModuleType("tools")
tools.ONE = 1.0
tools.host = lambda v: v + 1.0


class Space:
    ONE = 1.0


class Mode(enum.Enum):
    ADD = 1


@dataclasses.dataclass(frozen=True)
class Settings:
    half: float = 0.5
    mode: Mode = Mode.ADD

    @property
    def one(self):
        return 2 * self.half

    def scaled(self, by):
        return by * self.half


class Compared:
    def __init__(self, one):
        self.one = one

    def __eq__(self, other):
        return self.one == other.one

    def __hash__(self):
        return 1


class Plan:
    # Has every operator there is.

    def __init__(self, one=1.0):
        self.one = one

    def __add__(self, other):
        return self.one + other

    def __mul__(self, other):
        return self.one * other

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return -self.one

    def __lt__(self, other):
        return self.one < other

    def __getitem__(self, key):
        return self.one

    def __len__(self):
        return 1

    def __call__(self, value=0.0):
        return value + self.one

    def __index__(self):
        return 1

    def __float__(self):
        return self.one

    def __getattr__(self, name):
        if name == "made":
            return self.one
        raise AttributeError(name)

    @classmethod
    def of(cls, value):
        return value


class Number(float):
    def __add__(self, other):
        return other


class Shape(tuple):
    def __mul__(self, other):
        return Shape(each * other for each in self)


class Bits(enum.IntFlag):
    A = 1
    B = 2


SETTINGS = Settings()
SPACE = tl.constexpr(Space)
COMPARED = tl.constexpr(Compared(1.0))


def host(v):
    return v + 1


HOST = tl.constexpr(host)


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def down(v, N: tl.constexpr):
    if N > 0:
        v = down(v + 0.5, N - 1)
    return v


@triton.jit(noinline=True)
def apart(v):
    return v + 1.0


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, GIVEN: tl.constexpr):
    '''A text with a line
    def other(x): that is no function
    '''
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
BODY
    tl.store(y_ptr + i, y)

def candidate(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=x.numel(), GIVEN=ARGUMENT)
    return y
"""


def agree(judge: Any, body: str, argument: str, taken: bool) -> None:
    """Hold the interpreter against the compiler of the Triton that is here; what both take is x + 1."""
    lines = "\n".join("    " + line for line in body.splitlines())
    source = LIBRARY.replace("BODY", lines).replace("ARGUMENT", argument)
    here, there = judge.interpret(source, X), judge.compile("sm_90", source, X)
    compiles = "fault" not in there.reply
    if taken != compiles and OLD:
        pytest.skip("the compiler of Triton 3.3 differs")
    assert taken == compiles, there.reply
    if taken:
        assert torch.allclose(here.value, X + 1.0)
    else:
        assert here.status == there.status == "compile_failed", here.message


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ("y = x + ONE", "None"),
        ("y = x + 1.0\nif NOTHING is not None:\n    y = x", "None"),
        ("y = x + 1.0\nif BLOCK == 1:\n    y = x + PLAIN + undefined", "None"),
        ("y = x + PAIR[0] + PAIR[len(PAIR) - 1]", "None"),
        ("y = x + tools.ONE", "None"),
        ("y = down(x, 2)", "None"),
        ("y = x + apart(0.0)", "None"),
        ("y = GIVEN(x, 1.0)", "add"),
        ("made = Made(x, 1.0)\ny = made.first + made.second", "None"),
        ("y = x + GIVEN.one", "SETTINGS"),
        ("y = x + GIVEN.scaled(2.0)", "SETTINGS"),
        ("y = x + GIVEN.mode.value", "SETTINGS"),
        ("y = x + GIVEN.one", "Compared(1.0)"),
        ("y = x + GIVEN(0)", "host"),
        ("y = x + BLOCK.value - BLOCK + 1", "None"),
        ("y = x + 1.0", "Plan()"),
        ("y = x + GIVEN.one", "Plan()"),
        ("y = x + GIVEN.made", "Plan()"),
        ("y = x + getattr(GIVEN, 'made')", "Plan()"),
        ("y = x + (GIVEN + 0.0)", "Plan()"),
        ("y = x + (0.0 + GIVEN)", "Plan()"),
        ("y = x - (-GIVEN) * (1.0 * GIVEN)", "Plan()"),
        ("y = x + GIVEN[0]", "Plan()"),
        ("y = x + len(GIVEN)", "Plan()"),
        ("y = x + int(GIVEN) * float(GIVEN)", "Plan()"),
        ("y = x + GIVEN(0.0)", "Plan()"),
        ("y = x + GIVEN.of(1.0)", "Plan()"),
        ("y = x + GIVEN(1.0).one", "Plan"),
        ("y = x\nif GIVEN < 2.0:\n    y = add(x, GIVEN.one)", "Plan()"),
        ("y = x\nfor k in tl.static_range(0, GIVEN):\n    y += 1.0", "Plan()"),
        ("y = x + GIVEN", "Number(1.0)"),
        ("y = GIVEN + x", "Number(1.0)"),
        ("y = x + (GIVEN + 0.0) + 1.0", "Number(1.0)"),
        ("y = x * 0.0 + tl.maximum(x, GIVEN) + 1.0", "Number(-1.0)"),
        ("y = x + (GIVEN * 1)[0]", "Shape((1.0,))"),
        ("y = x + tl.zeros(GIVEN, tl.float32) + 1.0", "Shape((64,))"),
        ("y = x\nif (GIVEN & 1) != 0:\n    y = x + GIVEN", "Bits.A"),
        ("y = x + (GIVEN | GIVEN.B) - 2", "Bits.A"),
        ("y = x + GIVEN(0.0)", "functools.partial(operator.add, 1.0)"),
        ("y = x + GIVEN(0.5, 0.5)", "operator.add"),
        ("y = x + min(1, 3) * max(0, 1)", "None"),
        ("y = x + libdevice.exp(x * 0.0)", "None"),
        ("y = tl.maximum(x + 1.0, torch.finfo(torch.float32).min)", "None"),
        ("y = x + 1.0\nif triton.__version__ == '9':\n    y = x", "None"),
        ("tl.static_print(f'{BLOCK:>4}')\ny = x + 1.0", "None"),
        ("y = x + (1.0 if GIVEN == 'relu' else 0.0)", "'relu'"),
        ("y = x\nif GIVEN.startswith('re') and BLOCK != 1:\n    y = x + 1.0", "'relu'"),
        ("y = x\nfor k in tl.range(0, 2, num_stages=3):\n    y += 0.5", "None"),
        ("y = x + 1.0\nif BLOCK == 1:\n    raise ValueError('no')", "None"),
        ("y = x + tl.reduce(x * 0.0, 0, add) + 1.0", "None"),
        ("tl.extra.cuda.gdc_wait()\ny = x + 1.0", "None"),
        ("y = x * 0.0 + (x * 0.0).exp() + x", "None"),
    ],
)
def test_what_the_compiler_of_this_triton_takes_is_taken(judge: Any, body: str, argument: str) -> None:
    agree(judge, body, argument, True)


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ("y = x + PLAIN", "None"),
        ("y = x\nfor k in tl.static_range(PLAIN):\n    y += 1.0", "None"),
        ("y = x + EACH[0] + EACH[1]", "None"),
        ("y = x + Space.ONE", "None"),
        ("y = x + Mode.ADD.value", "None"),
        ("y = x + 1.0\nif KIND == 'slow':\n    y = x", "None"),
        ("y = x + 1.0\nif n < 0:\n    y = x + PLAIN", "None"),
        ("y = x + 1.0\nif n < 0:\n    raise ValueError('no')", "None"),
        ("y = x + tools.host(0.0)", "None"),
        ("y = x + HOST(x) * 0.0 + 1.0", "None"),
        ("y = x + np.add(0.0, 1.0)", "None"),
        ("y = x + sum((0.5, 0.5))", "None"),
        ("y = x + bool(1)", "None"),
        ("y = x\nfor a, b in zip((0.5,), (0.5,)):\n    y += a + b", "None"),
        ("y = x\nfor a in (0.5, 0.5):\n    y += a", "None"),
        ("y = x\nfor k in range(3):\n    if k == 2:\n        break\n    y += 0.5", "None"),
        ("y = x\nfor k in range(2):\n    y += 0.5\nelse:\n    y += 0.0", "None"),
        ("y = x\nif GIVEN in ('relu', 'gelu'):\n    y = x + 1.0", "'relu'"),
        ("y = x\nif GIVEN:\n    y = x + 1.0", "'relu'"),
        ("y = tl.where(GIVEN == x, x, x) + 1.0", "Compared(1.0)"),
        ("d = {'a': 1.0}\ny = x + d['a']", "None"),
        ("y = x + [k for k in range(2)][1]", "None"),
        ("name = 'relu'\ny = x + 1.0", "None"),
        ("f = add\ny = f(x, 1.0)", "None"),
        ("y = x + GIVEN", "Plan()"),
        ("y = GIVEN * x + 1.0", "Plan()"),
        ("y = x\ny += GIVEN", "Plan()"),
        ("y = tl.where(GIVEN < x, x, x) + 1.0", "Plan()"),
        ("y = x + max(GIVEN, x * 0.0)", "Plan()"),
        ("y = tl.maximum(x, GIVEN) + 1.0", "Plan()"),
        ("a, b = GIVEN\ny = x + a", "Plan()"),
        ("y = add(**{'a': x, 'b': 1.0})", "None"),
        ("y = apart(x)", "None"),
        ("x.own = 1\ny = x + 1.0", "None"),
        ("z = x\ndel z\ny = x + 1.0", "None"),
        ("tl.static_print(f'{n}')\ny = x + 1.0", "None"),
        ("def own(v):\n    return v + 1.0\ny = own(x)", "None"),
        ("y = undefined + x", "None"),
    ],
)
def test_what_the_compiler_of_this_triton_refuses_is_refused(judge: Any, body: str, argument: str) -> None:
    agree(judge, body, argument, False)


CLOSURES = """
op = tl.constexpr(9.0)

def make(op, K):
    @triton.jit
    def run(x_ptr, y_ptr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(y_ptr + i, op(tl.load(x_ptr + i)) + K)
    return run

@triton.jit
def half(v):
    return v + 0.5

@triton.jit
def double(v):
    return v * 2.0

first, second = make(half, tl.constexpr(0.5)), make(double, tl.constexpr(-1.0))

def candidate(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    first[(1,)](x, z, BLOCK=x.numel())
    second[(1,)](z, y, BLOCK=x.numel())
    return y, torch.full_like(x, op.value)
"""


def test_kernels_of_one_factory_have_closures_of_their_own(judge: Any) -> None:
    y, kept = judge.interpret(CLOSURES, X).values
    assert torch.equal(y, (X + 1.0) * 2.0 - 1.0) and torch.equal(kept, torch.full_like(X, 9.0))
    if not OLD:  # whose compiler takes the global where both have a name
        assert "fault" not in judge.compile("sm_90", CLOSURES, X).reply


@pytest.mark.parametrize("name", ["map_elementwise", "globaltimer"])
def test_what_cannot_be_interpreted_is_unsupported(judge: Any, name: str) -> None:
    import triton.language as tl

    lines = {"map_elementwise": "y = tl.map_elementwise(plain, x, x)",
             "globaltimer": "y = x + tl.extra.cuda.globaltimer()"}  # fmt: skip
    if name == "map_elementwise" and not hasattr(tl, name):
        pytest.skip("this Triton has no tl.map_elementwise")
    assert judge.interpret(kernel(lines[name]), X).status == "unsupported"
