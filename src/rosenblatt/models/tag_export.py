"""A model of sequences as JSON, from which other programs can tag."""

import json

import numpy as np

from rosenblatt.data.sequences.encoding import WordEncoding
from rosenblatt.data.sequences.templates import template_name
from rosenblatt.kernels.sequences.paths import EDGES, END, START
from rosenblatt.models.file import versions
from rosenblatt.models.model import Model
from rosenblatt.models.sequences import SequenceModel


def tags_to_json(model: Model) -> str:
    """Return what decides: the weights of steps and of features that are not 0, by tags.

    A feature is named as ``weights`` names it, template=value. The score of a path is the sum of
    the weights of its steps, from the start to the end, and of the features of its tokens for
    their tags. Where BIO is learned as IOBES, ``said`` has what is answered for each of ``tags``.
    """
    fitted = SequenceModel.of_model(model)
    w, tags, encoding = fitted.state.average(), fitted.tags, fitted.encoding
    names, n_tags = tags.inner, len(tags.inner)

    def of_row(row: int) -> dict[str, float]:
        return {names[k]: float(w[row, k]) for k in np.flatnonzero(w[row]).tolist()}

    templates = None
    if isinstance(encoding, WordEncoding):
        templates = [template_name(one) for one in encoding.templates]
    document = {
        **versions(),
        "learner": model.learner,
        "tags": list(names),
        "said": list(tags.said),
        "scheme": tags.scheme,
        "impossible": [[names[j], names[k]] for j, k in np.argwhere(tags.barred[:n_tags]).tolist()],
        "impossible_first": [names[k] for k in np.flatnonzero(tags.barred[n_tags + START])],
        "impossible_last": [names[k] for k in np.flatnonzero(tags.barred[n_tags + END])],
        "templates": templates,
        "steps": {names[j]: of_row(j) for j in range(n_tags)},
        "start": of_row(n_tags + START),
        "end": of_row(n_tags + END),
        "features": {
            encoding.name(f): of_row(n_tags + EDGES + f) for f in range(encoding.n_features)
        },
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"
