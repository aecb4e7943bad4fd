"""Lays out activations with weights, wherever a config asks for one in place of its type's own."""

from collections.abc import Collection, Iterator, Mapping
from typing import get_args

from hfcount.architectures.registry import find
from hfcount.errors import UnknownArchitecture
from hfcount.mapper.activations import NUMBER, ActivationPlaces, Place, activation_places, folded, tensors
from hfcount.mapper.class_defaults import declares
from hfcount.spec import Spec
from hfcount.spec.model import Role
from hfcount.spec.tree.nodes import Block, Component, Node, Repeat, Tensor, Undescribed

ROLES = frozenset(get_args(Role))


def with_activations(tree: Block, s: Spec) -> Block:
    """The tree of a model or of a part with the tensors of its activations.

    Raises:
        UnknownArchitecture: it is not known where models of this type hold them.
    """
    try:
        return _placed(tree, s)
    except UnknownArchitecture:
        if s.place:  # the model around it says where they are, or that it is not known
            return tree
        raise


def _placed(tree: Block, s: Spec) -> Block:
    of_parts = {key for key in s.trained if "." in key and any(_has_own(part, key) for part in s.parts.values())}
    known = activation_places(s.kind)
    for key in s.trained.keys() - of_parts:
        if known is None or known.unknown or (key not in known.keys and ("." in key or declares(s.kind, key))):
            raise _unknown(s, key)
    if known is None:
        return tree
    words = {key: word for key, word in s.trained.items() if known.keys.get(key)}
    placing = _Placing(known, words, of_parts)
    placed = placing.node(tree, "")
    assert isinstance(placed, Block), "a block stays one"
    for key in words.keys() - of_parts - placing.met:
        raise _unknown(s, key)
    return placed


def _has_own(part: Spec, key: str) -> bool:
    """Whether a key is that of a part whose type says which of its modules hold activations."""
    role, last = key.partition(".")[0].removesuffix("_config"), key.rpartition(".")[2]
    family = find(part.family)
    if last not in part.trained or (role != part.place and role in ROLES) or family is None:
        return False
    try:
        _placed(family.blueprint(part), part)
    except UnknownArchitecture:
        return False
    return True


def _unknown(s: Spec, key: str) -> UnknownArchitecture:
    word = s.trained[key]
    return UnknownArchitecture(f"{key} is {word}, which has weights; where this {s.kind} holds them is not known.")


class _Placing:
    """Puts activations into a tree.

    Attributes:
        met: the keys of which a module was found.
    """

    def __init__(self, known: ActivationPlaces, words: Mapping[str, str], of_parts: Collection[str]) -> None:
        self.known, self.words, self.of_parts = known, words, of_parts
        self.places = [(key, place) for key in words for place in known.keys[key]]
        self.met = set[str]()

    def node(self, node: Node, path: str) -> Node:
        """The node at a path, and what is below it, with their activations."""
        if isinstance(node, Repeat):
            return self._held(node.replace(body=self.node(node.body, _below(path, NUMBER))), path)
        if isinstance(node, tuple):
            before = set(self.met)
            inner = tuple(self.node(one, path) for one in node)
            return inner if self.met - before and not _is_numbered(node) else self._held(inner, path)
        if isinstance(node, Block):
            known = folded(node.children)
            children = {name: self.node(child, _below(path, known[name])) for name, child in node.children.items()}
            return self._held(node.replace(children=children), path)
        return node

    def _held(self, node: Node, path: str) -> Node:
        """A module with the activations that it holds itself."""
        names = frozenset(_children(node))
        near = [(key, place) for key, place in self.places if _is_at(path, place.path)]
        own = {place.name: self.words[key] for key, place in near if self._fits(key, place, names)}
        if not own:
            asked = [place for key, place in near if key not in self.of_parts and not _ends(place.path, path)]
            if asked and not isinstance(node, tuple) and not self._is_known(asked, names):
                beside = " ".join(sorted(names))
                raise UnknownArchitecture(f"it is not known which activations {path} holds beside {beside}.")
            return node
        added = {
            name.partition(".")[0]: _within(name.partition(".")[2], _activation(word, _component(node)))
            for name, word in own.items()
            if name not in names
        }
        if isinstance(node, Block):
            return node.replace(children={**node.children, **added})
        alone = node if isinstance(node, tuple) else (node,)
        return (*alone, Block(added)) if added else node

    def _fits(self, key: str, place: Place, names: frozenset[str]) -> bool:
        if names - {place.name.partition(".")[0]} != place.children:
            return False
        self.met.add(key)
        return True

    def _is_known(self, near: list[Place], names: frozenset[str]) -> bool:
        return any(self.known.is_known(place.path, names - {place.name}) for place in near)


def _is_at(path: str, recorded: str) -> bool:
    """Whether a module is at a recorded path, one of the two perhaps within a larger model."""
    return path == recorded or _ends(path, recorded) or (bool(path) and _ends(recorded, path))


def _ends(path: str, end: str) -> bool:
    return bool(end) and path.endswith(f".{end}")


def _children(node: Node) -> Iterator[str]:
    if isinstance(node, Repeat):
        yield NUMBER
    elif isinstance(node, tuple):
        for one in node:
            yield from _children(one)
    elif isinstance(node, Block):
        known = folded(node.children)
        yield from (known[name] for name, child in node.children.items() if not _is_obsolete(child))


def _is_obsolete(node: Node) -> bool:
    """Whether a module of today has nothing of this, as earlier versions alone stored it."""
    if isinstance(node, Block):
        return bool(node.children) and all(map(_is_obsolete, node.children.values()))
    return isinstance(node, Tensor) and node.presence == "obsolete"


def _is_numbered(node: tuple[Node, ...]) -> bool:
    return all(isinstance(one, Repeat) for one in node)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _within(path: str, module: Block) -> Block:
    """A module at a path in one that holds nothing else."""
    for name in reversed(path.split(".") if path else ()):
        module = Block({name: module})
    return module


def _activation(word: str, component: Component | None) -> Block:
    """An activation: its parameters and buffers, of the shapes that `tensors` gives."""
    known = tensors(word).items()
    made: dict[str, Node] = {
        name: Tensor(shape, "buffer" if is_buffer else "parameter") for name, (shape, is_buffer) in known
    }
    return Block(made, component)


def _component(node: Node) -> Component | None:
    """The component of an activation in a module: that of its feed-forward network, or else of its first tensor."""
    known = [*_components(node)]
    return "mlp" if "mlp" in known else next(iter(known), None)


def _components(node: Node) -> Iterator[Component]:
    """The components of the tensors below a node, as far as they have any."""
    if isinstance(node, Repeat):
        yield from _components(node.body)
    elif not isinstance(node, Undescribed | tuple) and node.component:
        yield node.component
    elif isinstance(node, tuple | Block):
        for below in node if isinstance(node, tuple) else node.children.values():
            yield from _components(below)
