"""Remote schedulers: by TLS, or not at all unless somebody says so."""

import shutil
import subprocess
from contextvars import Context
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest
from distributed import LocalCluster, Security

from rosenblatt.distributed import DaskPerceptron, remote_client
from rosenblatt.errors import InputError
from tests.distributed.clusters import rows, threads


def test_no_tls_no_connection() -> None:
    """A plain address is refused with what it would mean, and TLS asks for its three files."""
    with (
        pytest.raises(InputError, match=r"give a tls:// address, or say unencrypted=True"),
        remote_client("tcp://127.0.0.1:8786"),
    ):
        pass
    with (
        pytest.raises(InputError, match=r"needs tls_cert= and tls_key= too: files in PEM"),
        remote_client("tls://127.0.0.1:8786", tls_ca="ca.pem"),
    ):
        pass


def test_unreachable_scheduler() -> None:
    """A scheduler that does not answer is told by its address."""
    with (
        pytest.raises(InputError, match=r"The scheduler tcp://127.0.0.1:9 cannot be reached"),
        remote_client("tcp://127.0.0.1:9", unencrypted=True, timeout=0.5),
    ):
        pass


def test_said_in_words() -> None:
    """With ``unencrypted`` a scheduler without TLS is spoken to."""
    with (
        LocalCluster(
            n_workers=1, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        remote_client(cluster.scheduler_address, unencrypted=True) as client,
    ):
        assert client.submit(sum, [1, 2]).result() == 3


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[str, str]:
    """Make a certificate that is its own authority, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not there")
    cert, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    subprocess.run(  # noqa: S603
        [
            *(openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-keyout", key, "-out", cert),
        ],
        check=True,
        capture_output=True,
    )
    return cert, key


def test_tls(certificate: tuple[str, str]) -> None:
    """A cluster with TLS is trained on, to the bits of the simulation."""
    import dask.array as da

    cert, key = certificate
    files: dict[str, Any] = {
        f"tls_{role}_{part}": file
        for role in ("scheduler", "worker", "client")
        for part, file in (("cert", cert), ("key", key))
    }
    security = Security(tls_ca_file=cert, require_encryption=True, **files)
    X, y = rows(60, noise=0.0)
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            protocol="tls",
            host="127.0.0.1",
            security=security,
            dashboard_address=":0",
        ) as cluster,
        remote_client(cluster.scheduler_address, tls_ca=cert, tls_cert=cert, tls_key=key) as client,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        clf = DaskPerceptron(client=client, n_shards=2, max_iter=200)
        clf.fit(da.from_array(X, chunks=(30, -1)), da.from_array(y, chunks=30))
    assert (clf.coef_ == clf.simulate(X, y).coef_).all()


def test_no_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any client the sentence says how to get one."""
    import dask.array as da

    # The cluster that other tests of this process share stays open, and is not to be found.
    monkeypatch.setattr("distributed.client._global_clients", WeakValueDictionary())
    clf = DaskPerceptron()
    X, y = rows(20)
    with threads(1) as closed:
        pass
    assert closed.status == "closed"
    blocks = da.from_array(X, chunks=(10, -1)), da.from_array(y, chunks=10)
    with pytest.raises(InputError, match="There is no Dask client: give client=Client"):
        Context().run(clf.fit, *blocks)
