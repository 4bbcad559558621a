"""Evaluates taken-home steps of the digits classifier with Flax: `python read_taken.py DIR IMAGES`.

`DIR` is a store as it came out of a ZIP, `IMAGES` the fixture's test-images.json. Prints as JSON how many test images each step's network, which
real substrax restores, answers right.
"""

import base64
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))

import numpy as np
from digits import Digits, pixels_of
from flax import nnx
from substrax.checkpoint import OrbaxCheckpointStore


def main(folder, images):
    facts = json.loads(pathlib.Path(images).read_text(encoding="utf-8"))
    pixels = pixels_of(np.frombuffer(base64.b64decode(facts["images"]), np.uint8).reshape(facts["count"], -1))
    labels = np.array(list(facts["labels"]), np.int32)
    graph, state = nnx.split(Digits(rngs=nnx.Rngs(1)))
    correct = {}
    with OrbaxCheckpointStore(folder, max_to_keep=None) as store:
        for step in store.list_steps():
            restored = store.restore(step, templates={"model": state}).items["model"]
            logits = np.asarray(nnx.merge(graph, restored)(pixels))
            correct[str(step)] = int((np.argmax(logits, axis=1) == labels).sum())
    print(json.dumps(correct))


main(*sys.argv[1:])
