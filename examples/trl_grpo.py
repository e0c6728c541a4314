"""GRPO with TRL on a processor, kengine as the reward: a model learns which of its words is a kernel.

    pip install 'kernel-engine[triton]' trl datasets
    python trl_grpo.py [STEPS]

So that this takes a minute and no download, the model is tiny, begins at random, and its vocabulary is made of whole
answers: a right kernel, one that subtracts, one that does not compile, and one that leaves the work to torch. The
trainer, its sampling, its advantages and its optimiser are the real ones, and so are the verdicts. With a model of your
own nothing changes but `model` and `processing_class`.
"""

import argparse
import tempfile

from datasets import Dataset
from kengine.integrations.trl import KernelReward
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, PrinterCallback, set_seed
from trl import GRPOConfig, GRPOTrainer

TASK = '''
# /// kengine
# name = "vector-add"
# [[cases]]
# n = 64
# [[cases]]
# n = 1000
# ///
import torch

def make_inputs(seed, device, n=64):
    draw = torch.Generator(device).manual_seed(seed)
    return torch.randn(n, generator=draw, device=device), torch.randn(n, generator=draw, device=device)

def reference(x, y):
    return x + y
'''

KERNEL = '''```python
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside)
    b = tl.load(y + at, mask=inside)
    tl.store(out + at, a + b, mask=inside)

def candidate(x, y):
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 128),)](x, y, out, x.numel(), BLOCK=128)
    return out
```'''
FRAMEWORK = "```python\nimport torch\n\ndef candidate(x, y):\n    return torch.add(x, y)\n```"
ANSWERS = [KERNEL, KERNEL.replace("a + b", "a - b"), KERNEL.replace("tl.arange", "tl.no_such_function"), FRAMEWORK]


def make_tokenizer():
    words = ["<pad>", "<eos>", "add", *ANSWERS]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<pad>"))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def main(steps):
    set_seed(1)
    tokenizer = make_tokenizer()
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0, eos_token_id=1, bos_token_id=None,
    )
    reward = KernelReward(target="triton:interpret", reward="staged", parameters={"speed": 0})
    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            folder, per_device_train_batch_size=8, num_generations=8, max_completion_length=1, max_steps=steps,
            learning_rate=0.02, beta=0.0, logging_steps=1, save_strategy="no", report_to="none", use_cpu=True,
            disable_tqdm=True, gradient_checkpointing=False, generation_kwargs={"suppress_tokens": [0, 1, 2]},
        )
        trainer = GRPOTrainer(
            model=LlamaForCausalLM(config),
            args=arguments,
            processing_class=tokenizer,
            reward_funcs=reward,
            train_dataset=Dataset.from_list([{"prompt": "add", "task": TASK}] * 64),
        )
        trainer.remove_callback(PrinterCallback)
        trainer.train()
    log = [entry for entry in trainer.state.log_history if "reward" in entry]
    for entry in log:
        print(
            f"step {entry['step']:2}  reward {entry['reward']:.3f}  passed {entry['kengine/passed']:.2f}  "
            f"gradient {entry['grad_norm']:.3f}"
        )
    return log


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="?", type=int, default=8, help="steps of training; default: 8")
    main(parser.parse_args().steps)
