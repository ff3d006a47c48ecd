"""The OpenAPI page, the metrics and the files of the page: what others' programs rely on."""

from pathlib import Path

import pytest

from rosenblatt.service.operations import OPERATIONS

from .conftest import Asked

MODEL = "/v1/models/m"


@pytest.fixture
def asked(service: Asked) -> Asked:
    """Return a service with a model of names and one of arrays."""
    service.ask("PUT", MODEL, {})
    service.ask("PUT", "/v1/models/a", {"features": {"kind": "array"}})
    for k, label in enumerate(["yes", "no", "yes"]):
        service.ask("POST", f"{MODEL}/learn", {"features": {"x": k, "w": label}, "label": label})
        service.ask("POST", "/v1/models/a/learn", {"features": [k, 1], "label": k})
    return service


def test_openapi_has_every_operation(asked: Asked) -> None:
    """Every operation is in the document, with the types that check its requests."""
    document = asked.ask("GET", "/openapi.json").json()
    for one in OPERATIONS:
        described = document["paths"][one.path][one.method.lower()]
        if one.request is not None:
            schema = described["requestBody"]["content"]["application/json"]["schema"]
            assert schema["$ref"].rpartition("/")[2] == one.request.__name__
            assert one.request.__name__ in document["components"]["schemas"]
    names = [one.handler.__name__ for one in OPERATIONS]
    assert len(set(names)) == len(names)


def test_metrics_are_what_prometheus_reads(asked: Asked) -> None:
    """Every line is a comment or a name, labels and a number; histograms add up."""
    text = asked.ask("GET", "/metrics").text
    for line in text.splitlines():
        if not line.startswith("# "):
            name, _, value = line.rpartition(" ")
            assert name.startswith("rosenblatt_")
            float(value)
    assert 'rosenblatt_progressive_error{model="m"}' in text
    assert 'le="+Inf"} 6' in text  # six examples


def test_a_page_file_is_found_by_name_alone(asked: Asked, tmp_path: Path) -> None:
    """Nothing but the files of the page can be asked for."""
    (tmp_path / "secret.html").write_text("secret")
    for path in ("/page/..%2f..%2fsecret.html", "/page/operations.py", "/page/none.html"):
        assert asked.ask("GET", path).status_code == 404
