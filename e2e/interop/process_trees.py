"""Random trees of arrays that several processes hold together, and how they are saved. Imported once the processes have met."""

import jax
import numpy as np
import orbax.checkpoint as ocp
from generations.saved import Record, describe_saved
from generations.trees import Spread, on_devices
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from orbax.checkpoint._src.serialization import ocdbt_utils
from write_random import random_elements
from write_random_orbax import OrbaxTree, save_args

MERGE = ocdbt_utils.merge_ocdbt_per_process_files


class ProcessTree(OrbaxTree):
    """Its arrays of JAX lie on the devices of all processes, or on each; typed keys cannot be made of parts."""

    def spread(self, values, *spec):
        mesh = Mesh(np.array(jax.devices()).reshape(-1, 2), ("x", "y"))
        sharding = NamedSharding(mesh, PartitionSpec(*spec))
        return Spread(jax.make_array_from_callback(values.shape, sharding, lambda index: values[index]), values)

    def array(self, name, framework):
        values = super().array(name, "numpy")
        return self.spread(values) if framework == "jax" else values

    def sharded(self):
        rows, columns = (int(self.random.integers(1, 4)) * 16, int(self.random.integers(1, 5)) * 2)
        values = random_elements(self.one_of(("float32", "int8", "bfloat16", "uint32")), rows * columns, self.random).reshape(rows, columns)
        return self.spread(values, *self.one_of((("x", "y"), (None, "y"), ("x",), (("x", "y"),), (("y", "x"),))))

    def leaf(self):
        return self.one_of((self.any_array, self.sharded, self.sharded, self.number, self.text, lambda: None))()


async def no_merge(*_, **__):
    return None


def handle_arrays(is_separate):
    """Whether what the processes copy of replicated arrays goes into databases of its own."""
    options = {"use_replica_parallel": True, "enable_replica_parallel_separate_folder": True, "min_slice_bytes_for_replica_parallel": 1}
    handler = ocp.type_handlers.ArrayHandler(**(options if is_separate else {}))
    ocp.type_handlers.register_type_handler(jax.Array, handler, override=True)


def write_case(seed, number, out):
    tree = ProcessTree(np.random.default_rng([seed, number]))
    options = {"use_ocdbt": tree.chance(0.8), "use_zarr3": tree.chance(0.5)}
    tree.names_files = not options["use_ocdbt"]
    is_merged, is_separate = tree.chance(0.6), options["use_ocdbt"] and tree.chance(0.3)
    saved = tree.whole()
    chunks = save_args(tree, on_devices(saved))
    ocdbt_utils.merge_ocdbt_per_process_files = MERGE if is_merged else no_merge
    handle_arrays(is_separate)
    with ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)) as checkpointer:
        checkpointer.save(out / str(number), args=ocp.args.PyTreeSave(on_devices(saved), save_args=chunks))
    about = f"of {jax.process_count()} processes, {options}, merged: {is_merged}, separate: {is_separate}, chunks: {chunks is not None}"
    leaves = describe_saved(saved, Record(numbers=True, tuples=True))
    return {"folder": f"{out.name}/{number}", "about": about, "leaves": leaves}
