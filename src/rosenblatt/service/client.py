"""A client of the service, by the standard library's HTTP: all that can be asked, as methods.

Answers are the types of ``requests``, which the service itself answers with.
"""

import http.client
import json
import os
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from time import sleep
from typing import Any, Self, TypeVar
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

import msgspec

from rosenblatt.errors import InputError, RosenblattError
from rosenblatt.service import requests
from rosenblatt.service.limits import PORT, TOKEN_VARIABLE

FIRST_WAIT = 0.1  # seconds before the first repetition; each later one waits three times as long
LINES = 1000  # events of the journal that are asked for at a time
JSON = {"Content-Type": "application/json"}
JOB_EVERY = 0.1  # seconds between two looks at a job

Features = Mapping[str, float | str | bool | None] | Sequence[float]
Labels = requests.Label | Collection[requests.Label]  # several, where a row may have them
Answer = TypeVar("Answer")


class ServiceError(RosenblattError):
    """What the service, or the way to it, refused; the text is the service's own sentence.

    ``status`` is that of HTTP, None if no answer came, and ``retry_after`` the number of seconds
    after which the service asks to be tried again.
    """

    def __init__(
        self, sentence: str, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(sentence)
        self.status, self.retry_after = status, retry_after


class Client:
    """A client of a service of models.

    Connections stay open between requests, and every thread can use the same client: each request
    that runs at the same time has a connection of its own.

    A request whose connection is lost is sent again, ``learn`` included: an example always has an
    id, by which the service knows it. ``forget``, ``rollback``, ``delete`` and changes of tokens
    are never repeated; where the answer to one of them is lost, the error says so.

    Parameters
    ----------
    url : str, default "http://127.0.0.1:8765"
        Address of the service, by ``https:`` where a proxy in front of it has a certificate.
    token : str, optional
        Default: the variable ``ROSENBLATT_TOKEN``, if set.
    timeout : float, default 30.0
        Seconds to wait for an answer.
    retries : int, default 3
        Number of repetitions after a lost connection, after 0.1, 0.3, 0.9, … seconds.

    Examples
    --------
    ``rosenblatt serve`` runs in another window::

        from rosenblatt.service import Client

        with Client() as client:
            client.create("mail", classes=["ham", "spam"])
            client.learn("mail", {"cheap": 1, "pills": 1}, "spam", id="mail-1")
            client.learn("mail", {"lunch": 1}, "ham", id="mail-2")
            client.predict("mail", {"cheap": 1}).label  # 'spam'
            client.why("mail", {"cheap": 1}).teachers[0].id  # 'mail-1'
            client.forget("mail", id="mail-1")
    """

    def __init__(
        self,
        url: str = f"http://127.0.0.1:{PORT}",
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 3,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise InputError(f"url must be an address like http://127.0.0.1:8765; got {url!r}.")
        if parts.username or parts.query or parts.fragment:
            msg = "url must not contain credentials, a query or a fragment; pass token=."
            raise InputError(msg)
        token = token if token is not None else os.environ.get(TOKEN_VARIABLE)
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token.strip()):
            raise InputError("token must be one word of ASCII characters.")
        self.url = url.rstrip("/")
        self._parts, self._prefix = parts, parts.path.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token.strip()}"}
        self._timeout, self._retries = timeout, retries
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"  # never with the token

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections that are open and unused."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # Models

    def models(self) -> list[requests.Description]:
        """Return all models that the token may know of."""
        return self._ask(requests.ModelList, "GET", "/v1/models").models

    def create(self, model: str, *, file: bytes | None = None, **spec: Any) -> requests.Description:
        """Create a model, or go on from the contents of a model ``file``.

        The same again changes nothing. ``spec`` holds fields of ``ModelSpec``, for example
        ``rule="pa1", parameters={"C": 0.5}, features={"kind": "hashed"}``.
        """
        body = {**spec, **_without_none(file=msgspec.to_builtins(file))}
        return self._ask(requests.Description, "PUT", _path(model), body)

    def describe(self, model: str, *, curve: bool = False) -> requests.Description:
        """Return what a model is and how it is doing, with the curve of its error if asked for."""
        return self._ask(
            requests.Description, "GET", _path(model), query={"curve": 1} if curve else None
        )

    def delete(self, model: str) -> None:
        """Delete a model with all of its examples."""
        self._send("DELETE", _path(model), again=False)

    # Predicting and learning

    def predict(
        self, model: str, features: Features, *, id: str | None = None, version: int | None = None
    ) -> requests.Prediction:
        """Predict one row, by an older version if given; ``feedback`` can name its id later."""
        fields: dict[str, Any] = {"features": features, "id": id, "version": version}
        return self._post(requests.Prediction, model, "predict", **fields)

    def predict_many(
        self, model: str, rows: Iterable[Features], *, version: int | None = None
    ) -> requests.Predictions:
        """Predict rows, all by one version."""
        return self._post(requests.Predictions, model, "predict", rows=list(rows), version=version)

    def learn(
        self, model: str, features: Features, label: Labels, *, id: str | None = None
    ) -> requests.Learned:
        """Teach one example; it is on the disk of the service when this returns.

        Where rows may have several labels (``goal`` of ``create``), ``label`` is a collection.
        With an ``id`` of your own the same example can be sent again at any time, and be forgotten
        by it. Without one it gets a random id.
        """
        return self._post(requests.Learned, model, "learn", **_example(features, label, id))

    def learn_many(
        self,
        model: str,
        examples: Iterable[tuple[Features, Labels] | tuple[Features, Labels, str | None]],
    ) -> requests.LearnedMany:
        """Teach examples, all or none: pairs of features and label, or these and an id."""
        listed = [_example(*example) for example in examples]
        return self._post(requests.LearnedMany, model, "learn", examples=listed)

    def feedback(self, model: str, id: str, label: Labels) -> requests.Learned:
        """Teach the true label of an earlier prediction that had an id."""
        return self._post(requests.Learned, model, "feedback", id=id, label=label)

    # Reasons

    def explain(
        self,
        model: str,
        features: Features,
        *,
        label: requests.Label | None = None,
        version: int | None = None,
        top: int = 20,
    ) -> requests.ExplanationAnswer:
        """Return what each feature of a row adds to its score, the ``top`` largest amounts.

        Of several labels it is the score of ``label``, by default of the one with the highest.
        """
        fields: dict[str, Any] = {"features": features, "label": label}
        fields |= {"version": version, "top": top}
        return self._post(requests.ExplanationAnswer, model, "explain", **fields)

    def why(
        self, model: str, features: Features, *, label: requests.Label | None = None, top: int = 20
    ) -> requests.WhyAnswer:
        """Return the examples that taught the model its score of a row; see ``explain``."""
        fields: dict[str, Any] = {"features": features, "label": label, "top": top}
        return self._post(requests.WhyAnswer, model, "why", **fields)

    def journal(self, model: str, *, after: int = 0) -> Iterator[requests.JournalLine]:
        """Yield the events of a model after a sequence number, up to the newest at the time."""
        end = self.describe(model).version
        while after < end:
            limit = min(LINES, end - after)
            yield from self._lines(model, after=after, limit=limit)
            after += limit

    def mistakes(self, model: str, *, limit: int = 20) -> list[requests.JournalLine]:
        """Return the latest examples that were predicted wrong, the last one first."""
        return self._lines(model, mistakes=1, limit=limit)

    def _lines(self, model: str, **query: int) -> list[requests.JournalLine]:
        found = self._send("GET", _path(model, "journal"), query=query)
        return msgspec.json.Decoder(requests.JournalLine).decode_lines(found)

    def export(self, model: str, format: str = "model", *, version: int | None = None) -> bytes:
        """Return a model as the contents of a file: ``"model"``, ``"json"`` or ``"onnx"``."""
        query = _without_none(format=format, version=version)
        return self._send("GET", _path(model, "export"), query=query)

    # Forgetting

    def forget(
        self,
        model: str,
        *,
        id: str | None = None,
        token: str | None = None,
        before: float | None = None,
        wait: bool = True,
    ) -> requests.Forgotten:
        """Forget examples, so that the model never saw them.

        Those are meant that fit all that is given: the ``id`` of one, the name of the ``token``
        that taught them, taught ``before`` a time in seconds since 1970. With ``wait`` it returns
        when the replay has ended; without, ``job`` tells how far it is.
        """
        wanted = {"id": id, "token": token, "before": before}
        found = self._post(requests.Forgotten, model, "forget", again=False, **wanted)
        if not wait:
            return found
        while (job := self.job(model, found.job)).status == "waiting":
            sleep(JOB_EVERY)
        if job.status == "failed":
            raise ServiceError(job.error or "The examples could not be forgotten.")
        version = found.version if job.version is None else job.version
        return requests.Forgotten(examples=job.examples or 0, version=version, job=job.job)

    def job(self, model: str, job: int) -> requests.Job:
        """Return how far a forgetting in the background is."""
        return self._ask(requests.Job, "GET", _path(model, "jobs", str(job)))

    def rollback(self, model: str, version: int) -> requests.Description:
        """Return a model to an older version; what it learned since is no longer counted."""
        return self._post(requests.Description, model, "rollback", again=False, version=version)

    # Tokens and state

    def tokens(self) -> list[requests.TokenAnswer]:
        """Return all tokens, without the secrets."""
        return self._ask(requests.TokenList, "GET", "/v1/tokens").tokens

    def make_token(
        self,
        name: str,
        scopes: Sequence[str] = ("predict",),
        *,
        models: Sequence[str] | None = None,
    ) -> requests.TokenAnswer:
        """Make a token for some models or all; its ``token`` is shown only in this answer.

        The scopes are "predict", "teach", "inspect" and "admin".
        """
        models = None if models is None else list(models)
        body = _without_none(name=name, scopes=list(scopes), models=models)
        return self._ask(requests.TokenAnswer, "POST", "/v1/tokens", body, again=False)

    def remove_token(self, name: str) -> None:
        """Remove a token: it is refused from now on."""
        self._send("DELETE", f"/v1/tokens/{quote(name, safe='')}", again=False)

    def health(self) -> requests.Ready:
        """Return that the service runs, or raise ServiceError."""
        return self._ask(requests.Ready, "GET", "/health")

    def ready(self) -> requests.Ready:
        """Return whether examples can be learned, and if not, why."""
        return self._ask(requests.Ready, "GET", "/ready", unready=True)

    def metrics(self) -> str:
        """Return the counters, as Prometheus reads them."""
        return self._send("GET", "/metrics").decode()

    def openapi(self) -> dict[str, Any]:
        """Return the description of the interface."""
        return self._ask(dict[str, Any], "GET", "/openapi.json")

    # The way there

    def _post(
        self, kind: type[Answer], model: str, verb: str, *, again: bool = True, **fields: Any
    ) -> Answer:
        return self._ask(kind, "POST", _path(model, verb), _without_none(**fields), again=again)

    def _ask(self, kind: type[Answer], *request: Any, **how: Any) -> Answer:
        return msgspec.json.decode(self._send(*request, **how), type=kind)

    def _send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, Any] | None = None,
        again: bool = True,
        unready: bool = False,
    ) -> bytes:
        """Return the body of an answer; ``unready`` takes that of a service that cannot learn."""
        data = None if body is None else _encoded(body)
        headers = {**self._headers, **({} if data is None else JSON)}
        address = f"{self._prefix}{path}" + (f"?{urlencode(query)}" if query else "")
        attempts = self._retries + 1 if again else 1
        for attempt in range(attempts):
            if attempt:
                sleep(FIRST_WAIT * 3 ** (attempt - 1))
            # An unused connection may have been closed at the other end; what is sent only once
            # goes out on a new one.
            connection = self._connection(new=not again or attempt > 0)
            try:
                connection.request(method, address, data, headers)
                response = connection.getresponse()
                found = response.read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if attempt + 1 == attempts:
                    raise self._lost(error, again=again) from error
                continue
            if response.will_close:
                connection.close()
            else:
                with self._lock:
                    self._idle.append(connection)
            if response.status < 300 or (unready and response.status == 503):
                return found
            raise _refusal(response, found)
        raise AssertionError  # the last attempt returns or raises

    def _connection(self, *, new: bool) -> http.client.HTTPConnection:
        if not new:
            with self._lock:
                if self._idle:
                    return self._idle.pop()
        secure = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        return kind(str(self._parts.hostname), self._parts.port, timeout=self._timeout)

    def _lost(self, error: Exception, *, again: bool) -> ServiceError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        msg = f"{self.url} does not answer: {reason}."
        if not again and not isinstance(error, ConnectionRefusedError):
            msg += " Whether the request was carried out is not known: look before you repeat it."
        return ServiceError(msg)


