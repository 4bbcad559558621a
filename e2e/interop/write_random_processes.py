"""What several processes write together: random trees with random options, merged or left as a job leaves them that dies before the merge.

`write` is called by write_random_orbax.py; the processes that it starts run this file.
"""

import json
import pathlib
import socket
import subprocess
import sys

PROCESSES = 2
HERE = pathlib.Path(__file__).resolve().parent


def write(seed, count, out):
    """Starts the processes; what each checkpoint in `out` holds."""
    with socket.socket() as held:
        # Bound until they have ended, so that nobody else is given the port; JAX's own server may share it.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("", 0))
        command = [sys.executable, __file__, str(seed), str(count), str(out), f"localhost:{held.getsockname()[1]}"]
        children = [subprocess.Popen([*command, str(index)]) for index in range(PROCESSES)]
        try:
            assert [child.wait(timeout=1200) for child in children] == [0] * PROCESSES
        finally:
            for child in children:
                child.kill()
    return json.loads((out / "expected.json").read_text(encoding="utf-8"))


def main(seed, count, out, address, index):
    import jax

    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(address, PROCESSES, index)
    from process_trees import write_case

    cases = [write_case(seed, number, out) for number in range(count)]
    if index == 0:
        (out / "expected.json").write_text(json.dumps(cases), encoding="utf-8")


if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent / "fixtures")]
    main(int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
