"""Causes: config keys that switch tensors on or off, or another model_type."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.architectures import families
from hfcount.mapper.accepted_values import shared
from hfcount.text import shown
from hfcount.verifier.causes.case import Case, Cause, listed, sentence
from hfcount.verifier.causes.modules import is_like, may_have
from hfcount.verifier.causes.regrouped import groups
from hfcount.verifier.causes.sizes import of_sizes
from hfcount.verifier.causes.whole_model import is_large

_SIZES = 4  # sizes of tensors that nobody described, tried as the value of each absent key
_SMALL = 8  # numbers of layers and the like that say which layers have what, tried up to here
_FEW = 2  # numbers of one key that are named one by one
_LONG = 200  # characters of a list
_DEEPEST = 500  # layers, of which each is looked at
_SHALLOW = 100  # layers, for which kinds are tried that the list does not have
_KINDS = ("layer_types", "mlp_layer_types")
_TYPES = 4  # model types that are named

_TIE = "tie_word_embeddings"


def switched(case: Case) -> Iterator[Cause]:
    """Keys with which the config describes what is stored: true for false, a value for none."""
    better = [changes for changes in _options(case) if case.improves(changes)]
    joint: dict[str, Any] = {}
    for changes in better:
        joint |= {key: value for key, value in changes.items() if key not in joint}
    solved = [(changes, case.solved(changes)) for changes in [*better, *([joint] if len(joint) > 1 else [])]]
    solved.sort(key=lambda pair: -len(pair[1]))
    fits = [(changes, codes) for changes, codes in solved if codes == solved[0][1] and codes and case.proven(changes)]
    if fits:
        alone = [changes for changes, _ in fits if changes is not joint or len(fits) == 1]
        yield _cause(case, fits[0][1], _predicting(case, alone))


def _predicting(case: Case, fits: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
    """Of numbers of multi-token-prediction layers the least, under the key that counts them; else all that fits."""
    counts = []
    for changes in fits:
        made = case.with_changes(changes)
        key = made[0].spec.part("mtp").count_key if made and made[0].spec.announces("mtp") else None
        if key in changes and not isinstance(changes[key], bool):
            counts.append((changes[key], changes))
    return [min(counts, key=lambda pair: pair[0])[1]] if counts else fits


def _options(case: Case) -> Iterator[dict[str, Any]]:
    values = {key: case.value(key) for key in case.keys if key.rpartition(".")[2] != _TIE}
    yield from ({key: not value} for key, value in values.items() if isinstance(value, bool))
    rows = len(case.difference.missing) + len(case.difference.unexpected)
    if rows > len(case.blueprint.leaves):
        return  # too much differs for one key to mend
    absent = [key for key, value in values.items() if value is None]
    numbers = [key for key, value in values.items() if type(value) is int]
    yield from ({key: switch} for switch in (True, False) for key in absent)
    yield from ({key: None} for key in numbers)
    if rows:
        yield from _by_layer(case, values)
        yield from _numbers(case, absent, numbers)
    yield from _stored_sizes(case, absent)


def _numbers(case: Case, absent: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Small numbers in place of others."""
    counts = [*numbers, *(key for key in absent if type(case.defaults.get(key)) is int)]
    small = {key: read for key in counts if abs(read := case.value_read(key)) <= _SMALL}
    yield from ({key: number} for key, read in small.items() for number in range(_SMALL + 1) if number != read)


