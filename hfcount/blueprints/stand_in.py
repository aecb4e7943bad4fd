"""The blueprint of a type that no family describes, as it was recorded by building models of it."""

from collections.abc import Iterable, Mapping
from typing import Any

from hfcount.architectures.recorded_rules import Unprobed
from hfcount.architectures.stand_ins import Reading, RecordedRow, StandIn, read, rows, stand_ins
from hfcount.blueprints.derive_transformers import Derived, component_of
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.mapper.keys_without_shape import may_bear
from hfcount.spec import Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, Tied
from hfcount.text import printable, shown


def recorded_blueprint(c: Config) -> Derived:
    """The blueprint of a config whose type was recorded.

    Raises:
        UnknownArchitecture: the config holds what was not probed, or names a class that was not recorded.
    """
    model_type = c.str("model_type")
    known = stand_ins(model_type)
    where = f"{c.where}: {model_type} is recorded from {next(iter(known.values())).version}, not described"
    first = next(iter(c.strs("architectures")), next(iter(known)))
    if first not in known:
        raise UnknownArchitecture(
            f"{where}: {printable(first, 60)} is none of its recorded classes, {', '.join(known)}."
        )
    values = {name: c.value(name) for name in c.names()}
    try:
        reading = read(known[first], values)
        tree = _tree(rows(reading))
    except Unprobed as error:
        raise UnknownArchitecture(f"{where}: {printable(str(error), None)}.") from None
    return _blueprint(c, known[first], reading, tree)


def _blueprint(c: Config, known: StandIn, reading: Reading, tree: Block) -> Derived:
    dtype = c.dtype()
    spec = Spec(
        family=known.model_type,
        architecture=known.architecture,
        dtype=dtype,
        hidden=0,
        layers=(),
        uncounted="names and shapes are all that is known",
    )
    return Derived(
        spec,
        tree,
        unread=tuple(sorted(key for key, value in reading.unknown.items() if may_bear(key, value))),
        base=known.base,
        derived_with=known.version,
        recorded_from=known.version,
        beyond=tuple(_beyond(reading)),
    )


def _beyond(reading: Reading) -> Iterable[str]:
    """The sizes that are smaller or greater than all that were probed, each with these."""
    for key, (least, most) in reading.known.spans.items():
        value = reading.given.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool) and not least <= value <= most:
            yield f"{printable(key, 60)} = {shown(value)} ({shown(least)} to {shown(most)} were probed)"


_Nest = dict[Any, Any]


def _tree(recorded: Iterable[RecordedRow]) -> Block:
    """The tree of the rows; numbers in names stay ranges."""
    nest: _Nest = {}
    for row in recorded:
        numbers = iter(row.numbers)
        *above, last = (next(numbers) if segment == "{}" else segment for segment in row.name.split("."))
        inner = nest
        for segment in above:
            inner = inner.setdefault(segment, {})
        inner[last] = _node(row)
    return Block({name: _folded(child) for name, child in _with_linears(nest).items()})


def _node(row: RecordedRow) -> Node:
    kind, _, more = row.kind.partition(" ")
    component = component_of(row.name)
    if kind == "tied":
        return Tied(more, row.shape, component)
    if kind == "spare":
        return Tensor(row.shape, presence="spare", component=component)
    if kind == "linear":
        return Linear(row.shape[1], row.shape[0], False, component)
    return Tensor(row.shape, "buffer" if kind == "buffer" else "parameter", component=component, whole=more == "whole")


def _with_linears(nest: Mapping[Any, Any]) -> _Nest:
    """The weights and biases of linear maps as one node, as ties are one of the module."""
    made: _Nest = {}
    for name, child in nest.items():
        if not isinstance(child, dict):
            made[name] = child
            continue
        weight = child.get("weight")
        if isinstance(weight, Linear | Tied):
            rest = {key: node for key, node in child.items() if key != "weight"}
            if isinstance(weight, Linear) and isinstance(bias := rest.get("bias"), Tensor) and bias.kind == "parameter":
                weight = Linear(weight.inputs, weight.outputs, True, weight.component)
                del rest["bias"]
            made[name] = (weight, Block({key: _folded(node) for key, node in rest.items()})) if rest else weight
        else:
            made[name] = _with_linears(child)
    return made


def _folded(node: Any) -> Node:
    """A node for what is below a name: alternatives for the ranges of numbers, and a block for the names."""
    if not isinstance(node, dict):
        whole: Node = node
        return whole
    nodes: list[Node] = [
        Repeat(Indices.of(numbers), _folded(body)) for numbers, body in node.items() if not isinstance(numbers, str)
    ]
    names = {name: _folded(body) for name, body in node.items() if isinstance(name, str)}
    if names:
        nodes.append(Block(names))
    return nodes[0] if len(nodes) == 1 else tuple(nodes)
