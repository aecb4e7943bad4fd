"""`python -m hfcount`, and what the command `hfcount` runs."""

import gc
import os
from typing import NoReturn


def run() -> NoReturn:
    """The command line, without the garbage collector: a short run makes none, and looking for it takes a fifth."""
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # or it would read what all packages declare
    from hfcount.cli.main import run as command

    try:
        command()
    finally:
        gc.freeze()  # nor need it be looked for on the way out


if __name__ == "__main__":
    run()
