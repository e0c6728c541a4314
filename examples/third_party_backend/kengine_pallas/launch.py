"""Launch: call the entry on JAX arrays over the task's memory, wait for the results, and hand them back."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental.pallas import tpu as pltpu
from kengine.errors import CandidateFault
from kengine.model import Artifact, Mode
from kengine.plugins import Inputs, Outputs
from kengine.runner import entry

from kengine_pallas import arrays, faults, patch
from kengine_pallas.compile import BUILDS


def launch_candidate(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once. Raises CandidateFault (launch_failed, crashed) for whatever it raises."""
    module, view = BUILDS[artifact.build]
    with patch.launching(mode) as launches, faults.listening() as heard:
        try:
            # JAX computes in the background: what a kernel raises comes out where its result is waited for.
            value = jax.block_until_ready(entry.call_candidate(module, view, inputs, arrays.to_jax))
            jax.effects_barrier()
        except CandidateFault as fault:
            pltpu.reset_tpu_interpret_mode_state()
            raise faults.explain(fault.__cause__ or fault, fault.status, "the candidate", heard) from fault
        except Exception as error:
            pltpu.reset_tpu_interpret_mode_state()
            raise faults.explain(error, "launch_failed", "the candidate", heard) from error
    return Outputs(arrays.from_jax(value, arrays.made_with_torch(inputs)), tuple(launches))


def rehearse() -> None:
    """Run one small kernel, so that the first candidate finds everything started."""

    def double(source, target):  # type: ignore[no-untyped-def]
        target[...] = source[...] + source[...]

    ones = jnp.ones((8, 128), jnp.float32)
    jax.block_until_ready(patch.pallas_call(double, jax.ShapeDtypeStruct(ones.shape, ones.dtype))(ones))
