"""Extensions for a chip that is not here: device sources are handed over, functions and operators are not run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from kengine.native import unrun  # noqa: E402

SOURCE = """
__global__ void k() {}
at::Tensor f(const at::Tensor& a, double b);
TORCH_LIBRARY(unrun_ops, m) {
  // m.def("noted(Tensor a) -> Tensor");
  m.def("f(Tensor a, "
        "float b=1.0) -> Tensor");
  m.def("bare", &f).def("chained(int n) -> int", [](int64_t n) { return n; });
}
TORCH_LIBRARY_IMPL(unrun_ops, CUDA, m) { m.impl("f", &f); }
"""


def test_operators_stand_in_torch_ops_and_are_not_run() -> None:
    from torch.utils import cpp_extension

    seen: list[str] = []
    with unrun.collecting(lambda unit, given: seen.append(unit.filename), "cuda"):
        made = cpp_extension.load_inline("unrun", "", SOURCE, is_python_module=False)
        ops = torch.ops.unrun_ops
        torch.library.register_fake("unrun_ops::f", lambda a, b: a)
        calls: list[tuple[str, Callable[[], object]]] = [
            ("torch.ops.unrun_ops.f ", lambda: ops.f(torch.ones(2))),
            ("torch.ops.unrun_ops.f ", lambda: ops.f.default(torch.ones(2), 2.0)),
            ("torch.ops.unrun_ops.bare ", lambda: ops.bare(torch.ones(2), 1.0)),
            ("torch.ops.unrun_ops.bare.default ", lambda: ops.bare.default(torch.ones(2))),
            ("torch.ops.unrun_ops.chained ", lambda: ops.chained(3)),
            ("unrun.g ", lambda: made.g(1)),
        ]
        for name, call in calls:
            with pytest.raises(unrun.NotRun, match=name.replace(".", r"\.")):
                call()
    assert seen == ["cuda_sources.cu"]
    assert not hasattr(torch.ops.unrun_ops, "bare")  # torch's own namespace again
    assert not hasattr(torch.ops.unrun_ops, "noted")


def test_namespaces_of_torch_keep_their_operators() -> None:
    from torch.utils import cpp_extension

    text = 'TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("kengine_unrun_probe", &f); }\n__global__ void k() {}'
    before = torch.ops.aten
    with unrun.collecting(lambda unit, given: None, "cuda"):
        cpp_extension.load_inline("unrun2", "", text, is_python_module=False)
        assert torch.equal(torch.ops.aten.add(torch.ones(2), 1), torch.full((2,), 2.0))
        with pytest.raises(unrun.NotRun):
            torch.ops.aten.kengine_unrun_probe(1)
    assert torch.ops.aten is before
