"""Relations of configs: B is read differently, or configured for other tensors."""

from collections.abc import Sequence

from hfcount.blueprints.blueprint import Blueprint
from hfcount.diffing.pieces import ConfigKey, Relation
from hfcount.mapper.loader_differences import OLDER, VLLM

_FEW = 3  # keys that a line names

Blueprints = tuple[Blueprint | None, Blueprint | None]


def otherwise(keys: Sequence[ConfigKey], blueprints: Blueprints, same_structure: bool) -> list[Relation]:
    """Relations for keys that change how B computes or is read.

    Args:
        same_structure: whether stored tensors are equal, so that size keys only change how they are used.
    """
    sized = same_structure and sized_otherwise(*blueprints)
    described = sized or (same_structure and _alike(*blueprints))
    sizes = [row.key for row in keys if row.effect == "tensors" and described]
    reading = [row.key for row in keys if row.effect == "reading" and row.a != row.b]
    sizes, reading = (sizes, reading) if sized else ([], [*sizes, *reading])
    readers, who = _read_otherwise(keys)
    more = f" and {len(reading) - _FEW} more keys" if len(reading) > _FEW else ""
    texts = [f"has other settings ({', '.join(reading[:_FEW])}{more})"] if reading else []
    texts += [f"is configured for other tensors ({', '.join(sizes[:_FEW])})"] if sizes else []
    texts += [f"is read differently by {who} ({', '.join(readers[:_FEW])})"] if readers else []
    return [Relation(kind="reading", text=text) for text in texts]


def _read_otherwise(keys: Sequence[ConfigKey]) -> tuple[list[str], str]:
    """The keys that both say alike and some loaders read in another way, and these loaders."""
    alike = [row for row in keys if row.readers and row.a == row.b]
    who = " and ".join(name for name in (OLDER, VLLM) if any(name in (row.readers or "") for row in alike))
    return [row.key for row in alike], who


def sized_otherwise(a: Blueprint | None, b: Blueprint | None) -> bool:
    """Whether two configs require different stored tensors."""
    if a is None or b is None:
        return False
    rows = [{leaf.name: tuple(map(int, leaf.shape)) for leaf in blueprint.stored_leaves()} for blueprint in (a, b)]
    return rows[0] != rows[1]


def _alike(a: Blueprint | None, b: Blueprint | None) -> bool:
    """Whether two configs describe the same tensor names, optional ones included."""
    return a is not None and b is not None and {leaf.name for leaf in a.leaves} == {leaf.name for leaf in b.leaves}
