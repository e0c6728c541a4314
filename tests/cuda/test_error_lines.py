"""What a verdict says of every form of a CUDA candidate that is wrong: status, message, the candidate's own line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from error_lines import NEEDS, ErrorLines, Verify, check
from kengine import Engine, Plan, tasks
from kengine_cuda.toolchain import compiler
from kengine_cuda.toolchain.places import Places, find_places
from native_faults import (
    ALL,
    FORMS,
    TASK,
    edited,
    file_name,
    in_kernel,
    with_header,
)

pytestmark = NEEDS


@pytest.fixture(scope="module")
def emulated() -> Iterator[Verify]:
    plan = Plan(ignore=("K",), launch_timeout_s=20.0)
    with Engine(target="cuda:cpu", compile_for=(), plan=plan, workers=1) as engine:
        yield lambda form, text: engine.verify(tasks.parse(text, file_name(form, "cuda"), task_text=TASK))


@pytest.fixture(scope="module")
def compiled() -> Iterator[Verify]:
    if find_places().problem:
        pytest.skip(find_places().problem)
    with Engine(target="cuda:sm_90", plan=Plan(check=False, ignore=("K",)), workers=1) as engine:
        yield lambda form, text: engine.verify(tasks.parse(text, file_name(form, "cuda"), task_text=TASK))


class TestCuda(ErrorLines):
    """Those of both languages."""


@pytest.mark.parametrize("form", ALL)
def test_the_first_error_with_its_line_and_the_rest_in_the_log(emulated: Verify, form: str) -> None:
    text = edited(form, in_kernel("y[i] = z[i];\n  w[0] = 1.0f;"))
    verdict = emulated(form, text)
    check(verdict, text, "compile_failed", "'z' was not declared", "z[i]")
    assert "'w'" not in verdict.message and f"{file_name(form, 'cuda')}:{verdict.line + 1}" in verdict.log


@pytest.mark.parametrize("form", ALL)
def test_hips_headers_and_names_in_a_text_for_cuda(emulated: Verify, form: str) -> None:
    text = with_header(form, "#include <hip/hip_runtime.h>\n")
    check(
        emulated(form, text),
        text,
        "compile_failed",
        "is HIP's, and the language of the target is CUDA",
        "#include <hip",
    )
    text = edited(form, in_kernel("y[hipThreadIdx_x] = 1.0f;"))
    check(emulated(form, text), text, "compile_failed", "hipThreadIdx_x is HIP's", "hipThreadIdx_x")


@pytest.mark.parametrize(("old", "new", "key"), [
    ('grid = "ceil_div(x.numel(), 256)"', 'grid = "ceil_div(rows, 256)"', "// grid"),
    ('grid = "ceil_div(x.numel(), 256)"', 'grid = "ceil_div(n, 0)"', "// grid"),
    ("block = 256", "block = 2560", "// block"), ("block = 256", "block = true", "// block"),
    ('"y", "n"]', '"y", "m"]', "// args"), ('{ n = "x.numel()" }', '{ n = "z.numel()" }', "// sizes"),
    ('inputs = ["x"]', 'inputs = ["x", "b"]', "// inputs"), ("// block = 256\n", "", "// /// kengine"),
])  # fmt: skip
def test_the_launch_block_is_wrong(emulated: Verify, old: str, new: str, key: str) -> None:
    text = edited("block", (old, new))
    verdict = emulated("block", text)
    assert verdict.status.value in ("compile_failed", "launch_failed") and verdict.message.startswith("k.cu: ")
    assert text.split("\n")[verdict.line - 1].startswith(key), verdict.message


@pytest.mark.parametrize(("edit", "message"), [
    (("torch::Tensor launch(", "void launch("), "the output is None"),
    (("return y;", "return y.view({10, 100});"), "has shape [10, 100], expected [1000]"),
    (("return y;", "return y.to(torch::kDouble);"), "has dtype float64, expected float32"),
])  # fmt: skip
def test_a_host_function_that_returns_the_wrong_thing(emulated: Verify, edit: tuple[str, str], message: str) -> None:
    edits = (edit, ("  return y;", "")) if "void" in edit[1] else (edit,)
    check(emulated("inline", edited("inline", *edits)), "", "wrong_result", message, "")


@pytest.mark.parametrize("form", ALL)
def test_a_librarys_header_that_is_not_there_is_unsupported(compiled: Verify, form: str) -> None:
    text = with_header(form, "#include <cutlass/cutlass.h>\n")
    check(compiled(form, text), text, "unsupported", "there is no cutlass/cutlass.h here", "#include <cutlass")


def test_a_header_of_hip_and_a_text_that_ends_too_early_where_nothing_runs(compiled: Verify) -> None:
    for form in ("raw", "block"):
        text = with_header(form, "#include <hip/hip_runtime.h>\n")
        check(compiled(form, text), text, "compile_failed", "is HIP's", "#include <hip")
        text = edited(form, in_kernel("if (i < n) { y[i] = x[i];"))
        check(compiled(form, text), text, "compile_failed", 'expected a "}"', "")


@pytest.mark.parametrize(("log", "line", "status"), [
    ('k.cu(3): error: identifier "z" is undefined\n', 3, "compile_failed"),
    ("k.cu:2:10: fatal error: mine.h: No such file or directory\n", 2, "compile_failed"),
    ("k.cu:2:10: fatal error: cute/tensor.hpp: No such file or directory\n", 2, "unsupported"),
    ('/x/cub/cub.cuh(20): error: #error directive: "no"\n', 1, "compile_failed"),
    ('At end of source: error: expected a "}"\n', 4, "compile_failed"),
    ("nothing known\n", 0, "compile_failed"),
])  # fmt: skip
def test_lines_of_the_compilers_logs(log: str, line: int, status: str) -> None:
    from kengine.native.driver import Unit
    from kengine.native.lines import locate

    text = "#include <cub/cub.cuh>\n// 2\n// 3\n// 4\n"
    fault = compiler._fault("failed", log, Unit(text, "k.cu", locate(text, text)), "k.cu")
    assert (fault.line, fault.status) == (line, status), fault.message


def test_no_compiler_for_chips(monkeypatch: pytest.MonkeyPatch) -> None:
    from kengine_cuda import targets

    monkeypatch.setattr(targets, "find_places", lambda: Places("", "", ()))
    infos = {str(info.target): info for info in targets.list_targets()}
    assert infos["cuda:sm_90"].capabilities == () and infos["cuda:cpu"].companions == ()
    assert "pip install 'kernel-engine[cuda]'" in infos["cuda:sm_90"].reasons["compile"]


def test_no_compiler_for_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    from kengine.simt import toolchain
    from kengine_cuda import targets

    toolchain.find_compiler.cache_clear()
    monkeypatch.delenv("KENGINE_SIMT_CXX", raising=False)
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    monkeypatch.setattr(toolchain.importlib.util, "find_spec", lambda name: None if name == "ziglang" else True)
    try:
        assert "no C++ compiler found" in targets._missing_compiler() and "pip install" in targets._missing_compiler()
    finally:
        toolchain.find_compiler.cache_clear()


def test_every_form_is_right_as_it_stands(emulated: Verify) -> None:
    assert {form: emulated(form, text).status.value for form, text in FORMS.items()} == dict.fromkeys(FORMS, "passed")
