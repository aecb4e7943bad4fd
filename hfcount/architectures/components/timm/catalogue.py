"""The models of timm by name: which tensors each has, as recorded from timm 1.0.31 by tests/tools/timm_pack.py.

The file holds chunks, each compressed: the first says in which chunk a name is, the others list their models, and after
an empty line the blocks that these are made of, one a line. A block is a row of names and nodes in turn: a name may be
a range of numbers; a node is `@` and the line of another block, a block in brackets, or a tensor by its shape.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Node, Repeat, Tensor

VERSION = "1.0.31"
FILE = Path(__file__).with_name("timm.dat")

_EXTENT = re.compile(r"(\d*)([cig]?)(?:\+(\d+))?")
"""A multiple of the classes, the channels or the patches of an image, and what is added."""

_COMPONENTS: tuple[tuple[re.Pattern[str], Component], ...] = (
    (re.compile(r"norm|(?:^|[._])[bl]n\d*[._]"), "norm"),
    (re.compile(r"^(?:head|classifier|fc|last_linear)"), "other"),
    (re.compile(r"attn|attention|qkv"), "attention"),
    (re.compile(r"mlp|ffn"), "mlp"),
    (re.compile(r"patch_embed|(?:pos|position)_?emb|(?:cls|dist|reg|mask)_token"), "embedding"),
)
"""The component that a tensor is counted under: the first pattern that its name matches."""


class Image(NamedTuple):
    """The constraints of timm on the size of an image.

    Args:
        rule: `refused`, there is no such argument; `free`, from the `usual` size on it changes nothing; `patches`, some
            shapes follow the number of patches; `fixed`, only sizes that were recorded are known; `needed`, only the
            `usual` one is, and has to be given.
        usual: the height and width without the argument, in pixels.
        patch: the height and width of a patch, in pixels.
    """

    rule: str
    usual: tuple[int, int] = (0, 0)
    patch: tuple[int, int] = (1, 1)


class TimmModel(NamedTuple):
    """One model.

    Args:
        blocks: all lines of its chunk.
        roots: the line of its outermost block, by what is asked for: a way of pooling, with = before the usual one, or
            the size of an image.
        image: what the size of an image changes.
        native: the size that timm asks for where it makes the model by name alone, by the name of its weights.
        shapeless: the arguments that it takes and that change no tensor.
        headless: beginnings of the names of tensors that go with the classes, though their shapes do not follow them.
        module: the file of timm that describes it.
    """

    blocks: Sequence[str]
    roots: dict[str, int]
    image: Image
    native: dict[str, tuple[int, int]]
    shapeless: frozenset[str]
    headless: tuple[str, ...]
    module: str

    @property
    def pool(self) -> str:
        """Its default pooling."""
        return next(name.removeprefix("=") for name in self.roots if name.startswith("="))


class TimmSizes(NamedTuple):
    """The sizes that a config gives a model: classes, colours and the patches of an image."""

    classes: int
    channels: int
    patches: int = 0


def names() -> list[str]:
    """The names of all models."""
    return list(_places())


def known(name: str) -> TimmModel | None:
    """A model by its name, without that of its weights; None if timm has none of that name."""
    place = _places().get(name)
    return None if place is None else _models(place)[name]


def near(name: str) -> list[str]:
    """Names of models that are like a name."""
    from difflib import get_close_matches

    return get_close_matches(name[:100], _places(), n=3, cutoff=0.8)


def tensors(model: TimmModel, root: str, sizes: TimmSizes) -> Block:
    """The tree of a model under timm's own names; of no classes, it has no head."""
    reader = _Reader(model, sizes)
    children = reader.block(reader.tokens(model.roots[root]), "")
    return Block({number: node for name, node in children.items() for number in _each(name)})


@cache
def _places() -> dict[str, int]:
    pairs = (line.split() for line in _chunk(0).splitlines())
    return {name: int(place) for name, place in pairs}


@cache
def _chunk(number: int) -> str:
    import lzma  # nothing else needs it

    with FILE.open("rb") as file:
        lengths = [int(length) for length in file.readline().split()]
        file.seek(sum(lengths[:number]), 1)
        return lzma.decompress(file.read(lengths[number])).decode()


