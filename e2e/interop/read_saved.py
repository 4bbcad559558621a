"""Restores steps that this package saved with real substrax: `python read_saved.py DIR`.

`DIR/saved` is the store, `DIR/expected.json` what real substrax had restored from the steps that it was made of. Prints every difference, as a
JSON list of lines: of the listing, of each record, and of each leaf without templates and with. Then it saves one step more into the store, and
writes what is in there to `DIR/next.json`.
"""

import json
import os
import pathlib
import sys

# As the steps were written: 64-bit arrays, and eight devices.
os.environ |= {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))

import jax
import numpy as np
import orbax.checkpoint as ocp
from expected import describe_step, describe_tree, write_json
from substrax.checkpoint import OrbaxCheckpointStore

WRITERS_OWN = ("libraries", "created_at")  # members of a record that another writer cannot have the same


def by_path(leaves):
    return {json.dumps(leaf["path"]): leaf for leaf in leaves}


def differences_of_leaves(place, leaves, expected):
    found, wanted = by_path(leaves), by_path(expected)
    paths = sorted(found.keys() | wanted.keys())
    return [f"{place} {path}: {found.get(path)}, expected {wanted.get(path)}" for path in paths if found.get(path) != wanted.get(path)]


def differences_of_items(place, items, expected):
    lines = [] if list(items) == list(expected) else [f"{place}: items {list(items)}, expected {list(expected)}"]
    return lines + [line for name in items for line in differences_of_leaves(f"{place} {name}", items[name], expected.get(name, []))]


def differences_of_record(place, record, expected):
    names = [name for name in expected if name not in WRITERS_OWN and record[name] != expected[name]]
    lines = [f"{place}: {name} is {record[name]}, expected {expected[name]}" for name in names]
    return lines + ([] if list(record["libraries"]) == ["orbax-webgpu"] else [f"{place}: libraries {record['libraries']}"])


def with_templates(store, step):
    """The step, restored onto the trees that it restores to without templates."""
    items = store.restore(step).items
    return {name: describe_tree(item) for name, item in store.restore(step, templates=items).items.items()}


def with_orbax_alone(step_folder, names):
    """The items as Orbax restores them, where substrax's node is still round each."""
    checkpointer = ocp.PyTreeCheckpointer()
    return {name: describe_tree(checkpointer.restore(step_folder / name)["tree"]) for name in names}


def check_step(store, step, expected):
    described = describe_step(store, step)
    lines = differences_of_record(f"step {step}", described["metadata"], expected["metadata"])
    lines += differences_of_items(f"step {step}", described["items"], expected["items"])
    lines += differences_of_items(f"step {step} by Orbax alone", with_orbax_alone(store.directory / str(step), expected["items"]), expected["items"])
    return lines + differences_of_items(f"step {step} with templates", with_templates(store, step), expected["items"])


def best_of(expected, metric):
    scores = {int(step): each["metadata"]["metrics"].get(metric) for step, each in expected.items()}
    numbers = {step: score for step, score in sorted(scores.items()) if isinstance(score, (int, float))}
    return min(numbers, key=numbers.get) if numbers else None


def check_listing(store, expected):
    steps = sorted(int(step) for step in expected)
    metric = "interop"
    lines = [] if store.list_steps() == steps else [f"steps {store.list_steps()}, expected {steps}"]
    best = store.best_step(metric)
    return lines + ([] if best == best_of(expected, metric) else [f"best step {best}, expected {best_of(expected, metric)}"])


def save_next(store):
    step = store.latest_step() + 1
    model = {"w": jax.numpy.arange(3000, dtype="float32"), "n": np.arange(3), "key": jax.random.key(7), "t": [1, 2.0, "text", None]}
    store.save(step, {"model": model}, metrics={"interop": -1.0})
    return {"step": step, **describe_step(store, step)}


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    expected = json.loads((folder / "expected.json").read_text())["steps"]
    with OrbaxCheckpointStore(folder / "saved", max_to_keep=None) as store:
        lines = check_listing(store, expected)
        lines += [line for step, each in expected.items() for line in check_step(store, int(step), each)]
        write_json(folder / "next.json", save_next(store))
    print(json.dumps(lines))


if __name__ == "__main__":
    main()
