"""Checks whether mergekit merges two models: its own refusals, by its source, and what it would merge wrongly.

mergekit.json has its definitions of architectures, recorded by tests/tools/mergekit_facts.py, and the lines of its
checks. A class that it does not define is merged by the names that its models have in common, with no check of
classes.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hfcount.diffing.comparison import Comparison
from hfcount.diffing.expectations import Judgement
from hfcount.diffing.loaded_side import LoadedSide
from hfcount.diffing.names_in_memory import names_in_memory
from hfcount.diffing.tensors import Inventory, Logical
from hfcount.errors import FetchError
from hfcount.fetcher import tokens
from hfcount.fetcher.data_files import data_folder
from hfcount.fetcher.interface import TOKENIZER
from hfcount.formats import vocabularies
from hfcount.text import plural, printable
from hfcount.text import shown as quoted
from hfcount.verifier.folded_names import fold

_FEW = 3  # names or keys in a reason
_FLOATS = ("F", "BF")
_MOST = 64_000_000  # bytes of a file of words
_SIDES = ("A", "B")


class Weight(NamedTuple):
    """A row of a definition: its name, other names that it may have, and the axis that counts tokens."""

    name: str
    others: tuple[str, ...]
    optional: bool
    axis: int | None


class Definition(NamedTuple):
    """What mergekit says of an architecture: the type, the keys of numbers of layers, and the weights."""

    name: str
    model_type: str
    layers: tuple[str, ...]
    weights: tuple[Weight, ...]

    def pattern(self) -> re.Pattern[str]:
        """What matches the names of all its weights."""
        names = [name for weight in self.weights for name in (weight.name, *weight.others)]
        return re.compile("|".join(r"\d+".join(map(re.escape, re.split(r"\$\{[^}]*\}", name))) for name in names))


def mergeable(c: Comparison) -> Judgement:
    """Whether mergekit merges B with A; the reason names each refusal, with the line of its source."""
    reasons = [*_of_files(c), *_of_classes(c)]
    if not reasons:
        definition = _definition(c.a)
        reasons += [*_of_layers(c, definition), *_of_shapes(c, definition)]
        for name, side, tensors in _each(c):
            reasons += _of_names(name, side, tensors, definition)
        reasons += _of_words(c)
    if reasons:
        return False, "; ".join(reasons)
    if unknown := _unknown(c):
        return None, unknown
    return True, _holds(c)


def _each(c: Comparison) -> Iterator[tuple[str, LoadedSide, Inventory]]:
    for name, side in zip(_SIDES, (c.a, c.b), strict=True):
        tensors = side.inventory(raw=True)
        if tensors is not None and tensors.listed:
            yield name, side, tensors


def _of_files(c: Comparison) -> Iterator[str]:
    """Forms that mergekit does not open."""
    for name, side in zip(_SIDES, (c.a, c.b), strict=True):
        form = "a GGUF file" if side.gguf else "an adapter" if side.adapter is not None else ""
        form = "a pipeline" if side.pipeline else form
        files = [*(side.shards or ())]
        if form:
            yield f"{name} is {form}, and {_by('files')} reads model.safetensors or pytorch_model.bin"
        elif files and side.container is None and not _is_named(side, files):
            named = ", ".join(map(printable, files[:_FEW]))
            yield f"{name} has its weights in {named}, and {_by('files')} looks for model.safetensors or its index"


def _is_named(side: LoadedSide, files: Sequence[str]) -> bool:
    return "model.safetensors" in files or (side.documents is not None and side.documents.index is not None)


def _of_classes(c: Comparison) -> Iterator[str]:
    """Configs that name no class, or several, and classes that mergekit does not mix."""
    named = [_classes(side) for side in (c.a, c.b)]
    if any(side.error is not None and not side.values for side in (c.a, c.b)):
        return
    for name, classes in zip(_SIDES, named, strict=True):
        if len(classes) != 1:
            many = f"{len(classes)} classes" if classes else "no class"
            yield f"the config of {name} names {many}, and {_by('classes')} takes one"
    if any(len(classes) != 1 for classes in named):
        return
    first, second = (printable(classes[0]) for classes in named)
    known = _definition(c.a), _definition(c.b)
    if all(known) and known[0] != known[1]:
        yield f"A is {first} and B is {second}, which {_by('mixed')} refuses to mix without --allow-crimes"
    elif not all(known) and first != second:
        yield f"A is {first} and B is {second}: mergekit {_facts()['version']} would merge the names that both have"


def _of_layers(c: Comparison, definition: Definition | None) -> Iterator[str]:
    for key in definition.layers if definition else ():
        a, b = (_value(side.values, key) for side in (c.a, c.b))
        if a != b and isinstance(a, int) and isinstance(b, int):
            yield f"A has {a:,} layers and B {b:,} ({key}): {_by('layers')} refuses `models` of other numbers"


def _of_shapes(c: Comparison, definition: Definition | None) -> Iterator[str]:
    """Tensors of other sizes; those of the vocabulary by themselves, which mergekit can align."""
    differing = c.matched.shapes if c.matched else {}
    merged = definition.pattern() if definition else None
    known = names_in_memory(c.a.blueprint, [a.name for a, _ in differing.values()]) if merged else {}
    by_shape: dict[tuple[bool, tuple[int, ...], tuple[int, ...]], list[str]] = {}
    for a, b in differing.values():
        if merged is None or any(map(merged.fullmatch, {a.name, a.stored, known.get(a.name, a.name)})):
            by_shape.setdefault((_is_vocabulary(a, b), a.shape, b.shape), []).append(a.name)
    for (words, shape, other), names in by_shape.items():
        listed = f"{_listed(names)}: {list(shape)} in A, {list(other)} in B"
        yield f"other sizes of {listed}, which {_by('shapes')} refuses" + (
            " unless `tokenizer: {source: base}` or `union` aligns the words" if words else ""
        )


def _is_vocabulary(a: Logical, b: Logical) -> bool:
    """Whether the rows are words, and nothing else differs."""
    return a.component in ("embedding", "lm_head") and a.shape[1:] == b.shape[1:]


def _of_names(name: str, side: LoadedSide, tensors: Inventory, definition: Definition | None) -> Iterator[str]:
    """Weights that a definition needs and a side lacks, and tensors that mergekit would leave out."""
    if definition is None:
        if tensors.packing:
            yield f"{name} is packed ({tensors.packing}): {_by('whole')} merges floating-point weights alone"
        return
    described = {row.name for row in tensors.tensors.values()}
    known = {} if tensors.packing else names_in_memory(side.blueprint, described)  # as architecture/conversion.py:74
    stored = _stored_names(side, tensors) | {*known.values()}
    absent = [weight for weight, names in _needed(side, definition) if stored.isdisjoint(names)]
    if absent:
        yield f"{name} has no {_listed(absent)}, which {_by('absent')} needs"
        return
    merged = definition.pattern()
    rows = [
        row
        for row in tensors.tensors.values()
        if any(map(merged.fullmatch, {row.name, row.stored, known.get(row.name, row.name)}))
    ]
    whole = [row.name for row in rows if row.dtype and not row.dtype.startswith(_FLOATS)]
    if whole:
        yield f"{_listed(whole)} of {name} hold whole numbers, which {_by('whole')} merges only where they are the same"
    names = {row.name for row in rows}
    lost = [row.name for row in tensors.tensors.values() if row.name not in names and _is_needed(row)]
    if lost:
        yield (
            f"mergekit {_facts()['version']} leaves out {plural(len(lost), 'tensor')} of {name}, which its definition"
            f" {definition.name} does not name: {_listed(lost)}"
        )


def _stored_names(side: LoadedSide, tensors: Inventory) -> set[str]:
    """The names in the files; unless packed, those that transformers' conversions make of them, too."""
    rows = tensors.tensors.values()
    stored = set(side.view.entries) if side.view else {row.stored for row in rows}
    return stored if tensors.packing else stored | {row.name for row in rows}


