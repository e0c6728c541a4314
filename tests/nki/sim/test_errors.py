"""Faults of kernels: the message, and the kernel's own file and line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine_nki.sim import BudgetExceeded, NkiError, Options, Unsupported, load, session

HEADER = {
    "new": "import nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport numpy as np\n",
    "old": "import neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\nimport neuronxcc.nki.language as nl\n"
    "import numpy as np\n",
}
PRELUDE = {
    "new": """
    sb = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    sb2 = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    half = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.sbuf)
    bf = nl.ndarray((128, 64), dtype=nl.bfloat16, buffer=nl.sbuf)
    ints = nl.ndarray((128, 64), dtype=nl.int32, buffer=nl.sbuf)
    ps = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)
    ps2 = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
    wide = nl.ndarray((128, 256), dtype=nl.float32, buffer=nl.sbuf)
    hbm = nl.ndarray((256, 64), dtype=nl.float32, buffer=nl.shared_hbm)
""",
    "old": """
    sb = nl.zeros((128, 64), dtype=nl.float32, buffer=nl.sbuf)
    wide = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.sbuf)
    hbm = nl.ndarray((256, 64), dtype=nl.float32, buffer=nl.shared_hbm)
""",
}


def run_statement(generation: str, statement: str, chip: str = "trn2") -> int:
    """Run a kernel whose last statement is `statement`; returns its line number."""
    source = f"{HEADER[generation]}\n@nki.jit\ndef kernel(x):{PRELUDE[generation]}    {statement}\n    return hbm\n"
    module = load(source, "candidate.py")
    line = next(i for i, text in enumerate(source.splitlines(), 1) if text.strip() == statement)
    with session(Options(chip=chip)):
        try:
            module.kernel(np.ones((128, 64), np.float32))
        except NkiError as error:
            error.expected_line = line  # type: ignore[attr-defined]
            raise
    return line


NEW_FAULTS = {
    # buffers
    "nisa.nc_matmul(dst=sb, stationary=sb, moving=sb)": r"nc_matmul dst must be in \['psum'\], got sbuf",
    "nisa.nc_matmul(dst=ps, stationary=ps2, moving=sb)": r"stationary must be in \['sbuf'\], got psum",
    "nisa.tensor_copy(dst=hbm, src=sb)": r"tensor_copy dst must be in \['sbuf', 'psum'\], got shared_hbm",
    "nisa.dma_copy(dst=sb, src=ps2)": "dma_copy requires HBM or SBUF tensors, got src=MemoryRegion.psum",
    "nisa.dma_copy(dst=sb, src=x[0:64, :])":
        "dma_copy requires src and dst to have the same number of elements, got src=4096, dst=8192",
    "nl.ndarray((128, 4), dtype=nl.float32, buffer='sbuf')": "got the string 'sbuf'",
    "nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.sbuf())": "'MemoryRegion' object is not callable",
    "nl.sbuf[0]": "'MemoryRegion' object is not subscriptable",
    # shapes and limits
    "nl.ndarray((256, 4), dtype=nl.float32, buffer=nl.sbuf)": "number of partitions 256 exceed",
    "nl.ndarray((128,), dtype=nl.float32, buffer=nl.sbuf)": "must have at least 2 dimensions",
    "nl.ndarray((128, 0), dtype=nl.float32, buffer=nl.sbuf)": "positive sizes",
    "nl.ndarray((128, 4), dtype=np.float64, buffer=nl.sbuf)": "not an NKI data type",
    "nl.ndarray((128, 70000), dtype=nl.float32, buffer=nl.sbuf)": "280000 bytes per partition, more than the 229376",
    "nl.ndarray((128, 5000), dtype=nl.float32, buffer=nl.psum)": "needs 20000 bytes per partition, more than the 16384",
    "nl.ndarray((1 << 20, 1 << 14), dtype=nl.float32, buffer=nl.shared_hbm)": "more than the 25769803776 of HBM",
    "nisa.nc_matmul(dst=ps2, stationary=wide, moving=sb)": "dimension 256 exceeds gemm_stationary_fmax=128",
    "nisa.nc_matmul(dst=ps, stationary=half, moving=sb)":
        r"Matmul contraction dimension mismatch: stationary\[0\]=64 != moving\[0\]=128",
    "nisa.nc_matmul(dst=ps, stationary=sb, moving=sb, tile_position=(0, 0), tile_size=(64, 128))":
        "Matmul contraction dimension 128 exceeds pmax=64",
    "nisa.nc_matmul(dst=ps, stationary=sb, moving=sb, tile_position=(0, 0))": "must both be set",
    "nisa.nc_matmul(dst=ps, stationary=bf, moving=sb)": "if one operand is float32 or tfloat32, the other must be too",
    "nisa.nc_matmul(dst=ps, stationary=ints, moving=ints)": "dtype int32 is not supported by the tensor engine",
    "nisa.nc_matmul(dst=nl.ndarray((64, 64), dtype=nl.bfloat16, buffer=nl.psum), stationary=bf, moving=bf)":
        "nc_matmul dst dtype must be float32 on gen3",
    "nisa.tensor_tensor(dst=sb, data1=sb, data2=half, op=nl.add)": "must have the same partition dimension",
    "nisa.tensor_tensor(dst=sb, data1=ps2, data2=ps2, op=nl.add)": "cannot both be in psum",
    "nisa.tensor_scalar(dst=sb, data=sb, op0=nl.add, operand0=sb2)": r"must be a scalar or a tile of shape \(128, 1\)",
    "nisa.tensor_scalar(dst=ps2, data=sb, op0=nl.add, operand0=1.0, engine=nisa.engine.gpsimd)": "cannot access PSUM",
    "nisa.tensor_reduce(dst=sb[:, 0:1], op=nl.add, data=sb, axis=0)": "cannot reduce the partition dimension",
    "nisa.tensor_reduce(dst=sb[:, 0:8], op=nl.add, data=sb.reshape((128, 8, 8)), axis=1)":
        "tensor_reduce axis must be the last contiguous",
    "nisa.nc_transpose(dst=ps, data=sb)": r"nc_transpose dst must have shape \(64, 128\), got \(64, 64\)",
    "nisa.nc_transpose(dst=sb, data=sb2)": "exceeds \\(32, 32\\) on the vector engine",
    "nisa.max8(dst=sb[:, 0:8], src=sb[:, 0:4])": "8 to 16384 elements per partition, got 4",
    "nisa.bn_stats(dst=sb[:, 0:6], data=nl.ndarray((128, 600), dtype=nl.float32, buffer=nl.sbuf))":
        "more than bn_stats_fmax=512",
    "nisa.dma_transpose(dst=sb, src=sb.reshape((128, 8, 8)), axes=(1, 0, 2))":
        r"dma_transpose axes must be one of \[\(1,0\),\(2,1,0\),\(3,1,2,0\)\]",
    # bounds
    "sb[:, 0:65]":
        r"Out-of-bound access for tensor `unnamed` on dimension 1: index range \[0, 64\] exceed dimension size of 64",
    "hbm[256, :]": r"Out-of-bound access for tensor `unnamed` on dimension 0: index range \[256, 256\]",
    "x[0:128, nl.ds(60, 8)]": r"tensor `x` on dimension 1: index range \[60, 67\] exceed dimension size of 64",
    "sb[0:4, 3, 1]": "too many indices for tensor `unnamed`: it has 2 dimensions, got 3",
    "sb[5:5, :]": r"empty slice \[5:5\]",
    # names and arguments
    "nisa.tensor_multiply(dst=sb, data1=sb, data2=sb)": "module 'nki.isa' has no attribute 'tensor_multiply'",
    "nl.arange(128)": "module 'nki.language' has no attribute 'arange'",
    "nisa.tensor_copy(dst=sb, source=sb2)": r"tensor_copy\(\) got an unexpected keyword argument 'source'",
    "nisa.tensor_copy(src=sb2)": r"tensor_copy\(\) missing 1 required positional argument: 'dst'",
    "nisa.activation(dst=sb, op=nl.exp, data=sb, mask=None)": "unexpected keyword argument 'mask'",
    "nisa.activation(dst=sb, op=nl.add, data=sb)": "nl.add is not a supported activation function",
    "nisa.activation(dst=sb, op=np.exp, data=sb)": "must be an operator of nki.language",
    "nisa.tensor_tensor(dst=sb, data1=sb, data2=sb2, op=nl.divide)": "nl.divide is not a supported ALU operator",
    "nisa.tensor_tensor(dst=sb, data1=sb, data2=sb2, op=nl.bitwise_and)": "requires integer data types, got float32",
    "nisa.tensor_tensor(dst=sb, data1=sb, data2=nisa.tensor_copy(dst=sb, src=sb2), op=nl.add)":
        "data2 must be a tensor, got NkiInstruction",
    "nisa.activation(dst=sb, op=nl.exp, data=sb, reduce_cmd=3)": "must be a member of nki.isa.reduce_cmd, got 3",
    "nisa.memset(dst=ints, value=0.5)": "memset value 0.5 does not match dtype int32",
    "nisa.memset(dst=ints, value=1.0)": "memset value 1.0 does not match dtype int32",
    # language rules
    "sb + sb2": r"unsupported operand type\(s\) for \+: 'NkiTensor' and 'NkiTensor'",
    "sb * 2.0": r"unsupported operand type\(s\) for \*: 'NkiTensor' and 'float'",
    "-sb": "bad operand type for unary -: 'NkiTensor'",
    "if sb: pass": "truth value of a tensor is ambiguous",
    "np.exp(sb)": "TypeError",
    "np.asarray(sb)": "numpy cannot read an NKI tensor",
    "list(sb)": "'NkiTensor' object is not iterable",
    "nl.load(sb)": "Expected operand 'src' of 'load' to be in address space 'hbm'",
    "nl.load(hbm)": "number of partitions 256 exceed architecture limitation of 128",
    "assert x.shape[0] % 100 == 0, 'rows must divide'": "AssertionError: rows must divide",
    "1 / 0": "ZeroDivisionError",
    "nisa.dma_copy(dst=sb, src=x, priority=1)": "priority is only supported for NeuronCore-v4 or newer",
    "nisa.activate2(sb, nl.exp, sb2, 1.0, 1.0, nl.add, nl.bypass)": "activate2 is only supported for NeuronCore-v4",
    "nisa.core_barrier(data=hbm, cores=(0, 1))": "needs a kernel launched on LNC 2",
}  # fmt: skip


@pytest.mark.parametrize("statement", NEW_FAULTS)
def test_new_fault(statement: str) -> None:
    with pytest.raises(NkiError, match=NEW_FAULTS[statement]) as caught:
        run_statement("new", statement)
    error: Any = caught.value
    assert not isinstance(error, (Unsupported, BudgetExceeded))
    assert (error.file, error.line, error.text) == ("candidate.py", error.expected_line, statement)
    assert str(error).startswith(f"candidate.py:{error.line}: ")


OLD_FAULTS = {
    "nl.load(x[0:256, :])": r"index range \[0, 255\] exceed dimension size of 128",
    "nl.load(hbm)": "number of partitions 256 exceed architecture limitation of 128",
    "nl.store(hbm[0:128, :], sb[:, 0:32])": "cannot store a tile of shape",
    "nl.load(sb)": "address space 'hbm', but got a tile in 'sbuf'",
    "nisa.nc_matmul(wide, sb)": "stationary free dimension 256 exceeds gemm_stationary_fmax=128",
    "nisa.nc_matmul(sb[0:64, :], sb)": "Matmul contraction dimension mismatch",
    "nl.load(x[nl.arange(128)[:, None], nl.arange(65)[None, :]])": r"index range \[0, 64\] exceed dimension size of 64",
    "sb[nl.arange(128), 0]": "1D arange is not supported",
    "x[nl.arange(128)[:, None], 0:32]": "mixing basic tensor indexing",
    "nisa.activation(dst=sb, op=nl.exp, data=sb)": "unexpected keyword argument 'dst'",
    "nl.multiply(sb, sb, bias=1)": "unexpected keyword argument 'bias'",
    "nl.ap(sb)": "module 'neuronxcc.nki.language' has no attribute 'ap'",
    "sb + wide": r"shapes \(128, 64\) and \(128, 256\) do not broadcast",
    "if sb > 0: pass": "truth value of a tensor is ambiguous",
    "sb[...] = wide": "cannot assign a tile of shape",
    "nl.sum(sb, axis=0)": "cannot reduce the partition dimension",
    "nl.ndarray((2, 256, 4), dtype=nl.float32, buffer=nl.sbuf)[0, 0] + nl.ndarray((256, 4), dtype=nl.float32)":
        "number of partitions 256",
}  # fmt: skip


@pytest.mark.parametrize("statement", OLD_FAULTS)
def test_old_fault(statement: str) -> None:
    with pytest.raises(NkiError, match=OLD_FAULTS[statement]) as caught:
        run_statement("old", statement)
    error: Any = caught.value
    assert (error.file, error.line) == ("candidate.py", error.expected_line)


def test_chip_generations_differ() -> None:
    """What is too large for one generation fits another."""
    statement = "nl.ndarray((128, 54000), dtype=nl.float32, buffer=nl.sbuf)"
    with pytest.raises(NkiError, match="more than the 196608 of trn1"):
        run_statement("new", statement, "trn1")
    with pytest.raises(NkiError, match="never written to"):
        run_statement("new", statement, "trn2")
    moving = "nisa.nc_matmul(dst=nl.ndarray((64, 1024), dtype=nl.float32, buffer=nl.psum), stationary=sb, " \
             "moving=nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.sbuf))"  # fmt: skip
    with pytest.raises(NkiError, match="moving free dimension 1024 exceeds gemm_moving_fmax=512"):
        run_statement("new", moving, "trn2")
    with pytest.raises(NkiError, match="never written to"):
        run_statement("new", moving, "trn3")


def test_unsupported_names_the_function() -> None:
    for statement, name in {
        "nisa.topk(sb, sb, sb, 8)": "nki.isa.topk",
        "nisa.scalar_load(sb)": "nki.isa.scalar_load",
        "nki.collectives.all_reduce(sb)": "nki.collectives.all_reduce",
    }.items():
        with pytest.raises(Unsupported) as caught:
            run_statement("new", statement)
        assert caught.value.name == name
        assert caught.value.line == caught.value.expected_line  # type: ignore[attr-defined]


def test_unknown_name_offers_near_ones_and_the_known_version() -> None:
    with pytest.raises(NkiError, match=r"did you mean .*tensor_scalar.*knows the API up to NKI 0\.6"):
        run_statement("new", "nisa.tensor_scalr(dst=sb)")


def test_fault_in_a_nested_helper_names_the_helpers_line() -> None:
    source = HEADER["new"] + """
