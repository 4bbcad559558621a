"""Writes a random store with real substrax, and what is in it: `python write_random.py --seed N --out DIR`.

`DIR/checkpoints` is the store and `DIR/expected.json` its contents, in the schema of ../fixtures/README.md. The same seed gives
the same values.
"""

import argparse
import os
import pathlib
import sys

# Before JAX starts: 64-bit arrays, and eight devices to spread arrays over.
os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))

import jax
import numpy as np
from expected import describe_store, write_json
from jax.sharding import NamedSharding, PartitionSpec
from stores import save_steps
from substrax.checkpoint import Producer
from values import DTYPES, random_elements

ITEMS = ("model", "optimizer", "rng", "data_iterator", "extensions")
KEY_PARTS = ("layer", "w", "b", "é", "日本", "🎉", "a.b", "x/y", " ", "__proto__", "constructor", '"', "'", "\\", "\n", "0", "-")
MAX_DEPTH = 4
LARGEST = 40_000  # elements


class RandomTree:
    """Trees of a seeded generator; every key ends in a number of its own, so that no two leaves share a name on disk."""

    def __init__(self, random):
        self.random = random
        self.count = 0

    def chance(self, probability):
        return self.random.random() < probability

    def one_of(self, choices):
        return choices[int(self.random.integers(len(choices)))]

    def key(self):
        self.count += 1
        return "".join(self.one_of(KEY_PARTS) for _ in range(self.random.integers(0, 3))) + str(self.count)

    def shape(self):
        """Mostly small; one in eight large enough to lie outside the index."""
        rank = int(self.random.integers(0, 5))
        if self.chance(0.125):
            return (int(self.random.integers(500, LARGEST)),) if rank < 2 else (int(self.random.integers(20, 200)), 8 * rank)
        return tuple(int(length) for length in self.random.integers(1, 6, rank))

    def array(self, name, framework):
        shape = self.shape()
        count = int(np.prod(shape))
        values = random_elements(name, count, self.random).reshape(shape)
        if self.chance(0.25):
            values = np.broadcast_to(values.reshape(-1)[:1], count).reshape(shape).copy()  # compresses well
        return jax.numpy.asarray(values) if framework == "jax" else values

    def any_array(self):
        return self.array(self.one_of(list(DTYPES)), self.one_of(("jax", "numpy")))

    def sharded(self):
        """Spread over two axes of devices, in chunks that do not follow one another in the array."""
        rows, columns = (int(self.random.integers(1, 9)) * 4, int(self.random.integers(1, 9)) * 2)
        mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
        spec = self.one_of((("x", "y"), (None, "y"), ("x",), (("x", "y"),), ()))
        rows *= 2 if spec == (("x", "y"),) else 1
        values = random_elements(self.one_of(list(DTYPES)), rows * columns, self.random).reshape(rows, columns)
        return jax.device_put(values, NamedSharding(mesh, PartitionSpec(*spec)))

    def prng_key(self):
        key = jax.random.key(int(self.random.integers(2**31)), impl=self.one_of(("threefry2x32", "rbg", "unsafe_rbg")))
        return jax.random.split(key, self.one_of((2, (2, 3), 300))) if self.chance(0.5) else key

    def number(self):
        signed = int(self.random.integers(-(2**63), 2**63 - 1, endpoint=True))
        return self.one_of((signed, signed % 1000, 2**64 - 1 - signed % 2**40, float(signed), self.random.normal(), float("nan"), self.chance(0.5)))

    def text(self):
        points = self.random.integers(0, 0x11000, self.random.integers(0, 30))
        return "".join(chr(point) for point in points if not 0xD800 <= point < 0xE000)

    def leaf(self):
        makers = (self.any_array, self.any_array, self.any_array, self.sharded, self.prng_key, self.number, self.text, lambda: None)
        return self.one_of(makers)()

    def tree(self, depth=0):
        if depth == MAX_DEPTH or (depth > 0 and self.chance(0.5)):
            return self.leaf()
        children = [self.tree(depth + 1) for _ in range(self.random.integers(0, 5))]
        kind = self.one_of(("dict", "dict", "list", "tuple"))
        if kind == "dict":
            return {self.key(): child for child in children}
        return children if kind == "list" else tuple(children)

    def every_dtype(self):
        return {framework: {name: self.array(name, framework) for name in DTYPES} for framework in ("jax", "numpy")}


def random_step(tree):
    """A random choice of items, of which the first also holds every dtype; and the record's other fields."""
    names = [str(name) for name in tree.random.permutation(ITEMS)[: tree.random.integers(1, len(ITEMS) + 1)]]
    items = {name: tree.tree() for name in names}
    items[names[0]] = {"every": tree.every_dtype(), "random": items[names[0]]}
    options = {
        "epoch": int(tree.random.integers(100)),
        "metrics": {tree.key(): tree.one_of((tree.random.normal(), float("nan"), float("-inf"))) for _ in range(3)},
        "producer": Producer(name=tree.text(), version="1"),
        "extra": {tree.key(): tree.one_of((tree.text(), tree.random.normal(), 2**60, None, [1, {"a": []}])) for _ in range(3)},
    }
    return items, options


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="a folder that is made, or is empty")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    tree = RandomTree(np.random.default_rng(arguments.seed))
    steps = sorted(tree.random.choice(10**6, 2, replace=False))
    save_steps(out, {int(step): random_step(tree) for step in steps})
    write_json(out / "expected.json", {"seed": arguments.seed, **describe_store(out / "checkpoints")})


if __name__ == "__main__":
    main()
