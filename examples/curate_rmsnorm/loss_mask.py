"""Shows that only tokens of the completion count: the loss of an exported row, and where its gradient goes.

    kengine curate curate.toml && python loss_mask.py curated/corpus/messages/train.jsonl

Bytes are the tokens here, so that no tokenizer need be downloaded; any `encode` and any chat template will do.
"""

import argparse
import json
import sys

import torch
from kengine.curate.mask import mask_tokens


def render(messages):
    """ChatML, message by message."""
    return "".join(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in messages)


def encode(text):
    return list(text.encode())


def main(path):
    try:
        with open(path) as file:
            row = json.loads(file.readline())
        row["messages"][-1]["train"]
    except OSError as error:
        sys.exit(f"{path}: cannot be read: {error.strerror}")
    except (ValueError, KeyError, IndexError, TypeError):
        sys.exit(f"{path}: its first line is no row with `messages`: want the file of an exported corpus")
    ids, mask = mask_tokens(row["messages"], render, encode)
    labels = torch.tensor([token if counts else -100 for token, counts in zip(ids, mask)])
    logits = torch.randn(len(ids), 256, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(logits[:-1], labels[1:])  # each position predicts the next token
    loss.backward()
    moved = logits.grad.abs().sum(dim=1) > 0
    completion = bytes(token for token, counts in zip(ids, mask) if counts).decode()
    print(f"{len(ids)} tokens, {sum(mask)} of them count; loss {loss.item():.4f}")
    print(f"positions with a gradient: {int(moved.sum())}, all of them before a token of the completion: "
          f"{bool((moved[:-1] == torch.tensor(mask[1:])).all())}")
    last = render(row["messages"][-1:]).partition("assistant\n")[2]
    print(f"what counts is the last message and its end: {completion == last}")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", help="messages/train.jsonl of an exported corpus")
    sys.exit(main(parser.parse_args().rows))
