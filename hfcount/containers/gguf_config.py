"""The config that a GGUF file's metadata amounts to, and the blueprint that its figures are computed with."""

from hfcount.containers.bases import Base
from hfcount.containers.gguf_base import compare
from hfcount.formats.gguf import Header
from hfcount.plan import Blueprint


def blueprint_of(header: Header, base: Base | None) -> Blueprint | None:
    """A blueprint that has exactly the tensors of a file; None if none is known."""
    if base and base.blueprint and not compare(header, base.blueprint):
        return base.blueprint
    return None
