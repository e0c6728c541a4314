"""An interpreter for NKI kernels of both API generations, on numpy and ml_dtypes."""

from __future__ import annotations

from .compare import Race, find_races, run_twice_and_compare
from .errors import BudgetExceeded, KnockedOut, NkiError, RunFault, UnknownName, Unsupported
from .loader import facade, load
from .options import Options
from .session import Session, session
from .stats import Launch, Stats

__all__ = [
    "BudgetExceeded",
    "KnockedOut",
    "Launch",
    "NkiError",
    "Options",
    "Race",
    "RunFault",
    "Session",
    "Stats",
    "UnknownName",
    "Unsupported",
    "facade",
    "find_races",
    "load",
    "run_twice_and_compare",
    "session",
]
