"""Whole layers and whole parts that are absent, and layers whose numbers have gaps."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.plan import build
from hfcount.text import printable
from hfcount.tree.indices import Indices
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import Hint, stacks
from hfcount.verifier.causes.sizes import changes, counting
from hfcount.verifier.causes.stored import Stored, Text, compare
from hfcount.verifier.causes.wholes import is_large

_TOWERS = {"vision", "audio", "projector"}
_INNER = ".language_model"


def renumbered(case: Case) -> Iterator[Cause]:
    """The layers are as many as they should be, and their numbers have gaps or start late."""
    for stack, order in _gaps(case):
        if not any(compare(case.blueprint.leaves, case.stored.renumbered(stack, order)).counts):
            said = f"the layers of {_name(stack)} are numbered {Indices.of(order)}, and there should be no gaps"
            yield Cause(case.open, sentence(said), f"Renumber them 0-{len(order) - 1}, in their order.")
            return


def stripped(case: Case) -> Iterator[Cause]:
    """Nothing of a tower is stored, while the language model is whole."""
    gone, difference = case.gone, case.difference
    if not gone or gone.layers or gone.rest or any(difference.counts[1:]):
        return
    components = {leaf.component for leaf, _ in difference.missing}
    if not components <= _TOWERS:
        return
    key = next((f"{one}_config" for one in sorted(components) if f"{one}_config" in case.values), None)
    are, them = ("are", "them") if len(gone.parts) > 1 else ("is", "it")
    said = f"{listed([*gone.parts])} {are} absent altogether, while {key or 'the config'} announces {them}"
    do = f"add {them} from the model that was converted"
    if _text_alone(case):
        do += f", or make text_config the config and drop {_INNER[1:]}. from the names"
    yield Cause({"HF201"}, sentence(f"{said}: a text-only conversion"), sentence(do), key=key)


def lost(case: Case) -> Iterator[Cause]:
    """Nothing of some layers and parts is stored, and no other config would fit."""
    gone = case.gone
    if not gone or case.difference.unexpected:
        return
    parts = [part for part, names in gone.parts.items() if gone.layers or is_large(names)]
    layers = [f"layers {Indices.of(own)} of {_name(stack)}" for stack, (own, _) in gone.layers.items()]
    if layers or parts:
        said = f"{listed([*layers, *map(printable, parts)])} are absent altogether, and no other"
        said += " number of layers would fit" if layers else " value of one key would fit"
        do = "; or, ".join(["add what is missing", *_pruned(case)])
        yield Cause({"HF201"}, sentence(f"{said}: lost in saving or conversion"), sentence(do))


def _pruned(case: Case) -> Iterator[str]:
    """What would have to be done if layers were left out on purpose."""
    counts = stacks(case.blueprint)
    for stack, order in _gaps(case):
        count = counts[stack][1]
        for key in counting(case, count):
            hint = Hint(key, int(count), len(order), key, "layer")
            made = case.with_changes(changes(case, {key: hint}))
            if made and not any(compare(made[0].leaves, case.stored.renumbered(stack, order)).counts):
                others = f"renumber the others 0-{len(order) - 1} and set {key} to {hint.fits}"
                yield f"if they were left out on purpose, {others}"
                return


def _gaps(case: Case) -> Iterator[tuple[Text, list[int]]]:
    """Stacks whose layers are not numbered 0, 1, 2, ..., with the numbers that are there."""
    for stack in stacks(case.blueprint):
        numbers = sorted(case.stored.numbers(stack).get((), ()))
        if len(stack) == 1 and numbers and numbers[-1] != len(numbers) - 1:
            yield stack, numbers


def _text_alone(case: Case) -> bool:
    """Whether the language model's own config describes what is stored, less a prefix."""
    text = case.value("text_config")
    if not isinstance(text, Mapping):
        return False
    try:
        alone = build(Config(text))
    except HfcountError:
        return False
    rows = {
        (first.replace(f"{_INNER}.", ".", 1), *rest): [replace(row, text=()) for row in rows]
        for (first, *rest), rows in case.stored.rows.items()
    }
    return not any(compare(alone.leaves, Stored(rows)).counts)


def _name(stack: Text) -> str:
    return printable(stack[0][1:])