def helper(tile):
    return tile[:, 0:999]

@nki.jit
def kernel(x):
    tile = nl.load(x)
    helper(tile)
"""
    module = load(source, "nested.py")
    with session(), pytest.raises(NkiError) as caught:
        module.kernel(np.ones((8, 8), np.float32))
    assert (caught.value.line, caught.value.text) == (7, "return tile[:, 0:999]")


OUTPUTS = {
    "return nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.shared_hbm)": "is never written to",
    "return nl.load(x)": "must be allocated in nl.shared_hbm, got a tensor in sbuf",
    "pass": "returned no tensor and wrote none of its arguments",
    "t = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.hbm); nl.store(t, nl.load(x)); return t":
        "must be allocated in nl.shared_hbm, got a tensor in private_hbm",
    "t = nl.ndarray((8, 8), dtype=nl.int32, buffer=nl.shared_hbm); nl.store(t[0:4, :], nl.load(x[0:4, :])); return t":
        "is not fully written",
}  # fmt: skip


@pytest.mark.parametrize("body", OUTPUTS)
def test_outputs(body: str) -> None:
    module = load(f"{HEADER['new']}\n@nki.jit\ndef kernel(x):\n    {body}\n", "outputs.py")
    with session(), pytest.raises(NkiError, match=OUTPUTS[body]):
        module.kernel(np.ones((8, 8), np.float32))


def test_api_outside_of_a_kernel() -> None:
    module = load(HEADER["new"] + "def host():\n    return nl.zeros((8, 8), nl.float32)\n", "host.py")
    with session(), pytest.raises(NkiError, match="outside of an NKI kernel"):
        module.host()


def test_unknown_input_dtype_is_unsupported() -> None:
    module = load(HEADER["new"] + "@nki.jit\ndef kernel(x):\n    return x\n", "f64.py")
    with session(), pytest.raises(Unsupported, match="dtype float64"):
        module.kernel(np.ones((8, 8)))


@pytest.mark.parametrize("args", [(), (1, 2, 3)])
def test_wrong_arity(args: Any) -> None:
    module = load(HEADER["new"] + "@nki.jit\ndef kernel(x):\n    return x\n", "arity.py")
    with session(), pytest.raises(NkiError, match=r"kernel\(\) (missing a required argument|too many positional)"):
        module.kernel(*args)


def test_memory_limit_of_the_process_is_unsupported_not_a_fault() -> None:
    module = load(
        HEADER["new"] + "@nki.jit\ndef kernel(x):\n    return nl.ndarray((1 << 14, 1 << 14), nl.float32, nl.hbm)\n",
        "large.py",
    )
    with session(Options(memory_limit=1 << 20)), pytest.raises(Unsupported, match="an array of 1073741824 bytes"):
        module.kernel(np.ones((8, 8), np.float32))
