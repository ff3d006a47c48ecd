"""Clusters that are safe by default: this machine alone, or encrypted.

Whoever reaches a Dask scheduler can run any code in its workers. So a local cluster listens on the
loopback interface only and shows no pages, and a scheduler elsewhere is spoken to by TLS.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, LocalCluster, Security

from rosenblatt.errors import InputError, Parameter

LOOPBACK = "127.0.0.1"
NO_PAGES: dict[str, Any] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
# Nobody looks at profiles without pages, and shards stay where they are. Without them an epoch of
# 16 tiny shards takes 88 to 116 ms on two cores in place of 127.
NO_WATCHING: dict[str, Any] = {
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.diagnostics.computations.nframes": 0,
}
# A worker that died is started again, however long that takes on a busy machine: by default Dask
# gives it up after 15 seconds, and a cluster that lost all its workers never gets one again.
NO_GIVING_UP = {"distributed.deploy.lost-worker-timeout": "1 day"}


@contextmanager
def local_client(n_workers: int, memory_limit: str | int = "auto") -> Iterator[Client]:
    """Start workers, one process and one thread each, on this machine, and stop them at the end.

    Parameters
    ----------
    n_workers : int
    memory_limit : str or int, default "auto"
        What one worker may take before it is restarted; by default its share of the machine.

    Examples
    --------
    >>> from rosenblatt.distributed import local_client
    >>> with local_client(2) as client:  # doctest: +SKIP
    ...     DaskPerceptron(client=client).fit(X, y)
    """
    with (
        dask.config.set({**NO_PAGES, **NO_WATCHING, **NO_GIVING_UP}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            memory_limit=memory_limit,
            host=LOOPBACK,
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": f"{LOOPBACK}:0"},
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def remote_client(
    address: str,
    *,
    tls_ca: str | None = None,
    tls_cert: str | None = None,
    tls_key: str | None = None,
    unencrypted: bool = False,
    timeout: float = 30.0,
) -> Iterator[Client]:
    """Connect to a scheduler: by TLS, or not at all unless ``unencrypted`` says so.

    Parameters
    ----------
    address : str
        As in ``tls://scheduler.example:8786``.
    tls_ca, tls_cert, tls_key : str
        Files in PEM format: of the authority that both sides trust, of this client and its key.
    unencrypted : bool, default False
        Speak to a scheduler without TLS: anybody on the way can read the data, and anybody who
        reaches the scheduler can run code in the workers.
    timeout : float, default 30
        Seconds until the attempt is given up.
    """
    security = None
    if address.startswith("tls://"):
        given = {"tls_ca": tls_ca, "tls_cert": tls_cert, "tls_key": tls_key}
        missing = [f"{Parameter(name)}" for name, value in given.items() if value is None]
        if missing:
            mentions = " and ".join(missing)
            raise InputError(f"A scheduler by TLS needs {mentions} too: files in PEM format.")
        files = {"tls_ca_file": tls_ca, "tls_client_cert": tls_cert, "tls_client_key": tls_key}
        security = Security(require_encryption=True, **files)
    elif not unencrypted:
        raise InputError(
            f"The scheduler {address} is not reached by TLS, and whoever reaches it can run code"
            " in its workers: give a tls:// address, or say "
            f"{Parameter('unencrypted', value=True)} where you trust everybody on that network."
        )
    try:
        client = Client(address, security=security, timeout=timeout)
    except (OSError, TypeError, ValueError) as error:
        told = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"The scheduler {address} cannot be reached: {told}") from error
    with client:
        yield client
