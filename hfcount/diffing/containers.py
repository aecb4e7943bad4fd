"""Compares a GGUF file or a PEFT adapter with a base model."""

from collections import Counter
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.check import compare as compare_adapter
from hfcount.checkpoints.gguf.base import compare as compare_gguf
from hfcount.checkpoints.gguf.bert import positions_cut
from hfcount.checkpoints.gguf.findings import reason
from hfcount.checkpoints.gguf.summary import Remark, role
from hfcount.diffing.contents import of_values
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.pieces import Kind, Relation, Values
from hfcount.errors import DocumentError
from hfcount.formats.dtypes import FLOATING
from hfcount.text import plural, printable

_CONTAINERS = {"pickle": "pickled files"}
_FEW = 4  # types that a line names


class ContainerRelation(NamedTuple):
    """The relation of a container to a model.

    Args:
        relations: relations of B to A; empty if unknown.
        notes: further notes.
        apart: the first relation's text unless all values were compared and equal A's; empty if values do not matter.
    """

    relations: tuple[Relation, ...]
    notes: tuple[str, ...] = ()
    apart: str = ""

    def beside(self, values: Values | None) -> list[Relation]:
        """All relations, with those of values added."""
        first, *rest = self.relations or (None,)
        if first is None:
            return []
        contents = [*of_values(values, self.relations)] if values else []
        same = [relation.kind for relation in contents] == ["same-values"] and values and not values.uncompared
        return [first if same or not self.apart else Relation(kind=first.kind, text=self.apart), *rest, *contents]


def container_relation(a: LoadedSide, b: LoadedSide) -> ContainerRelation | None:
    """Compares a container with a model; None for two of a kind."""
    if a.alone is b.alone:
        return None
    container, model, turned = (b, a, False) if b.alone else (a, b, True)
    if model.blueprint is None:
        return None
    if container.gguf is not None:
        return _gguf(container, model, model.blueprint, turned)
    return _adapter(container, model.blueprint, turned)


def _gguf(container: LoadedSide, model: LoadedSide, blueprint: Blueprint, turned: bool) -> ContainerRelation:
    header = container.gguf
    assert header is not None  # as container_relation has checked
    remarks = compare_gguf(header, blueprint, True, positions_cut(model.values))
    if role(header) != "model":
        return ContainerRelation((), (f"The GGUF file is not a model but {role(header)}.",))
    facts = next((remark.facts for remark in remarks if remark.kind == "differs-from-base"), None)
    if facts is not None:
        differences = [
            f"{plural(len(facts[name]), 'tensor')} {text}"
            for name, text in (("missing", "missing"), ("unexpected", "more"), ("shapes", "of another shape"))
            if facts.get(name)
        ]
        text = (
            f"is a GGUF file of another model: {', '.join(differences)}"
            if not turned
            else "is another model than the GGUF file"
        )
        return ContainerRelation((Relation(kind="tensors", text=text),))
    unknown = [_reason(remark) for remark in remarks if remark.severity == "unverified"]
    if unknown:
        return ContainerRelation((), tuple(unknown))
    types = Counter(tensor.type for tensor in header.tensors.values())
    shown = ", ".join(f"{kind} {count:,}" for kind, count in types.most_common(_FEW))
    packed = not {*types} <= {*FLOATING}
    text = f"has the tensors that A, a GGUF file ({shown}), was made from" if turned else f"is A as GGUF ({shown})"
    apart = f"has the structure of A, a GGUF file ({shown})" if turned else f"has A's structure as GGUF ({shown})"
    kinds: tuple[Kind, Kind] = ("dequantised", "quantised")
    first = Relation(kind=kinds[not turned] if packed else "cast", text=text)
    names = ["GGUF", _CONTAINERS.get(model.container or "", "safetensors")]
    a, b = names if turned else names[::-1]
    return ContainerRelation((first, Relation(kind="container", text=f"is stored as {b}, A as {a}")), apart=apart)


def _reason(remark: Remark) -> str:
    return printable(f"The GGUF file: {reason(remark)}.", None)


def _adapter(container: LoadedSide, blueprint: Blueprint, turned: bool) -> ContainerRelation:
    settings, view = container.adapter, container.view
    if settings is None or view is None:
        return ContainerRelation((), ("The adapter's file could not be read.",))
    shapes = {name: entry.shape for name, entry in view.entries.items()}
    try:
        result = compare_adapter(settings, shapes, blueprint)
    except DocumentError as error:
        return ContainerRelation((), (printable(str(error), None),))
    if result.unread:
        return ContainerRelation((), (printable(f"The adapter: {result.unread}.", None),))
    wrong = [finding.code for finding in result.findings if finding.severity == "error"]
    what = f"{printable(settings.method, 40)}, {plural(result.adapted, 'module')}, {plural(len(shapes), 'tensor')}"
    if wrong:
        text = (
            f"is an adapter that does not fit A ({', '.join(wrong)})"
            if not turned
            else f"does not fit the adapter A ({', '.join(wrong)})"
        )
    else:
        text = f"is an adapter for A ({what})" if not turned else f"is a model that the adapter A fits ({what})"
    return ContainerRelation((Relation(kind="adapter", text=text),))
