"""What a restore of a set must give: some 32-bit words of every array, as the GPU's buffers hold them."""

import numpy as np

WORDS = 1024
"""How many words of a set are compared, unless it has more arrays than half of that."""


def describe(tree):
    random = np.random.default_rng(7)
    each = max(2, WORDS // len(tree))
    arrays = [describe_array(name, values, each, random) for name, values in tree.items()]
    return {"bytes": sum(array["byteLength"] for array in arrays), "arrays": arrays}


def describe_array(name, values, count, random):
    words = np.ascontiguousarray(values).reshape(-1).view(np.uint32)
    last = len(words) - 1
    indices = sorted({0, last, *(int(at) for at in random.integers(0, last + 1, count - 2))})
    return {"name": name, "byteLength": words.nbytes, "indices": indices, "words": [int(words[at]) for at in indices]}
