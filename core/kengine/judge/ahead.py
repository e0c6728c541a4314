"""Imported by the zygote of judges whose tasks speak of torch: what each of them would otherwise do anew.

The judge of one candidate lives for one verdict, and importing this takes longer than most of these. The namespaces of
PyTorch's own operators, too, are read before there is a task that could add one.
"""

from __future__ import annotations

import torch

from kengine.judge.widening import Widening
from kengine.provenance.dispatch import Follower
from kengine.provenance.ledger import Ledger

# In float64 and followed, as references run: PyTorch sets much up when this happens for the first time.
with torch.no_grad(), Widening(), Follower(Ledger()):
    torch.zeros(2).add(1.0).to(torch.float64).sum()
