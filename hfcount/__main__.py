"""`python -m hfcount`, and what the command `hfcount` runs."""

import gc
from typing import NoReturn


def run() -> NoReturn:
    """Runs the command with garbage collection off: a short run has no garbage, and collecting takes a fifth of it."""
    gc.disable()
    from hfcount.cli.main import run as command

    try:
        command()
    finally:
        gc.freeze()  # so that the interpreter does not collect when it exits


if __name__ == "__main__":
    run()
