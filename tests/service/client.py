"""What tests ask a running service: requests of httpx, answers in the service's own types."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import httpx
import msgspec

from rosenblatt.service import requests

Features = Mapping[str, float | str | bool | None] | Sequence[float]
Labels = requests.Label | Collection[requests.Label]
Answer = TypeVar("Answer")
WAIT = 60.0  # seconds until a service must listen, or a job must end


class Refusal(Exception):  # noqa: N818
    """The sentence of the service, with the status of HTTP."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


class Client:
    """A client whose connection stays open."""

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, trust_env=False, timeout=WAIT)
        self.asked: list[tuple[str, str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def send(self, method: str, path: str, body: Any = None, **query: Any) -> bytes:
        """Return the body of an answer, or raise Refusal."""
        self.asked.append((method, path))
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        response = self._http.request(method, path, content=content, headers=headers, params=query)
        if response.is_error:
            raise Refusal(response.json()["error"], response.status_code)
        return response.content

    def ask(self, kind: type[Answer], *request: Any, **query: Any) -> Answer:
        """Return an answer as its type."""
        return msgspec.json.decode(self.send(*request, **query), type=kind)

    def post(self, kind: type[Answer], model: str, verb: str, **fields: Any) -> Answer:
        """Return the answer to a question of a model; what is None is left out."""
        body = {name: value for name, value in fields.items() if value is not None}
        return self.ask(kind, "POST", f"/v1/models/{model}/{verb}", body)

    def wait(self) -> None:
        """Return as soon as the service answers."""
        end = time.monotonic() + WAIT
        while True:
            try:
                self.send("GET", "/health")
            except httpx.TransportError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    def create(self, model: str, **spec: Any) -> requests.Description:
        """Create a model of these fields of ModelSpec."""
        return self.ask(requests.Description, "PUT", f"/v1/models/{model}", spec)

    def describe(self, model: str, **query: Any) -> requests.Description:
        """Return what a model is."""
        return self.ask(requests.Description, "GET", f"/v1/models/{model}", **query)

    def predict(self, model: str, features: Features, **fields: Any) -> requests.Prediction:
        """Predict one row."""
        return self.post(requests.Prediction, model, "predict", features=features, **fields)

    def learn(
        self, model: str, features: Features, label: Labels, **fields: Any
    ) -> requests.Learned:
        """Teach one example."""
        given = {"features": features, "label": _plain(label), **fields}
        return self.post(requests.Learned, model, "learn", **given)

    def learn_many(self, model: str, examples: Iterable[tuple[Any, ...]]) -> requests.LearnedMany:
        """Teach examples: features and label, or these and an id."""
        names = ("features", "label", "id")
        listed = [dict(zip(names, (x, _plain(y), *rest), strict=False)) for x, y, *rest in examples]
        return self.post(requests.LearnedMany, model, "learn", examples=listed)

    def feedback(self, model: str, id_: str, label: Labels) -> requests.Learned:
        """Teach the label of a prediction."""
        return self.post(requests.Learned, model, "feedback", id=id_, label=_plain(label))

    def explain(self, model: str, features: Features, **fields: Any) -> requests.ExplanationAnswer:
        """Return the shares of a score."""
        return self.post(requests.ExplanationAnswer, model, "explain", features=features, **fields)

    def why(self, model: str, features: Features, **fields: Any) -> requests.WhyAnswer:
        """Return the examples that taught a score."""
        return self.post(requests.WhyAnswer, model, "why", features=features, **fields)

    def journal(self, model: str, **query: Any) -> Iterator[requests.JournalLine]:
        """Return events of a model."""
        found = self.send("GET", f"/v1/models/{model}/journal", **query)
        yield from msgspec.json.Decoder(requests.JournalLine).decode_lines(found)

    def export(self, model: str, form: str = "model") -> bytes:
        """Return the contents of a file."""
        return self.send("GET", f"/v1/models/{model}/export", format=form)

    def forget(self, model: str, **which: Any) -> requests.Job:
        """Forget examples, and return the job when the replay has ended."""
        found = self.post(requests.Forgotten, model, "forget", **which)
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            job = self.ask(requests.Job, "GET", f"/v1/models/{model}/jobs/{found.job}")
            if job.status != "waiting":
                return job
            time.sleep(0.01)
        raise TimeoutError

    def make_token(self, name: str, scopes: Sequence[str], **more: Any) -> requests.TokenAnswer:
        """Make a token."""
        body = {"name": name, "scopes": scopes, **more}
        return self.ask(requests.TokenAnswer, "POST", "/v1/tokens", body)


def _plain(label: Labels) -> Any:
    return sorted(label, key=str) if isinstance(label, set | frozenset) else label
