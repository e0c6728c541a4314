"""Who computed what: the operators and kernels of one call, followed from its inputs to its outputs.

The runner follows a candidate's call and the judge follows the reference's, with the same code; `policy` compares the
two. What a runner says of its own call is the word of a process in which a candidate ran: it can convict, not acquit.
"""

from __future__ import annotations

from kengine.provenance.facts import Facts, KernelUse, OperatorUse, OutputOrigin

__all__ = ["Facts", "KernelUse", "OperatorUse", "OutputOrigin"]
