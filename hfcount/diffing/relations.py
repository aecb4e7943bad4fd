"""Finds the relations of B to A that explain their differences, and reports the rest."""

from collections.abc import Iterator, Sequence

from hfcount.diffing.comparison import Comparison, Unexplained
from hfcount.diffing.contents import is_same_structure, of_files, of_values
from hfcount.diffing.listing import relation as files_relation
from hfcount.diffing.listing import settled
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.matching import Matches
from hfcount.diffing.other_configs import otherwise, sized_otherwise
from hfcount.diffing.other_files import beside
from hfcount.diffing.pieces import Relation
from hfcount.diffing.storage import containers, dtypes, spelling
from hfcount.diffing.structure import explained
from hfcount.text import plural, printable


def relations(c: Comparison) -> list[Relation]:
    """The relations of B to A, the most important first."""
    result: list[Relation] = []
    if c.matched is not None:
        result += _of_structure(c, c.matched)
    contents = list(_of_contents(c, result))
    result = [*contents, *result] if is_same_structure(result) else [*result, *contents]
    if not any(relation.kind == "another-model" for relation in result):
        result += otherwise(c.config, (c.a.blueprint, c.b.blueprint), is_same_structure(result))
        result += [*_of_type(c, result), *beside(c.files)]
    if c.matched is not None:
        result += [Relation(kind="unread", text=text) for text in c.doubts]
    return result


def _of_structure(c: Comparison, matched: Matches) -> list[Relation]:
    left = explained(c, matched)
    if _is_another(c, matched, left):
        return [Relation(kind="another-model", text=_another(c))]
    if left.count:
        left.say("tensors", _rest(left))
    return [*dtypes(c, matched), *c.order, *left.relations, *spelling(c, matched), *containers(c)]


def _of_contents(c: Comparison, structure: Sequence[Relation]) -> Iterator[Relation]:
    """Relations of contents; if contents are unknown, that the structure is the same."""
    if c.matched is None:
        return
    values = c.values
    read = values is not None and not values.sampled and values.identical < values.tensors
    if c.files is not None and settled(c.files) and is_same_structure(structure) and not read:
        yield files_relation(c.files)
    elif values is not None and values.tensors:
        yield from of_values(values, structure)
    elif is_same_structure(structure):
        known = list(of_files(c.files, c.a, c.b))
        how = " as far as its files can be read" if c.unread else " (only configs were compared)" if c.described else ""
        yield from known or [Relation(kind="same-structure", text=f"has A's structure{how}")]


def _is_another(c: Comparison, matched: Matches, left: Unexplained) -> bool:
    """Whether most tensors differ without explanation."""
    agreeing = len(matched.both) - len(matched.shapes)
    sizes = [len(inventory.tensors) for inventory in c.inventories if inventory]
    if matched.root or not left.count or c.a.adapter is not None:
        return False
    if agreeing and not left.shapes and not (left.only_a and left.only_b):
        return c.values is None and _families(c)[0] != _families(c)[1]  # one side has all that the other has
    if not left.shapes and _same_config(c):
        return False  # they are stored in a way that is not known
    return _families(c)[0] != _families(c)[1] or 2 * agreeing < max(sizes, default=0)


def _same_config(c: Comparison) -> bool:
    """Whether both configs are of one type, and describe the same tensors."""
    a, b = c.a.blueprint, c.b.blueprint
    return a is not None and b is not None and _families(c)[0] == _families(c)[1] and not sized_otherwise(a, b)


def _another(c: Comparison) -> str:
    families = _families(c)
    if families[0] != families[1]:
        return f"is another model: {printable(families[1])}, while A is {printable(families[0])}"
    return f"is another model of the same type, {printable(families[0])}, with other tensors"


def _of_type(c: Comparison, relations: Sequence[Relation]) -> Iterator[Relation]:
    """The relation of different types, unless B is a part of A or another relation names model_type."""
    if c.a.blueprint is None or c.b.blueprint is None:
        return
    a, b = _families(c)
    if a != b and not any(relation.kind == "part" or "model_type" in relation.text for relation in relations):
        yield Relation(kind="reading", text=f"is of another type: {printable(b)}, while A is {printable(a)}")


def _families(c: Comparison) -> tuple[str, str]:
    a, b = (side.blueprint.spec.family if side.blueprint else _type(side) for side in (c.a, c.b))
    return a, b


def _type(side: LoadedSide) -> str:
    """The type of a model without a blueprint."""
    return str(side.values.get("general.architecture" if side.gguf else "model_type") or "an unknown type")


def _rest(left: Unexplained) -> str:
    differences = [
        f"lacks {plural(len(left.only_a), 'tensor')} of A" if left.only_a else "",
        f"has {plural(len(left.only_b), 'tensor')} that A lacks" if left.only_b else "",
        f"has other shapes in {plural(len(left.shapes), 'tensor')}" if left.shapes else "",
    ]
    return ", ".join(filter(None, differences))
