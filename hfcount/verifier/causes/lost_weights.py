"""Causes: missing layers or parts, and gaps in the numbers of layers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from hfcount.blueprints.build import build
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.spec.tree.indices import Indices
from hfcount.text import printable
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import Hint, counted, stacks
from hfcount.verifier.causes.sizes import changes, counting
from hfcount.verifier.causes.stored_rows import StoredRows, Text, compare
from hfcount.verifier.causes.whole_model import is_large

_TOWERS = {"vision", "audio", "projector"}
_LOST = "lost in saving or conversion"


def renumbered(case: Case) -> Iterator[Cause]:
    """The layers are as many as they should be, and their numbers have gaps or start late."""
    for stack, order in _gaps(case):
        if not any(compare(case.blueprint.leaves, case.stored.renumbered(stack, order)).counts):
            text = (
                f"the layers of {_name(stack)} are numbered {Indices.of(order)}: the numbers have a gap or do not"
                " start at 0"
            )
            yield Cause(case.open, sentence(text), f"Renumber them 0-{len(order) - 1}, in the same order.")
            return


def stripped(case: Case) -> Iterator[Cause]:
    """Nothing of a tower is stored, or the language model alone."""
    gone, difference, alone = case.gone, case.difference, _text_alone(case)
    if alone == "":
        text = "only the language model is stored, and text_config describes all of it"
        yield Cause(case.open, sentence(text), "Use the contents of text_config as config.json.")
    if not gone or gone.layers or gone.rest or difference.unexpected:
        return
    components = {leaf.component for leaf, _ in difference.missing}
    if not components <= _TOWERS:
        return
    every = {leaf.component for leaf in case.blueprint.leaves} & _TOWERS == components
    key = next((f"{tower}_config" for tower in sorted(components) if f"{tower}_config" in case.values), None)
    them = "them" if len(gone.parts) > 1 else "it"
    text = f"{_absent([], [*gone.parts])}, but {key or 'config.json'} describes {them}: "
    advice = f"add {them} from the model that was converted"
    if alone:
        advice += f", or use the contents of text_config as config.json and remove {alone} from the names"
    yield Cause({"HF201"}, sentence(text + ("a text-only conversion" if every else _LOST)), sentence(advice), key=key)


def lost(case: Case) -> Iterator[Cause]:
    """Nothing of some layers and parts is stored, and no other config is known that would fit."""
    gone = case.gone
    if not gone or case.difference.unexpected:
        return
    parts = [part for part, names in gone.parts.items() if gone.layers or is_large(names)]
    layers = [
        f"layer{'s' if len(numbers) > 1 else ''} {Indices.of(numbers)} of {_name(stack)}"
        for stack, (numbers, _) in gone.layers.items()
    ]
    if layers or parts:
        advice = "; or, ".join(["add what is missing", *_pruned(case)])
        yield Cause({"HF201"}, sentence(f"{_absent(layers, parts)}{_between(case)}: {_LOST}"), sentence(advice))


def beside(case: Case) -> Iterator[Cause]:
    """All that the config describes is stored, and a whole part more."""
    more = case.beyond
    if more and not more.layers and not more.rest and not case.difference.missing:
        text = f"all tensors of {case.comparison.subject} are stored, and also {listed([*map(printable, more.parts)])}"
        them = "them" if len(more.parts) > 1 else "it"
        advice = f"Save without {them}, or name the class that has {them} in architectures."
        yield Cause({"HF202"}, sentence(f"{text}, which it does not have"), advice)


def _absent(layers: Sequence[str], parts: Sequence[str]) -> str:
    named = [f"the part{'s' if len(parts) > 1 else ''} {listed([*map(printable, parts)])}"] if parts else []
    many = len(layers) + len(parts) > 1 or any(layer.startswith("layers ") for layer in layers)
    return f"{listed([*layers, *named])} {'are' if many else 'is'} missing completely"


def _between(case: Case) -> str:
    """That layers behind those that are absent are stored, so that they were not left out by their number."""
    gone = case.gone.layers if case.gone else {}
    ends = {stack: max(case.stored.numbers(stack).get((), {-1})) for stack in gone}
    if gone and all(min(numbers) < ends[stack] for stack, (numbers, _) in gone.items()):
        return ", though later layers are stored, so another number of layers would not fit"
    return ""


def _pruned(case: Case) -> Iterator[str]:
    """The steps to take if layers were removed on purpose."""
    counts = stacks(case.blueprint)
    for stack, order in _gaps(case):
        found = counted(counts[stack], ())
        count = found[1] if found else 0
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


def _text_alone(case: Case) -> str | None:
    """The prefix to drop so that text_config alone describes the names; None if it does not."""
    text = case.value("text_config")
    if not isinstance(text, Mapping):
        return None
    try:
        alone = build(Config(text))
    except HfcountError:
        return None
    for prefix in ("", "language_model."):
        rows = {
            (first.replace(f".{prefix}", ".", 1), *rest): [replace(row, text=()) for row in rows]
            for (first, *rest), rows in case.stored.rows.items()
        }
        if not any(compare(alone.leaves, StoredRows(rows)).counts):
            return prefix
    return None


def _name(stack: Text) -> str:
    return printable(stack[0][1:])
