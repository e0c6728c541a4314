"""Host code that calls an operator of torch beside the kernel.

What it does:
Finds matrix products, convolutions, softmax, norms and attention of ATen in the C++ text of an extension.

Why is this bad:
The operator's own kernel does that part. It is a warning: the checks see which operator wrote the result. A task may
permit one: `allow = ["torch.matmul"]`.

Example:
    auto y = torch::matmul(x, w);

Use instead:
    A kernel that multiplies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit

from kengine_hip.lint.text import DeviceText, TextRule

_CALL = re.compile(
    r"\b(?:torch|at)::(?:nn::functional::)?(matmul|mm|bmm|addmm|baddbmm|linear|conv[123]d|conv_transpose[123]d|softmax"
    r"|log_softmax|layer_norm|group_norm|batch_norm|instance_norm|rms_norm|scaled_dot_product_attention|einsum|cumsum"
    r"|cross_entropy_loss|gelu|silu)\s*\("
)


def check(text: DeviceText, context: Context) -> Iterator[Hit]:
    """Look at every call by its full name."""
    for match in _CALL.finditer(text.code):
        name = match.group(1)
        if not context.allows(f"torch.{name}", f"torch.nn.functional.{name}"):
            yield Hit(text.line(match.start()), f"torch::{name} is a kernel of the framework")


RULE = TextRule("KH106", "framework-operator", "warn", check, __doc__)