def _stored_sizes(case: Case, absent: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Sizes of what nobody described, or of what has another shape, in place of nothing."""
    rows = [*(row for row, _ in case.difference.unexpected), *(row for _, row in case.difference.misshapen)]
    sizes = Counter(size for row in rows for size in row.shape or ())
    for size, _ in sizes.most_common(_SIZES):
        yield from ({key: size} for key in absent)


def _by_layer(case: Case, values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Lists that say which layers are of which kind, as the layers that are stored fit."""
    depth = case.blueprint.spec.depth
    for key, value in values.items():
        if not isinstance(value, list) or depth > _DEEPEST:
            continue
        if all(type(entry) is int and 0 <= entry < depth for entry in value):  # the numbers of layers of one kind
            without, within = _odd(case, {key: []}), _odd(case, {key: list(range(depth))})
            if without is not None and within is not None and not without & within:
                yield {key: sorted(without)}
        elif len(value) == depth and all(isinstance(entry, str) for entry in value):
            yield from _by_word(case, key, value)


def _by_word(case: Case, key: str, value: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The same for a list that names the kind of each layer."""
    depth, odd = len(value), dict[str, set[int] | None]()
    further = shared(name) if (name := key.rpartition(".")[2]) in _KINDS and depth <= _SHALLOW else ()
    for words in (value, further):  # a kind may be lost of which there was one layer
        odd |= {kind: _odd(case, {key: [kind] * depth}) for kind in dict.fromkeys(words) if kind not in odd}
        kinds = [[kind for kind, layers in odd.items() if layers is not None and n not in layers] for n in range(depth)]
        if all(value[n] in layers or len(layers) == 1 for n, layers in enumerate(kinds)):
            yield {key: [value[n] if value[n] in layers else layers[0] for n, layers in enumerate(kinds)]}
            return


def _odd(case: Case, changes: Mapping[str, Any]) -> set[int] | None:
    """The layers that differ from a changed config; None if it is no valid one."""
    made = case.with_changes(changes)
    return made and made[1].layers


def _cause(case: Case, codes: frozenset[str], fits: Sequence[Mapping[str, Any]]) -> Cause:
    statements, orders = list[str](), list[str]()
    for fit in fits:
        alike = _numbers_alike(fit, fits)
        if alike and fit is not alike[0]:
            continue
        values = [f"any from {value} to {alike[-1][key]}" if alike else _text(value) for key, value in fit.items()]
        read = zip(fit, values, strict=True)
        statements.append("; ".join(f"{key} {_read(case.value(key))}, but {text} would fit" for key, text in read))
        wanted = [f"{key} to {'its number' if alike else json.dumps(value)}" for key, value in fit.items()]
        orders.append(listed(wanted) + (" in the model that was saved (the tensors do not show it)" if alike else ""))
    text, advice = "; or, ".join(statements), f"set {', or '.join(orders)}"
    missing, *others = case.difference.counts
    if missing and not any(others):
        advice = f"add what is missing, or {advice}"
    return Cause(codes, sentence(text), sentence(advice), fits[0], sole=len(fits) == 1)


def _numbers_alike(fit: Mapping[str, Any], fits: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The fits of three and more numbers of one key, in order, if this is one of them."""
    alike = [other for other in fits if other.keys() == fit.keys() and all(type(n) is int for n in other.values())]
    several = len(fit) == 1 and fit in alike and len(alike) > _FEW
    return sorted(alike, key=lambda other: next(iter(other.values()))) if several else []


def _read(value: Any) -> str:
    return "is absent" if value is None else f"is {_text(value)}"


def _text(value: Any) -> str:
    """The value, and a list whole if it is short."""
    return text if isinstance(value, list) and len(text := json.dumps(value)) <= _LONG else shown(value)


def typed(case: Case) -> Iterator[Cause]:
    """Another model_type under which the same config describes what is stored, if need be with other sizes."""
    if not case.difference.unexpected and _is_lost(case):
        return
    absent = {f"{leaf.component}_config.model_type" for leaf, _ in case.difference.missing}
    for key in case.keys:
        if key not in absent | {"model_type", "text_config.model_type"}:
            continue
        others = [kind for kind in families.all_types() if kind != case.value(key) and _may_fit(case, key, kind)]
        # Both are asked of one type after the other: a config that was tried is kept for a while.
        tried = [(candidate, case.agrees({key: candidate}), case.named({key: candidate})) for candidate in others]
        agreeing = _originals(case, key, [candidate for candidate, agrees, _ in tried if agrees])
        if fits := [candidate for candidate in agreeing if case.proven({key: candidate})]:
            yield _typed(case, _names_of(case, key, fits), key, fits[0])
            return
        for candidate in _originals(case, key, [candidate for candidate, _, named in tried if named])[:_TYPES]:
            for sizes in of_sizes(case.under({key: candidate})):
                text = f"these are the names of {key} {candidate}, and in it {sizes.says[0].lower()}{sizes.says[1:-1]}"
                yield _typed(case, text, key, candidate, sizes)
                return


def _is_lost(case: Case) -> bool:
    """Whether what is missing is lost, and no sign of another architecture."""
    gone, rows = case.gone, [leaf for leaf, count in case.difference.missing if leaf.indices and count == leaf.count]
    return not gone or bool(gone.layers) or any(map(is_large, gone.parts.values())) or not rows


def _names_of(case: Case, key: str, fits: Sequence[str]) -> str:
    """That these are the names of a type, and of which others."""
    text = f"these are the names of {key} {fits[0]}, with which the config describes all stored tensors"
    if more := [*fits[1:_TYPES], *([f"{len(fits) - _TYPES:,} more"] if len(fits) > _TYPES else [])]:
        text += f", as it does under {listed(more)}"
    return "; ".join([text, *map(str, groups(case)), *_not_quite(case)])


def _may_fit(case: Case, key: str, model_type: str) -> bool:
    """Whether a type may describe what the config does not, and all that is stored alone if it is the whole model's."""
    is_whole_model = key != "model_type" or is_like(model_type, case.modules)
    return is_whole_model and may_have(model_type, case.undescribed)


def _typed(case: Case, text: str, key: str, fits: str, sizes: Cause | None = None) -> Cause:
    advice = f"set {key} to {fits}, and architectures to its class"
    if sizes and sizes.fix:
        advice += f"; {sizes.fix[0].lower()}{sizes.fix[1:-1]}"
    if not case.difference.unexpected:
        advice = f"add what is missing, or {advice}"
    return Cause(case.open, sentence(text), sentence(advice), {key: fits} | dict(sizes.changes if sizes else {}))


def _not_quite(case: Case) -> Iterator[str]:
    """Switches that would describe what nobody described, and more that is not stored."""
    for key in case.keys if case.difference.unexpected else ():
        value = case.value(key)
        made = case.with_changes({key: not value}) if isinstance(value, bool) else None
        if made and made[1].counts[0] and not any(made[1].counts[1:]):
            lacking = ", ".join(leaf.name for leaf, _ in made[1].missing[:_TYPES])
            yield f"{key} {shown(not value)} would ask for {lacking} besides"


def _originals(case: Case, key: str, types: Sequence[str]) -> list[str]:
    """One type for each layout, that which defines it if it is among them; the most copied first, then the nearest."""
    layouts: dict[str, list[str]] = {}
    for kind in types:
        family = families.find(kind)
        layouts.setdefault(family.blueprint.__module__.rpartition(".")[2] if family else "", []).append(kind)
    copies = {name if name in alike else alike[0]: len(alike) for name, alike in layouts.items()}
    return sorted(copies, key=lambda name: (-copies[name], case.lacked({key: name})))
