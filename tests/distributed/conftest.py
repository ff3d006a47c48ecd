"""One cluster for all tests of this folder: processes take seconds to start."""

from collections.abc import Iterator

import pytest
from distributed import Client

from rosenblatt.distributed import local_client


@pytest.fixture(scope="package")
def shared_client() -> Iterator[Client]:
    """Start two worker processes, which their nannies start again when they are killed."""
    with local_client(2, memory_limit="1GB") as client:
        yield client
        client.wait_for_workers(2)  # none of them is closed while it starts


@pytest.fixture
def client(shared_client: Client) -> Client:
    """Wait until both workers are there, also those that another test killed."""
    shared_client.wait_for_workers(2)
    return shared_client
