"""The candidate uses the network.

What it does:
Finds uses of sockets, HTTP clients, and loaders that download (`torch.hub`, `huggingface_hub`, `kernels.get_kernel`).

Why is this bad:
What is fetched is not what is judged. The sandbox has no network; this says so before anything runs.

Example:
    module = torch.hub.load("someone/kernels", "rmsnorm")

Use instead:
    Put the kernel into the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "socket", "_socket", "ssl", "urllib.request", "urllib3", "http.client", "http.server", "ftplib", "smtplib",
    "telnetlib", "xmlrpc", "socketserver", "requests", "httpx", "aiohttp", "websocket", "websockets", "paramiko",
    "torch.hub", "torch.utils.model_zoo", "torch.distributed.rpc", "huggingface_hub", "kernels.get_kernel", "wget",
    "fsspec", "boto3", "asyncio.open_connection",
)  # fmt: skip
_HARMLESS = ("torch.hub.get_dir", "socket.timeout", "socket.error", "requests.exceptions")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    for node, name in source.references():
        if is_within(name, _NAMES) and not is_within(name, _HARMLESS) and not context.allows(name):
            yield hit(node, f"{name} uses the network; a kernel must be whole in its files")


RULE = Rule("KE110", "uses-network", "reject", check, __doc__)
