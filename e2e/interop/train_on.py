"""Goes on from a step that the training page saved, with Flax and optax: `python train_on.py DIR STEP STEPS`.

Prints as JSON what the restored network makes of the test images, what the record says of that, and the losses of the steps that follow.
"""

import json
import os
import pathlib
import sys

os.environ |= {"JAX_PLATFORMS": "cpu"}
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))

import numpy as np
from digits import load_split, pixels_of
from flax import nnx
from training import restore, train


def with_drawings(images, labels, drawings):
    """The images with those that somebody drew after them."""
    return np.concatenate([images, np.asarray(drawings["pixels"])]), np.concatenate([labels, np.asarray(drawings["labels"])])


def main(folder, step, steps):
    train_images, test_images, train_labels, test_labels = load_split()
    checkpoint, graph = restore(pathlib.Path(folder), step)
    items, metadata = checkpoint.items, checkpoint.metadata
    logits = np.asarray(nnx.merge(graph, items["model"])(pixels_of(test_images)))
    drawings = items["extensions"]["drawings"]
    images, labels = with_drawings(train_images, train_labels, drawings)
    trained = train(items, graph, metadata.extra["learning_rate"], images, labels, len(drawings["labels"]), steps)
    facts = {
        "accuracy": float((np.argmax(logits, axis=1) == test_labels).mean()),
        "metrics": metadata.metrics,
        "count": int(items["optimizer"][0].count),
        "losses": [loss for _, loss, *_ in trained],
    }
    print(json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