def _path(model: str, *rest: str) -> str:
    return "/".join(("/v1/models", quote(model, safe=""), *rest))


def _without_none(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _example(features: Features, label: Labels, id_: str | None = None) -> dict[str, Any]:
    return {"features": features, "label": label, "id": uuid4().hex if id_ is None else id_}


def _encoded(body: Any) -> bytes:
    def default(value: Any) -> Any:
        if hasattr(value, "tolist"):  # of NumPy
            return value.tolist()
        if isinstance(value, Mapping):
            return dict(value)
        if isinstance(value, set | frozenset):
            return list(value)
        msg = f"A {type(value).__name__} cannot be sent: use numbers, words, bools and None."
        raise InputError(msg)

    try:
        return json.dumps(body, allow_nan=False, default=default).encode()
    except InputError:
        raise
    except ValueError as error:
        msg = "Numbers must be finite. Leave out a feature that is missing, or give None."
        raise InputError(msg) from error


def _refusal(response: http.client.HTTPResponse, body: bytes) -> ServiceError:
    try:
        sentence = str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):  # a proxy answered by itself
        reason = response.reason or HTTPStatus(response.status).phrase
        sentence = f"The answer has the status {response.status} ({reason})."
    after = response.headers.get("Retry-After", "")
    return ServiceError(sentence, response.status, float(after) if after.isdigit() else None)
