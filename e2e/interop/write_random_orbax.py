"""Writes random trees with random options of real Orbax: `python write_random_orbax.py --seed N --cases N --out DIR`.

`DIR/<case>` is a checkpoint and `DIR/expected.json` says what each has to come back as, told from the trees themselves (leaves in the schema of
../fixtures/README.md). The same seed gives the same values and options.
"""

import argparse
import os
import pathlib
import sys

# Before JAX starts: 64-bit arrays, and eight devices to spread arrays over.
os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fixtures")]

import jax
import numpy as np
import orbax.checkpoint as ocp
import orbax.checkpoint.experimental.v1 as v1
import write_random_processes
from expected import plain, write_json
from generations.saved import Record, describe_saved
from generations.trees import Moments
from write_random import RandomTree

TOGETHER = 10  # checkpoints that several processes write

PLAIN = Record(numbers=True, tuples=True)


class OrbaxTree(RandomTree):
    """Also with namedtuples, integer keys, and numpy's numbers; smaller than substrax's, since there are many."""

    names_files = False

    def key(self):
        """TensorStore refuses files with a backslash in their names."""
        return super().key().replace("\\", "") if self.names_files else super().key()

    def shape(self):
        return tuple(int(length) for length in self.random.integers(1, 5, int(self.random.integers(0, 4)))) if self.chance(0.9) else super().shape()

    def container(self):
        children = [self.tree(2) for _ in range(self.random.integers(1, 4))]
        kind = self.one_of(("dict", "integers", "named", "list", "tuple"))
        if kind == "named":
            return Moments(children[0], children[-1])
        if kind == "integers":
            return {int(key): child for key, child in zip(self.random.permutation(20), children)}
        return {self.key(): child for child in children} if kind == "dict" else (children if kind == "list" else tuple(children))

    def whole(self, numpy_numbers=True):
        """A mapping with some branches, and one array at least; v1 refuses numpy's numbers."""
        array = self.sharded() if self.chance(0.5) else self.any_array()
        number = {self.key(): np.float32(self.random.normal())} if numpy_numbers and self.chance(0.2) else {}
        return {self.key(): array, self.key(): self.container(), self.key(): self.tree(1), **number}


def handler_options(tree):
    options = {"use_ocdbt": tree.chance(0.6), "use_zarr3": tree.chance(0.5), "use_compression": tree.chance(0.7)}
    return {**options, "pytree_metadata_options": rich_types(tree)}


def rich_types(tree):
    from orbax.checkpoint._src.metadata.tree import PyTreeMetadataOptions

    return PyTreeMetadataOptions(support_rich_types=tree.chance(0.25))


def save_args(tree, saved):
    """None, or chunks of a few bytes for every leaf."""
    if tree.chance(0.6):
        return None
    return jax.tree.map(lambda _: ocp.SaveArgs(chunk_byte_size=int(tree.random.integers(16, 400))), saved)


def write_direct(tree, folder):
    options = handler_options(tree)
    tree.names_files = not options["use_ocdbt"]
    saved = tree.whole()
    chunks = save_args(tree, saved)
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)) as checkpointer:
        checkpointer.save(folder, args=ocp.args.PyTreeSave(saved, save_args=chunks))
    return [{"leaves": saved}], {**options, "chunks": chunks is not None}


def random_json(tree):
    return tree.one_of(({"position": int(tree.random.integers(2**60)), "rate": [tree.random.normal(), None, float("nan")]}, [], {}, tree.text()))


def write_manager(tree, folder):
    """Two steps of a manager, whose items have names or not, with metrics and metadata or not; of the named ones a last one is JSON."""
    names = {"step_prefix": tree.one_of((None, "ckpt", "my_run")), "step_format_fixed_length": tree.one_of((None, 6))}
    steps = sorted(int(step) for step in tree.random.choice(1000, 2, replace=False))
    items = tree.one_of((("default",), ("params", "optimizer"), ("state",)))
    found = []
    best = {"best_fn": lambda metrics: metrics["loss"], "best_mode": "min"} if tree.chance(0.5) else {}
    more = {"metadata": {"run": tree.text()}} if tree.chance(0.5) else {}
    options = ocp.CheckpointManagerOptions(create=True, **names, **best)
    with ocp.CheckpointManager(folder, options=options, **more) as manager:
        for step in steps:
            trees = {item: tree.whole() for item in items}
            saved = {item: ocp.args.PyTreeSave(each) for item, each in trees.items()}
            json = {} if "default" in saved else {"config": random_json(tree)}
            saved |= {item: ocp.args.JsonSave(value) for item, value in json.items()}
            metrics = {"loss": tree.random.normal(), "worst": float("inf")} if best else {}
            custom = {"note": tree.text(), "list": [1, None]} if tree.chance(0.5) else None
            args = saved["default"] if "default" in saved else ocp.args.Composite(**saved)
            manager.save(step, args=args, metrics=metrics or None, custom_metadata=custom)
            metadata = {"metrics": plain(metrics), "customMetadata": custom or {}, "rootMetadata": more.get("metadata", {})}
            about = {"step": step, "metadata": metadata}
            found += [{**about, "item": item, "leaves": each} for item, each in trees.items()]
            found += [{**about, "item": item, "json": plain(value)} for item, value in json.items()]
    return found, {**names, "items": items, "metrics": bool(best)}


def write_v1(tree, folder):
    saved = tree.whole(numpy_numbers=False)
    v1.save(folder, saved)
    return [{"item": "state", "leaves": saved}], {}


def write_v1_named(tree, folder):
    trees = {name: tree.whole(numpy_numbers=False) for name in ("weights", "ema")}
    v1.save_checkpointables(folder, trees)
    return [{"item": name, "leaves": each} for name, each in trees.items()], {}


WRITERS = (write_direct, write_direct, write_direct, write_direct, write_manager, write_v1, write_v1_named)


def write_case(tree, out, index):
    """The trees of one checkpoint, each with what opens it."""
    writer = tree.one_of(WRITERS)
    found, options = writer(tree, out / str(index))
    about = f"{writer.__name__} {options}"
    described = [{**each, **({"leaves": describe_saved(each["leaves"], PLAIN)} if "leaves" in each else {})} for each in found]
    return [{**each, "folder": str(index), "about": about} for each in described]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--cases", type=int, required=True, help="how many trees at least")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="a folder that is made, or is empty")
    arguments = parser.parse_args()
    out = arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    cases = []
    while len(cases) < arguments.cases:
        tree = OrbaxTree(np.random.default_rng([arguments.seed, len(cases)]))
        cases += write_case(tree, out, len(cases))
    together = out / "processes"
    together.mkdir()
    cases += write_random_processes.write(arguments.seed, TOGETHER, together)
    write_json(out / "expected.json", {"seed": arguments.seed, "cases": cases})


if __name__ == "__main__":
    main()
