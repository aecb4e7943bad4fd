"""Repairs keys of config.json whose value follows from the stored tensors."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hfcount.fetcher.layout import CONFIG
from hfcount.formats import dtypes
from hfcount.mapper.loader_differences import OLDER
from hfcount.mapper.quantization_config import KEYS
from hfcount.mapper.whatif import Changes, get, steps
from hfcount.repair.members import with_value, without
from hfcount.repair.state import BLINDING, Proposal, State
from hfcount.text import printable, shown
from hfcount.verifier.causes.list_lengths import fitted
from hfcount.verifier.findings import DIFFERING
from hfcount.verifier.loaders.labels import NEWEST
from hfcount.verifier.rules.hf201_missing_tensor import MissingTensor
from hfcount.verifier.rules.hf504_quantization_config_stale import NothingPacked

_DTYPES = ("dtype", "torch_dtype")
_TIE = "tie_word_embeddings"
_HEAD = "The lost head stays lost: the embedding is used instead. If you still have the head, restore it."
_LEFT = (
    f"{NEWEST} loads both as they are, {OLDER} only the embedding. If the head is a leftover, save again without it."
)
_LOADS = f"{NEWEST} loads it as it is, in the dtype of the config, which may need twice the memory."
_AHEAD = "The multi-token-prediction layers stay lost; the base model has them."
_ENTRIES = (
    "Either may be right: the tensors do not show which entry of the list is wrong. If layers were lost, restore them."
)
_LOADING = {"HF207", "HF213", "HF302"}  # findings that transformers tolerates
_REPEATED = (
    "The rows of heads may be stored several times, when files of ranks with the same heads were joined: then"
    " config.json is right, and the copies must be removed."
)
_HEADS = re.compile("head|group|kv")  # keys that count heads
_TYPE = "model_type"  # shapes cannot prove which class computes right


def unpacked(state: State) -> Iterator[Proposal]:
    """Removes the announcement of a quantisation of unpacked weights."""
    for finding in state.about("HF504"):
        announced = state.run.announced
        if not isinstance(finding, NothingPacked) or not announced:
            continue
        changes: dict[str, bytes | None] = {part.file: None for part in announced if not part.key}
        if keys := [part.key for part in announced if part.key]:
            text = state.config
            for path in [[*key.split(".")[:-1], name] for key in keys for name in KEYS]:
                with suppress(KeyError):
                    text = without(text, path)
            changes[CONFIG] = text.encode()
        what = " and ".join(printable(part.key or part.file, 60) for part in announced)
        yield Proposal(finding.codes, f"Remove {what}: no weight is quantised.", changes)


def unannounced(state: State) -> Iterator[Proposal]:
    """Removes the announcement of missing MTP layers."""
    for finding in state.about("HF207"):
        if finding.key:
            yield from _set(state, finding.codes, {finding.key: 0}, _AHEAD)


def sized(state: State) -> Iterator[Proposal]:
    """Sets values that alone fit everything stored."""
    if not BLINDING.isdisjoint(state.codes):
        return
    for finding in state.findings:
        keys = [steps(key)[-1] for key in finding.changes]
        less = finding.codes == {"HF201"}
        if finding.sole and finding.fix and keys and _TYPE not in keys and not (less and state.gone):
            doubt = _REPEATED if _repeats(state, finding.changes) else ""
            proposals = _set(state, finding.codes, finding.changes, doubt)
            yield from (replace(proposal, keys=(*finding.changes,)) for proposal in proposals)


def _repeats(state: State, changes: Changes) -> bool:
    """Whether a number of heads grows by a whole factor, as where ranks that hold the same heads were joined."""
    for key, value in changes.items():
        before: Any = state.values
        for step in steps(key):
            before = get(before, step)
        if _HEADS.search(key) and type(before) is int and type(value) is int and value > before > 0 == value % before:
            return True
    return False


def asked_for(state: State, chosen: Changes) -> Iterator[Proposal]:
    """Sets values given by --set if the config's do not fit what is stored."""
    if not chosen or not BLINDING.isdisjoint(state.codes):
        return
    wrong = state.codes & {*DIFFERING, "HF103"}
    for codes in [wrong] if wrong else [frozenset({code}) for code in sorted(state.codes & _LOADING)]:
        yield from (replace(proposal, chosen=True) for proposal in _set(state, codes, chosen))


def counted(state: State) -> Iterator[Proposal]:
    """Offers to fit the number of layers to a list with an entry a layer, or the list to the number."""
    for finding in state.about("HF103") if state.run.blueprint is None else ():
        for changes in fitted(state.values, finding.key or "", finding.expected) if finding.key else ():
            yield from _set(state, finding.codes, changes, _ENTRIES)


def tied(state: State) -> Iterator[Proposal]:
    """Sets tie_word_embeddings by whether a separate head is stored."""
    if not BLINDING.isdisjoint(state.codes):
        return
    for finding in state.about("HF201", "HF213"):
        share = isinstance(finding, MissingTensor)
        # What is stored besides may be the head under another name, and what the index names was saved.
        if not isinstance(finding, MissingTensor) or (finding.untied and "HF202" not in state.codes and not state.gone):
            for key in _places(state, (_TIE,)) or [_TIE]:
                yield from _set(state, finding.codes, {key: share}, _HEAD if share else _LEFT)


def typed(state: State) -> Iterator[Proposal]:
    """Sets the dtype to that of all stored weights."""
    for finding in state.about("HF302", "HF103"):
        dtype = finding.observed if finding.code == "HF302" else _stored(state)
        name = next((model_dtype for model_dtype in dtypes.MODELS if dtypes.code(model_dtype) == dtype), None)
        if name and finding.key in _DTYPES:
            keys = _places(state, _DTYPES) or [_DTYPES[0]]
            loads = finding.code == "HF302"
            yield from _set(state, finding.codes, dict.fromkeys(keys, name), _LOADS if loads else "")


def _set(state: State, codes: frozenset[str], changes: Mapping[str, Any], doubt: str = "") -> Iterator[Proposal]:
    text, settings = state.config, []
    for key, value in changes.items():
        path = [step for step in steps(key) if isinstance(step, str)]
        if len(path) != len(steps(key)):
            return  # within a list
        before: Any = state.values
        for step in path:
            before = get(before, step)
        try:
            text = with_value(text, path, value)
        except KeyError:
            return
        short = f"a list of {len(value):,}" if isinstance(value, list) else shown(value).replace(",", "")
        old = f" (it is {shown(before)})" if before is not None else ""
        settings.append(f"{printable(key, 60)} to {short}{old}")
    if settings:
        yield Proposal(codes, f"Set {'; '.join(settings)}.", {CONFIG: text.encode()}, doubt=doubt)


def _places(state: State, names: Sequence[str]) -> list[str]:
    """Paths of these keys in config.json and its nested configs."""
    keys, level = list[str](), [("", state.values)]
    while level:
        prefix, values = level.pop(0)
        keys += [f"{prefix}{name}" for name in names if values.get(name) is not None]
        level += [
            (f"{prefix}{name}.", value)
            for name, value in values.items()
            if name.endswith("_config") and isinstance(value, dict) and not name.startswith("quantization")
        ]
    return keys


def _stored(state: State) -> str | None:
    """The dtype of all stored floating-point tensors; None if there are several."""
    floating = {dtype for dtype in state.run.outcome.dtypes or () if dtype in dtypes.FLOATING}
    return floating.pop() if len(floating) == 1 else None
