"""Trees that tell tuples and namedtuples from lists and dicts, by real Orbax's option for rich types.

`python rich_types.py write DIR` saves one into `DIR/checkpoint`. `python rich_types.py read DIR` restores what this package saved of it as item
`model` of `DIR/saved/1`, and prints the differences as a JSON list of lines.
"""

import collections
import json
import os
import pathlib
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import orbax.checkpoint as ocp
from orbax.checkpoint._src.metadata.pytree_metadata_options import PyTreeMetadataOptions

Moments = collections.namedtuple("Moments", ["nu", "count", "mu"])  # not in the order of their names
Empty = collections.namedtuple("Empty", [])


def tree():
    moments = Moments(nu=np.arange(3), count=jax.numpy.int32(7), mu={"w": (jax.numpy.ones(2), [1, (2.5,)])})
    return {"state": (moments, Empty(), (), None), "list": [moments, ("text", True)], "empty": {"d": {}, "l": []}}


def checkpointer():
    options = PyTreeMetadataOptions(support_rich_types=True)
    return ocp.Checkpointer(ocp.PyTreeCheckpointHandler(pytree_metadata_options=options))


def described(node):
    """A tree as JSON values that tell what its containers are; Orbax names the classes that it makes of namedtuples itself."""
    if isinstance(node, tuple) and hasattr(node, "_fields"):
        return ["namedtuple", {name: described(getattr(node, name)) for name in node._fields}, list(node._fields)]
    if isinstance(node, (tuple, list)):
        return [type(node).__name__, [described(child) for child in node]]
    if isinstance(node, dict):
        return ["dict", {key: described(node[key]) for key in sorted(node)}]
    if isinstance(node, (jax.Array, np.ndarray)):
        return [isinstance(node, np.ndarray), str(node.dtype), np.asarray(node).tolist()]
    return [type(node).__name__, node]


def main():
    mode, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if mode == "write":
        checkpointer().save(folder / "checkpoint", args=ocp.args.PyTreeSave(tree()))
        return
    expected = described(checkpointer().restore(folder / "checkpoint"))
    found = described(checkpointer().restore(folder / "saved" / "1" / "model")["tree"])
    print(json.dumps([] if found == expected else [f"{found}", f"expected {expected}"]))


if __name__ == "__main__":
    main()