@cache
def _models(place: int) -> dict[str, TimmModel]:
    listed, _, blocks = _chunk(place).partition("\n\n")
    lines = blocks.split("\n")
    return {line.partition(" ")[0]: _model(line.split(" ")[1:], lines) for line in listed.split("\n")}


def _model(facts: Sequence[str], blocks: Sequence[str]) -> TimmModel:
    """A model by its line in the list: fields that begin with a marker of their kind."""
    fields: dict[str, list[str]] = {}
    for fact in facts:
        kind, _, value = fact.partition(":")
        fields.setdefault(kind, []).append(value)
    roots = {name: int(line) for name, line in (value.split("@") for value in fields["root"])}
    rule, *sizes = fields["image"][0].split("/")
    image = Image(rule, *map(_pair, sizes))
    native = {tag: _pair(size) for tag, size in (value.split("=") for value in fields.get("native", ()))}
    takes, headless = frozenset(fields.get("takes", ())), tuple(fields.get("headless", ()))
    return TimmModel(blocks, roots, image, native, takes, headless, fields["module"][0])


def _pair(text: str) -> tuple[int, int]:
    height, width = text.split("x")
    return int(height), int(width)


def _numbered(children: dict[str, Node]) -> Node:
    """A block, or where all names are numbers the alternatives by their numbers."""
    if all(name[0].isdecimal() for name in children):
        return tuple(Repeat(_range(name), node) for name, node in children.items())
    return Block({number: node for name, node in children.items() for number in _each(name)}, _component(children))


def _component(children: dict[str, Node]) -> Component | None:
    """The component of normalisations and convolutions, whatever their names."""
    weight = children.get("weight")
    if "running_mean" in children:
        return "norm"
    return weight.component if isinstance(weight, Tensor) and weight.component == "convolution" else None


def _range(name: str) -> Indices:
    first, _, last = name.partition("-")
    return Indices.span(int(first), int(last or first) + 1)


def _each(name: str) -> list[str]:
    return [str(number) for number in _range(name)] if name[0].isdecimal() else [name]


class _Reader(NamedTuple):
    """Makes the blocks of one model, of the sizes that are asked for."""

    model: TimmModel
    sizes: TimmSizes

    def tokens(self, line: int) -> Iterator[str]:
        return iter(re.findall(r"[()]|[^ ()]+", self.model.blocks[line]))

    def block(self, tokens: Iterator[str], path: str) -> dict[str, Node]:
        """The children of a block by their names, of which some are ranges of numbers."""
        children: dict[str, Node] = {}
        for name in tokens:
            if name == ")":
                break
            node = self._node(next(tokens), tokens, f"{path}{name}.")
            if node is not None:
                children[name] = node
        return children

    def _node(self, token: str, tokens: Iterator[str], path: str) -> Node | None:
        """A node; None for one that is not there, since it belongs to the head of a model without classes."""
        if token == "(" or token.startswith("@"):
            inner = tokens if token == "(" else self.tokens(int(token[1:]))
            children = self.block(inner, path)
            if not children or (path.startswith(self.model.headless) and not self.sizes.classes):
                return None
            return _numbered(children)
        return self._tensor(token, path)

    def _tensor(self, token: str, path: str) -> Tensor | None:
        kind, extents = (token[0], token[1:]) if token[:1] in ("~", "#") else ("", token)
        if not self.sizes.classes and "c" in extents:
            return None
        shape = tuple(self._extent(text) for text in extents.split(",") if text != "s")
        usual: Component = "convolution" if len(shape) == 4 else "other"
        component = next((component for pattern, component in _COMPONENTS if pattern.search(path)), usual)
        return Tensor(shape, "buffer" if kind else "parameter", component=component, whole=kind == "#")

    def _extent(self, text: str) -> int:
        match = _EXTENT.fullmatch(text)
        assert match, f"{text} is no extent"
        many, size, more = match[1], match[2], int(match[3] or 0)
        if not size:
            return int(many)
        of = {"c": self.sizes.classes, "i": self.sizes.channels, "g": self.sizes.patches}[size]
        extent = int(many) * of if many else of
        return extent + more if more else extent
