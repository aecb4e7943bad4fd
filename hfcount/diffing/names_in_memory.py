"""The names that tensors have in a model of transformers 5, where experts and the like are joined to one tensor."""

from collections.abc import Collection

from hfcount.blueprints.blueprint import Blueprint
from hfcount.verifier.joined import joined


def names_in_memory(blueprint: Blueprint | None, names: Collection[str]) -> dict[str, str]:
    """The name in memory of each of a blueprint's tensors.

    Those that are joined with others have the name of the whole, if all its parts are among `names`.
    """
    if blueprint is None:
        return {}
    common = blueprint.spellings.common
    known = {name: common(name) for name in names}
    for parts in joined(blueprint, names):
        if len(parts.swap.stored) == 1 and parts.complete:
            end = map(str, parts.swap.stored[0].segments[len(parts.module) :])
            known |= dict.fromkeys(parts.names, common(".".join((*parts.module, *end))))
    return known
