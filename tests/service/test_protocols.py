"""The Open Inference Protocol and the OpenAPI page: what others' programs rely on."""

from pathlib import Path
from typing import Any

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


def tensor(name: str, datatype: str, shape: list[int], data: list[Any]) -> dict[str, Any]:
    """Return a tensor of the protocol."""
    return {"name": name, "datatype": datatype, "shape": shape, "data": data}


def test_infer_equals_predict(asked: Asked) -> None:
    """Tensors get the labels and scores that the same rows get from predict."""
    inputs = [tensor("x", "FP64", [2], [1, 2]), tensor("w", "BYTES", [2, 1], [["yes"], ["no"]])]
    answer = asked.ask("POST", "/v2/models/m/infer", {"inputs": inputs, "id": "q"}).json()
    rows = [{"x": 1, "w": "yes"}, {"x": 2, "w": "no"}]
    same = asked.ask("POST", f"{MODEL}/predict", {"rows": rows}).json()
    assert (answer["model_name"], answer["model_version"], answer["id"]) == ("m", "3", "q")
    label, score = answer["outputs"]
    assert (label["name"], label["datatype"], label["data"]) == ("label", "BYTES", same["labels"])
    assert (score["shape"], score["data"]) == ([2], same["scores"])


def test_infer_of_arrays_and_versions(asked: Asked) -> None:
    """A matrix goes to a model of arrays, flat or nested, by any version."""
    for data in ([1, 1, 2, 1], [[1, 1], [2, 1]]):
        body = {"inputs": [tensor("features", "FP32", [2, 2], data)]}
        answer = asked.ask("POST", "/v2/models/a/infer", body).json()
        same = asked.ask("POST", "/v1/models/a/predict", {"rows": [[1, 1], [2, 1]]}).json()
        assert answer["outputs"][0]["data"] == [str(label) for label in same["labels"]]
        assert answer["outputs"][1]["shape"] == [2, 3]
        assert answer["outputs"][1]["data"] == [x for row in same["scores"] for x in row]
        old = asked.ask("POST", "/v2/models/a/versions/2/infer", body).json()
        assert (old["model_version"], old["outputs"][1]["shape"]) == ("2", [2])


def test_metadata_and_health(asked: Asked) -> None:
    """Health and metadata have the fields of the protocol."""
    assert asked.ask("GET", "/v2").json()["name"] == "rosenblatt"
    assert asked.ask("GET", "/v2/health/live").json() == {"live": True}
    assert asked.ask("GET", "/v2/health/ready").json()["ready"] is True
    assert asked.ask("GET", "/v2/models/m/ready").json()["ready"] is True
    described = asked.ask("GET", "/v2/models/a").json()
    assert described["inputs"] == [{"name": "features", "datatype": "FP64", "shape": [-1, 2]}]
    assert [one["name"] for one in described["outputs"]] == ["label", "score"]
    assert asked.ask("GET", "/v2/models/none/ready").status_code == 404


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ([], "inputs is empty"),
        ([tensor("x", "FP64", [2], [1])], "has 1 values; its shape says 2"),
        ([tensor("x", "FP64", [1], ["a"])], "is of numbers and holds a text"),
        ([tensor("x", "COMPLEX", [1], [1])], "The datatype 'COMPLEX' is not taken"),
        ([tensor("x", "FP64", [1], [1]), tensor("y", "FP64", [2], [1, 2])], "as many rows"),
        ([tensor("x", "FP64", [1], [1])] * 2, "the same name"),
        ([tensor("x", "FP64", [1], [{}])], "neither number nor text"),
    ],
)
def test_bad_tensors(asked: Asked, inputs: list[Any], sentence: str) -> None:
    """Tensors that do not fit are refused with a sentence."""
    answer = asked.ask("POST", "/v2/models/m/infer", {"inputs": inputs})
    assert answer.status_code == 400
    assert sentence in answer.json()["error"]


def test_only_the_outputs_that_are_asked_for(asked: Asked) -> None:
    """A client may name the outputs it wants; others than label and score are refused."""
    inputs = [{"name": "features", "shape": [1, 2], "datatype": "FP64", "data": [1, 2]}]
    body = {"inputs": inputs, "outputs": [{"name": "score"}]}
    answer = asked.ask("POST", "/v2/models/a/infer", body).json()
    assert [output["name"] for output in answer["outputs"]] == ["score"]
    answer = asked.ask("POST", "/v2/models/a/infer", {**body, "outputs": [{"name": "x"}]})
    assert (answer.status_code, "got 'x'" in answer.json()["error"]) == (400, True)


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
