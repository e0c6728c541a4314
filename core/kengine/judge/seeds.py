"""Seeds: every random number of the judge follows from the run's secret salt, and only from it."""

from __future__ import annotations

import hashlib
import random
import sys


def derive(salt: str, digest: str, case: str, phase: str, draw: int = 0) -> int:
    """A 64-bit seed from SHA-256 over salt, task digest, case name, phase and draw.

    Each part is written with its length before it, so that two different lists of parts never read the same.
    """
    h = hashlib.sha256()
    for part in (salt, digest, case, phase, str(draw)):
        raw = part.encode(errors="surrogatepass")
        h.update(len(raw).to_bytes(8, "big") + raw)
    return int.from_bytes(h.digest()[:8], "big")


def seed_everything(seed: int) -> None:
    """Set the global generators of `random`, of numpy and, if it is loaded, of torch (every CUDA or ROCm device).

    `torch.manual_seed` would do the last; for each kind of device that is not open it formats the caller's stack, to
    remember who asked, which takes longer than drawing the inputs, and keeps it.
    """
    import numpy as np

    random.seed(seed)
    np.random.seed(seed & 0xFFFFFFFF)
    torch = sys.modules.get("torch")
    if torch is not None:
        seed &= 0x7FFFFFFFFFFFFFFF
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_initialized():
            for generator in torch.cuda.default_generators:
                generator.manual_seed(seed)
        elif torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
