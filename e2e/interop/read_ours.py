"""Reads what this package wrote with real TensorStore: `python read_ours.py DIR`.

`DIR/expected.json` says what the databases in the folders of `DIR` hold. Prints every difference, as a JSON list of lines. Then it
writes the same entries with the same limits into `DIR/twins/<name>`, and changes each database of ours: its first key goes, and
`a new key` comes.
"""

import hashlib
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fixtures"))

import numpy as np
import tensorstore as ts
from expected import array_bytes
from ocdbt import open_database, write_all, write_each


def differences_of_bytes(place, data, expected):
    received = {"byteLength": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return [] if all(received[name] == expected[name] for name in received) else [f"{place}: {received}, expected {expected}"]


def read_database(folder):
    database = open_database(folder)
    return {key: database.read(key).result().value for key in database.list().result()}


def differences_of_database(expected, values):
    name = expected["name"]
    entries = {entry["key"].encode(): entry for entry in expected["entries"]}
    if entries.keys() != values.keys():
        return [f"{name}: keys {sorted(entries.keys() ^ values.keys())} are only here or there"]
    return [line for key, entry in entries.items() for line in differences_of_bytes(f"{name}, {key}", values[key], entry)]


def tensorstore_config(limits):
    compression = {"id": "zstd"} if limits["compression"] == "zstd" else None
    names = {"maxInlineValueBytes": "max_inline_value_bytes", "maxDecodedNodeBytes": "max_decoded_node_bytes"}
    return {"compression": compression} | {theirs: limits[ours] for ours, theirs in names.items()}


def check_database(folder, expected):
    """Every difference; then the twin and the changes."""
    values = read_database(folder / expected["name"])
    write_all(open_database(folder / "twins" / expected["name"], tensorstore_config(expected["limits"])), values)
    write_each(open_database(folder / expected["name"]), [(min(values), None), ("a new key", b"new")])
    return differences_of_database(expected, values)


def differences_of_array(folder, expected):
    kvstore = {"driver": "ocdbt", "base": f"file://{folder}/arrays/", "path": expected["name"] + "/"}
    array = ts.open({"driver": "zarr", "kvstore": kvstore, "fill_missing_data_reads": False}, open=True).result().read().result()
    named = [np.asarray(array).dtype.name, list(array.shape)]
    if named != [expected["dtype"], expected["shape"]]:
        return [f"{expected['name']}: {named}, expected {expected}"]
    return differences_of_bytes(expected["name"], array_bytes(array), expected)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    expected = json.loads((folder / "expected.json").read_text())
    lines = [line for array in expected["arrays"] for line in differences_of_array(folder, array)]
    lines += [line for database in expected["databases"] for line in check_database(folder, database)]
    print(json.dumps(lines))


if __name__ == "__main__":
    main()
