"""Modes of PyTorch's dispatcher that see an operator do not bring in its compiler, whose import takes seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("torch")

MODES = {
    "Follower": ("kengine.provenance.dispatch", "Follower(Ledger())"),
    "Listener": ("kengine.provenance.dispatch", "Listener(lambda: None)"),
    "Tracer": ("kengine.judge.operators", "Tracer('x.py')"),
    "Alteration": ("kengine.judge.operators", "Alteration(Operator(0, 'mm', 1, 1, False), 'disturb')"),
    "Contractions": ("kengine.judge.contractions", "Contractions((0, 1 << 63), set())"),
}


@pytest.mark.parametrize("name", MODES)
def test_the_first_operator_imports_no_compiler(name):
    module, made = MODES[name]
    code = (
        f"import sys, torch\nfrom kengine.provenance.ledger import Ledger\nfrom {module} import *\n"
        f"with torch.no_grad(), {made}:\n    print(torch.mm(torch.ones(2, 3), torch.ones(3, 2)).sum().item() > 0)\n"
        "print([m for m in ('torch._dynamo', 'torch._inductor', 'sympy') if m in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("\n")[:2] == ["True", "[]"], done.stderr
