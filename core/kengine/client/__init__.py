"""One client for trainers: many candidates in, verdicts out, in this process or from a server; blocking or awaited.

    from kengine.client import Client, Settings
    with Client(Settings(target="triton:interpret")) as client:
        judged = client.judge(items)              # or: await client.judge_async(items)

With `Settings(url="http://...")` the same calls go to a `kengine serve`. In the place of each item stands its verdict,
or an InfraError when the machine failed or the time was over: such a sample is to be masked, never to be punished.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kengine.client.client import Client, shared
    from kengine.client.settings import Settings
    from kengine.errors import DeadlineExceeded

_HOME = {
    "Client": "kengine.client.client",
    "shared": "kengine.client.client",
    "Settings": "kengine.client.settings",
    "DeadlineExceeded": "kengine.server.protocol",
}
__all__ = ["Client", "DeadlineExceeded", "Settings", "shared"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'kengine.client' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
