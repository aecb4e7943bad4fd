"""`python -m hfcount`, and what the command `hfcount` runs."""

import gc
from typing import NoReturn


def run() -> NoReturn:
    """The command line, without the garbage collector: a short run makes none, and looking for it takes a fifth."""
    gc.disable()
    from hfcount.cli.main import run as command

    try:
        command()
    finally:
        gc.freeze()  # nor need it be looked for on the way out


if __name__ == "__main__":
    run()
