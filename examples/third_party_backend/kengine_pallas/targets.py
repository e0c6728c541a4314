"""What there is: the interpreter, which launches everywhere, and chips, which are lowered for where JAX can do it."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec

from kengine.model import Capability, Target, TargetInfo
from kengine.plugins.probe import probe

INTERPRET = Target("pallas", "interpret")
PLATFORMS = {Target("pallas", "tpu"): "tpu", Target("pallas", "cuda"): "cuda"}
"""The chips' targets, and what JAX calls their platforms."""

_BUILDS = {"tpu": "jax[tpu]", "cuda": "jax[cuda13]"}
_ENVIRON = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}

# Whether a kernel can be lowered for a chip that is not here depends on how jaxlib was built: lower one and see.
_LOWER = """
import json
try:
    import jax
    from jax.experimental import pallas as pl

    def copy(source, target):
        target[...] = source[...]

    shape = jax.ShapeDtypeStruct((8, 128), "float32")
    call = jax.jit(pl.pallas_call(copy, out_shape=shape))
    answers = {}
    for platform in ("tpu", "cuda"):
        try:
            jax.export.export(call, platforms=[platform])(shape)
            answers[platform] = ""
        except Exception as error:
            answers[platform] = str(error).split(". ")[0][:200]
except Exception as error:
    answers = {"jax": f"{type(error).__name__}: {error}"[:200]}
print(json.dumps(answers))
"""


def list_targets() -> tuple[TargetInfo, ...]:
    """The interpreter and the chips, each with a reason for everything that it cannot do here."""
    missing = "" if find_spec("jax") and find_spec("jaxlib") else "no module jax: pip install jax"
    return (_interpreter(missing), *(_chip(target, missing) for target in PLATFORMS))


def _interpreter(missing: str) -> TargetInfo:
    able = () if missing else (Capability.compile, Capability.launch)
    reasons = {"time": "an interpreter's time says nothing about any chip"}
    if missing:
        reasons.update(compile=missing, launch=missing)
    return TargetInfo(
        INTERPRET,
        emulated=True,
        capabilities=able,
        reasons=reasons,
        environ=_ENVIRON,
        preload=("numpy",),
        versions=_versions(),
        note="interpret mode of Pallas with checked memory",
    )


def _chip(target: Target, missing: str) -> TargetInfo:
    absent = missing or "kengine-pallas launches on no chip, it lowers for them; launch on pallas:interpret"
    problem = missing or _lowering_problem(PLATFORMS[target])
    reasons = {"launch": absent, "time": absent}
    if problem:
        reasons["compile"] = problem
    return TargetInfo(
        target,
        emulated=False,
        capabilities=() if problem else (Capability.compile,),
        reasons=reasons,
        environ=_ENVIRON,
        preload=("numpy",),
        versions=_versions(),
        note="lowered, not assembled",
    )


def _lowering_problem(platform: str) -> str:
    answer = probe(f"import os; os.environ['JAX_PLATFORMS'] = 'cpu'\n{_LOWER}", timeout_s=60)
    if answer.problem:
        return f"JAX cannot be asked: {answer.problem}"
    if "jax" in answer.value:
        return str(answer.value["jax"])
    problem = answer.value[platform]
    return f"jaxlib cannot lower for {platform} here ({problem}): pip install '{_BUILDS[platform]}'" if problem else ""


def _versions() -> dict[str, str]:
    found = {}
    for name in ("jax", "jaxlib"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
