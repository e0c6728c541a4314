"""Small numpy tasks, and the head of a kernel file of each generation."""

from __future__ import annotations

NEW = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\nimport numpy as np\n"
OLD = (
    "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.isa as nisa\n"
    "import neuronxcc.nki.language as nl\n"
)


def task(reference: str, *shapes: tuple[int, ...], dtype: str = "float32", block: str = "") -> str:
    """A task of random normal arrays; `reference` is the body of a function of a, b, c, ..."""
    names = ", ".join("abcdefgh"[: len(shapes)])
    block = f"# /// kengine\n{block}\n# ///\n" if block else ""
    return f"""{block}
import numpy as np

def make_inputs(seed, device):
    draw = np.random.default_rng(seed)
    return [draw.standard_normal(shape).astype(np.{dtype}) for shape in {list(shapes)}]

def reference({names}):
    return {reference}
"""


ADD = task("a + b", (200, 40), (200, 40))
