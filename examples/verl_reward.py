"""kengine as verl's reward: the configuration, a row of data, and what verl gets for a few answers.

    pip install 'kernel-engine[triton]'
    python verl_reward.py

verl loads the function itself; in its configuration stands

    reward:
      custom_reward_function:
        path: pkg://kengine.integrations.verl
        name: compute_score
        reward_kwargs:
          target: "triton:interpret"      # or url: "http://judge:8471", a `kengine serve` on a machine with the device
          reward: staged
          parameters: {speed: 0}          # an emulator says nothing about speed

and the rows of its parquet files look like ROW.
"""

import asyncio

from kengine.integrations.verl import compute_score

TASK = '''
import torch

def make_inputs(seed, device, n=1000):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(n, generator=draw, device=device),)

def reference(x):
    return torch.relu(x)
'''
ROW = {
    "prompt": [{"role": "user", "content": "Write a Triton kernel for torch.relu; the entry is candidate(x)."}],
    "data_source": "kengine",
    "ability": "kernels",
    "reward_model": {"style": "rule", "ground_truth": TASK},
    "extra_info": {"split": "train", "index": 0},
}
REWARD_KWARGS = {"target": "triton:interpret", "reward": "staged", "parameters": {"speed": 0}}

RIGHT = '''Each program takes 256 elements.

```python
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.maximum(tl.load(x + at, mask=at < n), 0.0), mask=at < n)

def candidate(x):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
    return out
```
'''
ANSWERS = {
    "right": RIGHT,
    "wrong": RIGHT.replace("tl.maximum", "tl.minimum"),
    "no mask": RIGHT.replace(", mask=at < n", ""),
    "torch does it": "```python\nimport torch\n\ndef candidate(x):\n    return torch.relu(x)\n```",
    "no code": "I would use one program per row.",
}


async def main():
    scores = await asyncio.gather(
        *(
            compute_score(ROW["data_source"], answer, ROW["reward_model"]["ground_truth"], ROW["extra_info"], **REWARD_KWARGS)
            for answer in ANSWERS.values()
        )
    )
    for name, score in zip(ANSWERS, scores):
        print(f"{name:14} score {score['score']:.1f}  {score['kengine_status']}")
    return dict(zip(ANSWERS, scores))


if __name__ == "__main__":
    asyncio.run(main())
