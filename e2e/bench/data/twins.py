"""The same values for other readers: raw bytes, and plain zarr folders with the very chunks of the step."""

import tensorstore as ts
from steps import ITEM, STEP


def write_raw(path, tree):
    with path.open("wb") as file:
        for values in tree.values():
            file.write(memoryview(values.reshape(-1)).cast("B") if values.dtype.kind == "f" else values.tobytes())


def write_zarr(folder, store):
    """Every key of the item's database as a file, `tree.name/.zarray` and `tree.name/0.0` among them."""
    item = store / str(STEP) / ITEM
    database = ts.KvStore.open({"driver": "ocdbt", "base": f"file://{item}/"}).result()
    for key in database.list().result():
        path = folder / key.decode()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(database[key])