def _needed(side: LoadedSide, definition: Definition) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The weights that may not be absent, by layer: the name, and all that it may be called."""
    count = _value(side.values, definition.layers[0]) if len(definition.layers) == 1 else None
    for weight in definition.weights:
        names = (weight.name, *weight.others)
        if weight.optional:
            continue
        if "${" not in weight.name:
            yield weight.name, names
        elif isinstance(count, int) and re.findall(r"\$\{[^}]*\}", weight.name) == ["${layer_index}"]:
            for number in range(count):
                numbered = tuple(name.replace("${layer_index}", str(number)) for name in names)
                yield numbered[0], numbered


def _is_needed(row: Logical) -> bool:
    return row.leaf is not None and row.leaf.label == "parameter" and not row.leaf.tied_to


def _of_words(c: Comparison) -> Iterator[str]:
    """Words with other ids, where embeddings have as many rows."""
    a, b = _words(c.a), _words(c.b)
    by_id = {number: word for word, number in b.items()}
    others = [(number, word, by_id[number]) for word, number in a.items() if by_id.get(number, word) != word]
    others = [row for row in others if not any(map(vocabularies.is_placeholder, row[1:]))]
    if others:
        number, word, other = others[0]
        are = "is another word" if len(others) == 1 else "are other words"
        yield (
            f"{plural(len(others), 'id')} of the tokenizer {are}, such as {number:,}, which is {quoted(word)} in A and"
            f" {quoted(other)} in B: {_by('rows')} merges rows by their number unless `tokenizer: {{source: union}}`"
            " is set"
        )


def _words(side: LoadedSide) -> dict[str, int]:
    """The words of a local tokenizer by file, and added tokens; empty if nothing is known."""
    if side.documents is None:
        return {}
    words: dict[str, int] = {}
    with suppress(FetchError, OSError):
        folder = data_folder(side.request, side.documents, [TOKENIZER]) if side.request else None
        names = {path.name: None for path in folder.iterdir()} if folder else {}
        file = TOKENIZER if TOKENIZER in names else vocabularies.file_of(names)
        if folder and file:
            raw = (folder / file).read_bytes()[:_MOST]
            text = raw.decode("utf-8", "ignore")
            words = vocabularies.words_of_tokenizer(text) if file == TOKENIZER else vocabularies.words(file, raw)
    if not words:
        words = {word: number for _, word, number in tokens.highest(side.documents.companions)}
    return words | {word: number for _, word, number in tokens.added(side.documents.companions) if word not in words}


def _unknown(c: Comparison) -> str:
    """Why it cannot be known; empty if it can."""
    for name, side in zip(_SIDES, (c.a, c.b), strict=True):
        if side.unseen is not None or side.inspection is None:
            return f"{name} could not be looked at"
        if side.weightless:
            return f"{name} has no weights"
    if c.unread:
        return f"files of {' and '.join(c.unread)} are missing or cannot be read"
    return "the weights were not read" if c.described or c.matched is None else ""


def _holds(c: Comparison) -> str:
    """That nothing refuses it, and what the merge would take from one side alone."""
    keys = [printable(row.key) for row in c.config if row.effect == "reading"]
    more = f"; configs differ in {', '.join(keys[:_FEW])}, and the merge takes those of the base model" if keys else ""
    words = "" if _words(c.a) and _words(c.b) else "; tokenizers were not compared"
    return f"no check of mergekit {_facts()['version']} refuses it{words}{more}"


def _by(rule: str) -> str:
    """mergekit, its version, and the line of a check."""
    return f"mergekit {_facts()['version']} ({_facts()['lines'][rule]})"


def _listed(names: Sequence[str]) -> str:
    folded = [printable(name) for name in fold(dict.fromkeys(names))]
    more = f" and {plural(len(folded) - _FEW, 'more row')}" if len(folded) > _FEW else ""
    return ", ".join(folded[:_FEW]) + more


def _classes(side: LoadedSide) -> list[str]:
    value = side.values.get("architectures")
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _definition(side: LoadedSide) -> Definition | None:
    """The definition of the class of a side; None if mergekit has none, or makes it by code."""
    classes = _classes(side)
    names = _facts()["classes"].get(classes[0], ()) if len(classes) == 1 else ()
    kind = side.values.get("model_type")
    chosen = [name for name in names if len(names) == 1 or _facts()["definitions"][name]["model_type"] == kind]
    if not chosen:
        return None
    content = _facts()["definitions"][chosen[0]]
    weights = tuple(Weight(name, tuple(others), optional, axis) for name, others, optional, axis in content["weights"])
    return Definition(chosen[0], content["model_type"], tuple(content["layers"]), weights)


def _value(values: Mapping[str, Any], key: str) -> Any:
    """The value of a key, which dots may lead into."""
    found: Any = values
    for part in key.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


@cache
def _facts() -> Any:
    return json.loads((Path(__file__).parent / "mergekit.json").read_text())
