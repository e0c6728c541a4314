"""ptxas is heard while Triton compiles, and what it said is what it says when asked again."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import triton
from kengine_triton import assembler, resources
from kengine_triton.chips import find
from triton.compiler import ASTSource


def compile_small(block):
    from kengine_triton.dummy import increment

    if not isinstance(increment, triton.JITFunction):
        pytest.skip("this process interprets kernels, it does not compile them")
    source = ASTSource(
        increment, signature={"x_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}, constexprs={(2,): block}, attrs={}
    )
    return triton.compile(source, target=find("sm_90").target(), options={})


def test_heard_and_asked_agree(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    if hasattr(triton, "knobs"):
        monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path))
    assembler.install()
    assembler.install()
    kernel = compile_small(128)
    words = assembler.log_of(kernel.asm["cubin"])
    assert words is not None and "Compiling entry function 'increment'" in words
    heard = resources._read(words, kernel)
    asked = resources._ptxas(kernel.asm["ptx"], find("sm_90"), kernel)
    assert heard[:2] == asked[:2]
    assert heard[0] > 0


def test_a_binary_from_elsewhere_has_no_words():
    assert assembler.log_of(b"no cubin") is None
