import pytest
from kengine import codec
from kengine.model import Status, Verdict


def test_nothing_is_launched(kengine, add) -> None:
    result = kengine("compile", "--backend", "toy", "--json", add)
    assert (result.code, result.err) == (0, "")
    verdict = codec.loads(result.out, Verdict)
    assert verdict.status is Status.passed and "nothing was launched" in verdict.message
    (artifact,) = verdict.stages.compile.artifacts
    assert str(artifact.target) == "toy:cpu"
    assert verdict.stages.launch is None and verdict.stages.compare is None


def test_what_does_not_compile(kengine, add) -> None:
    add.write_text(add.read_text().replace("@toy.kernel", "raise ValueError('not today')"))
    result = kengine("compile", "--backend", "toy", add)
    assert result.code == 1 and "compile_failed" in result.out and "not today" in result.out


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
def test_resources_of_a_chip_that_is_not_here(kengine, arch) -> None:
    pytest.importorskip("torch", reason="needs torch: pip install 'kernel-engine[triton]'")
    pytest.importorskip("triton", reason="needs triton: pip install 'kernel-engine[triton]'")
    from pathlib import Path

    path = Path(__file__).resolve().parents[2] / "examples" / "triton" / "rmsnorm" / "one_row.py"
    result = kengine("compile", "--target", f"triton:{arch}", "--json", path)
    assert result.code == 0, result.err
    verdict = codec.loads(result.out, Verdict)
    (artifact,) = verdict.stages.compile.artifacts
    assert str(artifact.target) == f"triton:{arch}"
    assert {k.name for k in artifact.kernels} == {"normalize_row"}
    assert artifact.kernels[0].registers > 0
