"""Steps as substrax writes them: by substrax itself, or by Orbax where substrax has no word for the chunks."""

import jax
import orbax.checkpoint as ocp
from substrax.checkpoint import CheckpointMetadata, OrbaxCheckpointStore
from substrax.checkpoint.metadata import library_versions, now_iso

STEP = 1
ITEM = "model"


def save(folder, tree, chunk_bytes):
    """Step 1 of the store in `folder`."""
    arrays = jax.tree.map(jax.numpy.asarray, tree)
    if chunk_bytes is None:
        with OrbaxCheckpointStore(folder, max_to_keep=None) as store:
            store.save(STEP, {ITEM: arrays})
    else:
        save_in_chunks(folder, arrays, chunk_bytes)


def save_in_chunks(folder, arrays, chunk_bytes):
    """What `OrbaxCheckpointStore.save` writes, but with save arguments that ask for chunks of a size."""
    tree = {"tree": arrays}
    save_args = jax.tree.map(lambda _: ocp.SaveArgs(chunk_byte_size=chunk_bytes), tree)
    record = CheckpointMetadata(
        step=STEP,
        epoch=None,
        items=(ITEM,),
        libraries=library_versions(),
        producer=None,
        metrics={},
        extra={},
        created_at=now_iso(),
    )
    args = ocp.args.Composite(
        model=ocp.args.PyTreeSave(tree, save_args=save_args),
        metadata=ocp.args.JsonSave(record.to_dict()),
        dtypes=ocp.args.JsonSave({ITEM: {name: str(array.dtype) for name, array in arrays.items()}}),
    )
    with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(create=True)) as manager:
        assert manager.save(STEP, args=args, force=True)
        manager.wait_until_finished()
