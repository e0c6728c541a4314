"""`kengine serve`: verdicts over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kengine.cli import options
from kengine.errors import UsageError

if TYPE_CHECKING:
    from kengine.server.desk import Judging

PORT = 8471


@click.command("serve")
@options.targets
@options.running
@options.timing
@options.linting
@click.option("--time/--no-time", default=None, help="Measure candidates that are right.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option("--token-file", type=click.Path(path_type=Path), metavar="FILE",
              help="Holds the bearer token that clients must send; else KENGINE_TOKEN.")  # fmt: skip
@click.option("--queue", type=click.IntRange(1), default=1024, show_default=True, metavar="N",
              help="Requests that may wait; one more is told to come again (429).")  # fmt: skip
@click.option("--deadline", type=click.FloatRange(0, min_open=True), default=600.0, show_default=True, metavar="S",
              help="Seconds for a request that names none.")  # fmt: skip
@click.option("--max-request-mb", type=click.FloatRange(0, min_open=True), default=8.0, show_default=True,
              metavar="N", help="Largest request.")  # fmt: skip
@click.option("--max-batch", type=click.IntRange(1), default=64, show_default=True, metavar="N",
              help="Most candidates in one request.")  # fmt: skip
@click.option("--grace", type=click.FloatRange(0), default=30.0, show_default=True, metavar="S",
              help="At the end, seconds for what is being judged.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def command(
    backend: str | None, target: tuple[str, ...], host: str, port: int, token_file: Path | None, queue: int,
    deadline: float, max_request_mb: float, max_batch: int, grace: float, quiet: bool, run: Path | None, **given: Any,
) -> int:  # fmt: skip
    """Judge what trainers send: POST /verify, /verify/batch and /jobs; GET /health and /metrics.

    Listens on this machine alone unless --host says otherwise, which needs a token. SIGTERM ends it: nothing new is
    taken, what is being judged may end.

    \b
    kengine serve --target triton:interpret --jobs 4
    KENGINE_TOKEN=secret kengine serve --backend triton --time --host 0.0.0.0
    """
    from kengine import config
    from kengine.cli import Terminated, codes, interrupts

    try:
        from kengine.server.app import Door
        from kengine.server.desk import Desk
        from kengine.server.gate import LOOPBACK
        from kengine.server.metrics import Metrics
        from kengine.server.run import serve
    except ImportError as error:
        raise UsageError(f"the server needs {error.name}: pip install 'kernel-engine[server]'") from error

    settings = config.read()
    compile_for, jobs = given.pop("compile_for", ()), given.pop("jobs", None)
    choice = options.choose(settings, backend, target, compile_for=compile_for, jobs=jobs)
    plan = options.merge_plan(settings.plan, **given)
    codes.heed(plan, choice.backends, given["select"], given["ignore"])
    token = _token(token_file)
    hosts = LOOPBACK if host in LOOPBACK and not token else frozenset()
    door = Door(token, hosts, round(max_request_mb * (1 << 20)), max_batch, grace)
    metrics = Metrics()
    desk = Desk(_engines(choice, plan, run), room=queue, deadline_s=deadline, observe=metrics.observe)

    def say(address: str) -> None:
        if not quiet:
            click.echo(f"serving {', '.join(desk.engines)} on {address}")

    try:
        serve(desk, metrics, host, port, door, say)
    except (Terminated, KeyboardInterrupt):
        interrupts.settle()  # the signal that ended it, given on once everything was closed
    finally:
        desk.close()
    return 0


def _engines(choice: options.Choice, plan: Any, run: Path | None) -> dict[str, Judging]:
    from kengine.cli.judging import make_engine

    engines: dict[str, Judging] = {}
    try:
        for name, chosen in choice.pairs:
            engine = make_engine(name, chosen, plan, choice.compile_for or None, choice.workers, run)
            engines[str(engine.info.target)] = engine
            engine.warm()
    except BaseException:
        for started in engines.values():
            started.close()
        raise
    return engines


def _token(file: Path | None) -> str:
    if file is None:
        return os.environ.get("KENGINE_TOKEN", "")
    try:
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {file}: cannot be read: {error}") from error
    if not token:
        raise UsageError(f"--token-file {file}: is empty, expected the token")
    return token
