"""Keys of config.json whose right value everything that is stored agrees on."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfcount.fetcher.interface import CONFIG
from hfcount.formats.json import Document, parse_object
from hfcount.mapper.whatif import get, steps
from hfcount.repair.members import with_value, without
from hfcount.repair.state import Proposal, State
from hfcount.storage import dtypes
from hfcount.text import printable, shown

_DTYPES = ("dtype", "torch_dtype")
_TIE = "tie_word_embeddings"
_TYPE = "model_type"  # whose class computes otherwise, which no shape can prove
_FILES = {"HF003", "HF004", "HF005", "HF006", "HF007", "HF205", "HF206"}
"""Findings that leave open what is stored."""


def unpacked(state: State) -> Iterator[Proposal]:
    """What announces a quantisation of weights that are not packed, removed."""
    for finding in state.about("HF504"):
        announced = state.run.announced
        if not finding.facts.get("nothing") or not announced:
            continue
        changes: dict[str, bytes | None] = {one.file: None for one in announced if not one.key}
        if keys := [one.key for one in announced if one.key]:
            text = state.config
            for key in keys:
                text = without(text, key.split("."))
            changes[CONFIG] = text.encode()
        what = " and ".join(printable(one.key or one.file, 60) for one in announced)
        yield Proposal(finding.codes, f"Remove {what}: every weight is stored dense.", changes)


def sized(state: State) -> Iterator[Proposal]:
    """Values that are the only ones known to fit all that is stored."""
    if not _FILES.isdisjoint(state.codes):
        return
    for finding in state.findings:
        keys = [steps(key)[-1] for key in finding.changes]
        if finding.sole and finding.fix and keys and _TYPE not in keys:
            yield from _set(state, finding.codes, finding.changes)


def tied(state: State) -> Iterator[Proposal]:
    """Whether the head shares the embedding, by whether it is stored and is the same."""
    if not _FILES.isdisjoint(state.codes):
        return
    for finding in state.about("HF201", "HF213"):
        share = finding.rule.code == "HF201"
        if not share or finding.facts.get("untied"):
            for key in _places(state, (_TIE,)) or [_TIE]:
                yield from _set(state, finding.codes, {key: share})


def typed(state: State) -> Iterator[Proposal]:
    """The dtype that all weights are stored in."""
    for finding in state.about("HF302", "HF103"):
        own = finding.observed if finding.rule.code == "HF302" else _stored(state)
        name = next((one for one in dtypes.MODELS if dtypes.code(one) == own), None)
        if name and finding.key in _DTYPES:
            keys = _places(state, _DTYPES) or [_DTYPES[0]]
            yield from _set(state, finding.codes, dict.fromkeys(keys, name))


def _set(state: State, codes: frozenset[str], changes: Mapping[str, Any]) -> Iterator[Proposal]:
    text, said = state.config, []
    values = parse_object(Document(CONFIG, text.encode()), endless=True)
    for key, value in changes.items():
        path = [step for step in steps(key) if isinstance(step, str)]
        if len(path) != len(steps(key)):
            return  # within a list
        before: Any = values
        for step in path:
            before = get(before, step)
        try:
            text = with_value(text, path, value)
        except KeyError:
            return
        short = f"a list of {len(value):,}" if isinstance(value, list) else shown(value).replace(",", "")
        said.append(f"{printable(key, 60)} to {short}" + (f" (it is {shown(before)})" if before is not None else ""))
    if said:
        yield Proposal(codes, f"Set {'; '.join(said)}.", {CONFIG: text.encode()})


def _places(state: State, names: Sequence[str]) -> list[str]:
    """Where config.json, or a config nested in it, has one of these keys."""
    found, level = list[str](), [("", parse_object(Document(CONFIG, state.config.encode()), endless=True))]
    while level:
        prefix, values = level.pop(0)
        found += [f"{prefix}{name}" for name in names if values.get(name) is not None]
        level += [
            (f"{prefix}{name}.", one)
            for name, one in values.items()
            if name.endswith("_config") and isinstance(one, dict) and not name.startswith("quantization")
        ]
    return found


def _stored(state: State) -> str | None:
    """The dtype of all floating-point numbers that are stored; None if there are several."""
    found = {dtype for dtype in state.run.outcome.dtypes or () if dtype in dtypes.FLOATING}
    return found.pop() if len(found) == 1 else None
