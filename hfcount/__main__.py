"""`python -m hfcount`."""

from hfcount.cli import run

run()
