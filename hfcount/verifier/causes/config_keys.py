"""Causes: keys that the config lacks: misspelt ones, the class in architectures, and the config of a part."""

from collections.abc import Iterator, Mapping
from typing import Any

from hfcount.blueprints.build import build
from hfcount.errors import HfcountError
from hfcount.mapper import Config
from hfcount.mapper.classes import classes
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.leaves import Leaf
from hfcount.text import printable, shown
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.hints import BY_DEFAULT
from hfcount.verifier.causes.stored_rows import Text, text_of

_NEAR = 0.84  # difflib's ratio: one letter in seven
_CLASSES = "architectures"
_NAMED, _MOST = 4, 20  # classes that are named, and tried
_OUTER = 2  # names that a part of the model is told by


def misspelt(case: Case) -> Iterator[Cause]:
    """Keys that nobody reads, which fit under the name of one that is absent."""
    pairs = dict(_misspellings(case))
    for names in dict.fromkeys([(*pairs,), *((name,) for name in pairs)]):
        changes = {pairs[name]: case.value(name) for name in names}
        codes = case.solved(changes) if changes else frozenset()
        if codes and case.proven(changes):
            text = "; ".join(
                f"no key is called {printable(name)}, and {pairs[name]} is absent{_taken(case, pairs[name])}"
                for name in names
            )
            text += f": with {_values(changes)} the stored tensors would fit"
            renamed = listed([f"{printable(name)} to {pairs[name]}" for name in names])
            yield Cause(
                codes, sentence(text), f"Rename {renamed}.", changes, sole=codes == case.open and _flat(changes)
            )
            return


def _taken(case: Case, key: str) -> str:
    default = case.defaults.get(key)
    return f" (default: {shown(default)})" if isinstance(default, int | float | str) else ""


def _values(changes: Mapping[str, Any]) -> str:
    return listed([f"{key} {shown(value).replace(',', '')}" for key, value in changes.items()])


def _flat(changes: Mapping[str, Any]) -> bool:
    return not any(isinstance(value, dict | list) for value in changes.values())


def _misspellings(case: Case) -> Iterator[tuple[str, str]]:
    """Keys that are not read, each with the absent one that its name is nearest to; full paths."""
    from difflib import get_close_matches

    for prefix, values in _objects(case.values):
        read = {key[len(prefix) :].partition(".")[0] for key in (*case.keys, _CLASSES) if key.startswith(prefix)}
        absent = sorted(name for name in read if values.get(name) is None)
        for name, value in values.items():
            if value is None or name in read:
                continue
            if near := get_close_matches(name[:100], absent, 1, _NEAR):
                yield f"{prefix}{name}", f"{prefix}{near[0]}"


def _objects(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The config and the objects in it, each with the path of what it holds."""
    yield prefix, values
    for name, value in values.items():
        if isinstance(value, dict) and name.endswith("_config"):
            yield from _objects(value, f"{prefix}{name}.")


def classed(case: Case) -> Iterator[Cause]:
    """architectures names no class, and what is stored is all that one of the type's has."""
    kind = case.values.get("model_type")
    if case.values.get(_CLASSES) or not isinstance(kind, str):
        return
    proven = [name for name in classes(kind)[:_MOST] if _is_all(case, name)]
    if proven:
        few = sorted(proven, key=lambda name: (len(name), name))[:_NAMED]
        text = (
            f"config.json names no class in architectures, and the stored tensors are all those of {' or '.join(few)}"
        )
        advice = f"set architectures to {' or '.join(f'[{name}]' for name in few)}"
        yield Cause(case.open, sentence(text), sentence(advice), {_CLASSES: [few[0]]})


def _is_all(case: Case, name: str) -> bool:
    """Whether all checks agree that what is stored is this class."""
    try:
        blueprint = build(Config({**case.values, _CLASSES: [name]}))
    except HfcountError:
        return False
    return not any(finding.blocks for finding in case.again(blueprint).findings)


def without_part(case: Case) -> Iterator[Cause]:
    """All that differs is in modules whose sizes are the defaults of a part that the config lacks."""
    difference = case.difference
    texts = [text_of(leaf) for leaf, _ in (*difference.missing, *difference.misshapen)]
    differing = {_module(text) for text in (*texts, *(row.text for row, _ in difference.unexpected))}
    for path in sorted({path for leaf, _ in difference.misshapen for path in _parts(leaf)}):
        around = path.rpartition(".")[0]
        if not path.endswith("_config") or case.value(path) is not None or (around and case.value(around) is None):
            continue
        if differing <= {_module(text_of(leaf)) for leaf in case.blueprint.leaves if path in _parts(leaf)}:
            text = f"{path} is absent, so defaults were used for all its keys, but the stored tensors have other sizes"
            fix = f"Copy {path} from the config.json of the model that was saved."
            yield Cause(case.open, sentence(text), fix, key=path)
            return


def _parts(leaf: Leaf) -> set[str]:
    """The paths of the nested configs that sizes of a leaf are from."""
    sources = {source for size in leaf.shape if isinstance(size, Dim) for source, _ in size.read()}
    paths = {
        source.rpartition(".")[0] for source in (key.removesuffix(BY_DEFAULT) for key in sources) if " " not in source
    }
    return {path for path in paths if path}


def _module(text: Text) -> str:
    """The first two names that lead to a tensor, or all above it if they are fewer."""
    return ".".join(text[0][1:].split(".")[:-1][:_OUTER] if len(text) == 1 else text[0][1:].split(".")[:_OUTER])
