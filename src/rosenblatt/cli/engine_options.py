"""Options that say on how many processes or machines a training runs."""

from dataclasses import dataclass, fields
from typing import Any

import click

from rosenblatt.cli.option_group import Command, Decorator, option_group
from rosenblatt.cli.sizes import size

OPTIONS: tuple[Decorator, ...] = (
    click.option(
        "--engine",
        type=click.Choice(["process", "dask"]),
        default="process",
        show_default=True,
        help="Train in this process, or on the workers of a Dask cluster.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1),
        metavar="N",
        help="Start so many worker processes on this machine; one for each processor.",
    ),
    click.option(
        "--worker-memory",
        callback=size,
        metavar="SIZE",
        help="What a worker may take before it is restarted; its share of the machine.",
    ),
    click.option(
        "--scheduler", metavar="ADDRESS", help="Use the cluster of this scheduler (tls://…)."
    ),
    click.option("--tls-ca", metavar="FILE", help="Certificate of the authority that both trust."),
    click.option("--tls-cert", metavar="FILE", help="Certificate of this client."),
    click.option("--tls-key", metavar="FILE", help="Key of this client."),
    click.option(
        "--unencrypted",
        is_flag=True,
        help="Speak to a scheduler without TLS: whoever reaches it can run code in its workers.",
    ),
    click.option(
        "--shards",
        type=click.IntRange(1),
        metavar="N",
        help="Divide the rows into so many shards; as many as there are workers.",
    ),
    click.option(
        "--mixing",
        type=click.Choice(["uniform", "mistakes"]),
        help="How much each shard counts: all alike, or by its mistakes.",
    ),
    click.option(
        "--shuffle-shards", is_flag=True, help="Deal the rows out to the shards at random."
    ),
)


@dataclass(frozen=True)
class EngineOptions:
    """What a user says of the engine."""

    engine: str = "process"
    workers: int | None = None
    worker_memory: int | None = None
    scheduler: str | None = None
    tls_ca: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    unencrypted: bool = False
    shards: int | None = None
    mixing: str | None = None
    shuffle_shards: bool = False

    def __post_init__(self) -> None:
        given = [
            f"--{entry.name.replace('_', '-')}"
            for entry in fields(self)
            if entry.name != "engine" and getattr(self, entry.name) not in (None, False)
        ]
        if self.engine != "dask" and given:
            msg = f"{given[0]} says nothing without --engine dask."
            raise click.UsageError(msg)
        for name in ("--workers", "--worker-memory"):
            if self.scheduler is not None and name in given:
                msg = f"{name} is for workers on this machine: leave it or --scheduler out."
                raise click.UsageError(msg)
        for name in ("--tls-ca", "--tls-cert", "--tls-key", "--unencrypted"):
            if self.scheduler is None and name in given:
                msg = f"{name} goes with --scheduler."
                raise click.UsageError(msg)


def engine_options(command: Command) -> Command:
    """Add the options to a command, which is given ``engine``."""
    from functools import wraps

    names = [entry.name for entry in fields(EngineOptions)]

    @wraps(command)
    def with_engine(*args: Any, **options: Any) -> Any:
        engine = EngineOptions(**{name: options.pop(name) for name in names})
        return command(*args, engine=engine, **options)

    return option_group(OPTIONS)(with_engine)
