"""river's perceptron behind the same stack as our service: Starlette, msgspec, uvicorn.

It promises less: nothing is on the disk, nothing is numbered, and a restart has learned nothing.
"""

import sys
from typing import Any

import msgspec
import uvicorn
from river import linear_model
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class Example(msgspec.Struct):
    """What is learned or predicted."""

    features: dict[str, float] = {}
    rows: list[dict[str, float]] = []
    label: bool = False


decoder = msgspec.json.Decoder(Example)
model: Any = linear_model.Perceptron()


def _json(body: Any) -> Response:
    return Response(msgspec.json.encode(body), media_type="application/json")


async def learn(request: Request) -> Response:
    """Learn one example."""
    one = decoder.decode(await request.body())
    predicted = model.predict_one(one.features)
    model.learn_one(one.features, one.label)
    return _json({"predicted": predicted})


async def predict(request: Request) -> Response:
    """Predict one row or many."""
    one = decoder.decode(await request.body())
    if one.rows:
        return _json({"labels": [model.predict_one(row) for row in one.rows]})
    return _json({"label": model.predict_one(one.features)})


routes = [
    Route("/learn", learn, methods=["POST"]),
    Route("/predict", predict, methods=["POST"]),
]

if __name__ == "__main__":
    uvicorn.run(
        Starlette(routes=routes),
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
    )
