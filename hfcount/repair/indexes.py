"""Repairs indexes: rewrites them from headers, corrects totals, or removes them."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hfcount.errors import DocumentError
from hfcount.fetcher.layout import INDEX, SINGLE
from hfcount.fetcher.reasons import named
from hfcount.fetcher.weights import numbered
from hfcount.formats.index import read_index
from hfcount.formats.json import Document, parse_object
from hfcount.formats.safetensors import Entry, Shard
from hfcount.repair.members import step_of, with_value
from hfcount.repair.state import Proposal, State
from hfcount.repair.totals import announced, deeper, in_bytes, in_elements
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding

_OF_FILES = ("HF001", "HF002", "HF005", "HF006", "HF007", "HF205")
_CLAIMS = {"HF401": "total_size", "HF402": "total_size", "HF403": "total_parameters"}


def rewritten(state: State) -> Iterator[Proposal]:
    """Rewrites the index from headers; removes it if one file holds the model."""
    findings = [it for it in state.about(*_OF_FILES) if it.code not in ("HF001", "HF002") or it.file == INDEX]
    if not findings:
        return
    codes = frozenset(code for finding in findings for code in finding.codes)
    sets = list(_sets(state))
    for place, files in enumerate(sets):
        doubt = _doubt(state, files, sets[place + 1 :] if not _named_files(state) <= files.keys() else ())
        if list(files) == [SINGLE] and state.draft.document(INDEX):
            yield Proposal(codes, f"Remove {INDEX}: {SINGLE} holds all tensors.", {INDEX: None}, doubt=doubt)
        elif SINGLE not in files and (raw := _written(state, files)):
            what = "Write the index again" if state.draft.document(INDEX) else "Write the index"
            yield Proposal(codes, f"{what} from {named(sorted(files))}.", {INDEX: raw}, doubt=doubt)


def recounted(state: State) -> Iterator[Proposal]:
    """Corrects the totals in the index."""
    for finding in state.about(*_CLAIMS) if state.sound else ():
        claim = _CLAIMS[finding.code]
        value = _bytes(state) if claim == "total_size" else finding.expected
        if type(value) is not int or not state.index:
            continue
        try:
            text = with_value(state.index, ("metadata", claim), value)
        except KeyError:
            text = with_value(state.index, ("metadata",), {claim: value})
        doubt = _announced(state, state.shards) or _counted_besides(state, finding)
        yield Proposal(finding.codes, f"Set metadata.{claim} to {value:,}.", {INDEX: text.encode()}, doubt=doubt)


def dispensed(state: State) -> Iterator[Proposal]:
    """Drops unreadable files of which nothing is needed, with their index entries."""
    broken = [name for name, shard in state.shards.items() if shard.problem]
    if broken and "HF003" in state.codes and (old := _parsed(state)):
        kept = {name: file for name, file in old["weight_map"].items() if file not in broken}
        if kept:
            raw = _dumped(state, old | {"weight_map": kept})
            gone: dict[str, None] = dict.fromkeys(broken)
            says = f"Remove {named(broken)}, which the model does not need, and its entries in the index."
            doubt = f"The contents of {named(broken)} stay lost, and may have differed from the copy."
            yield Proposal(frozenset({"HF003"}), says, {INDEX: raw, **gone}, doubt=doubt)


def _doubt(state: State, files: Mapping[str, Shard], others: Sequence[Mapping[str, Shard]]) -> str:
    """What an index of these files loses, and whether other files may be meant; empty if neither."""
    doubts = list[str]()
    if gone := state.gone:
        doubts.append(
            f"The index names {plural(len(gone), 'tensor')} that no file has, such as {printable(gone[0])}: they stay"
            " lost. If you have the file, restore it instead."
        )
    tensors = _tensors(files)
    if any(tensors.keys() <= _tensors(other).keys() for other in others):
        doubts.append("Other files hold tensors of the same names; it is not known which of them belong to the model.")
    return " ".join(filter(None, [*doubts, _announced(state, files)]))


def _counted_besides(state: State, finding: Finding) -> str:
    """A doubt if the claimed total may count stored tensors that the config does not describe."""
    stored = sum(map(in_elements, _tensors(state.shards).values()))
    if finding.code != "HF403" or not ("HF210" in state.codes or finding.observed == stored != finding.expected):
        return ""
    return (
        "The total may include tensors that config.json does not describe. If a key of config.json is wrong, correct"
        " that instead."
    )


def _announced(state: State, files: Mapping[str, Shard]) -> str:
    """A doubt if the totals suggest lost tensors; else empty."""
    old = _parsed(state)
    claims = old.get("metadata") if old else None
    if not isinstance(claims, dict):
        return ""
    tensors, blueprint = _tensors(files), state.run.blueprint
    size, count = sum(map(in_bytes, tensors.values())), blueprint.total if blueprint else 0
    text = announced(claims.get("total_size"), tensors, blueprint, in_bytes, size)
    text = text or announced(claims.get("total_parameters"), tensors, blueprint, in_elements, count)
    return text or _deeper(state, claims, size)


def _deeper(state: State, claims: Mapping[str, Any], size: int) -> str:
    """A doubt if a total fits a config with more layers; else empty."""
    blueprint, (more_bytes, more) = state.run.blueprint, (claims.get("total_size"), claims.get("total_parameters"))
    if blueprint is None or not blueprint.total or not {more_bytes, more} - {None, size, blueprint.total}:
        return ""
    for key, elements in deeper(state.values, blueprint):
        fits = type(more_bytes) is int and (more_bytes - size) * blueprint.total == elements * size
        if elements > 0 and (fits or more == blueprint.total + elements):
            return (
                f"The totals fit a config with a larger {printable(key, 60)}: layers may have been lost. If you still"
                " have them, restore them instead."
            )
    return ""


def _tensors(files: Mapping[str, Shard]) -> dict[str, Entry]:
    """The tensors in these files."""
    return {name: tensor for shard in files.values() if shard.header for name, tensor in shard.header.tensors.items()}


def _named_files(state: State) -> set[str]:
    """Files named by the index; {""} if it cannot be read."""
    return {*old["weight_map"].values()} if (old := _parsed(state)) else {""}


def _sets(state: State) -> Iterator[Mapping[str, Shard]]:
    """Sets of files that may form the model, best match with the index first."""
    complete = {
        name: shard
        for name, shard in sorted(state.shards.items())
        if shard.header and shard.size == shard.header.file_bytes
    }
    known = _parsed(state)
    named_there: Mapping[str, str] = known["weight_map"] if known else {}
    meant, tried = set(named_there.values()), list[Collection[str]]()
    for names in ({*complete} & meant, {*state.shards}, *numbered(complete), {SINGLE} & {*complete}):
        if names and names not in tried and names <= complete.keys():
            tried.append(names)
    held = {name: shard.header.tensors.keys() for name, shard in complete.items() if shard.header}
    tried.sort(key=lambda names: len(named_there.keys() - set().union(*(held[name] for name in names))))
    yield from ({name: shard for name, shard in complete.items() if name in some} for some in tried)


def _written(state: State, files: Mapping[str, Shard]) -> bytes | None:
    """An index of these files; None if two hold the same name."""
    headers = {file: shard.header for file, shard in files.items() if shard.header}
    weight_map = {name: file for file, header in headers.items() for name in header.tensors}
    if len(weight_map) != sum(len(header.tensors) for header in headers.values()):
        return None
    old, blueprint = _parsed(state), state.run.blueprint
    metadata: dict[str, Any] = dict(old["metadata"]) if old and isinstance(old.get("metadata"), dict) else {}
    counted = blueprint is not None and not blueprint.unmodeled and not state.run.announced
    if counted and blueprint and not old:  # an existing total may be of another config
        metadata["total_parameters"] = blueprint.total
    metadata["total_size"] = sum(header.data for header in headers.values())
    if not old:
        return _dumped(state, {"metadata": metadata, "weight_map": dict(sorted(weight_map.items()))})
    order = _ordered(old["weight_map"], weight_map)
    return _dumped(state, old | {"metadata": metadata, "weight_map": {name: weight_map[name] for name in order}})


def _ordered(before: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Names in the order of the old index; new ones last, unless it was sorted."""
    order = [name for name in before if name in names]
    order += [name for name in names if name not in before]
    return sorted(order) if list(before) == sorted(before) else order


def _dumped(state: State, content: Mapping[str, Any]) -> bytes:
    """Serializes an index in the style of the old one, else as transformers does."""
    if not _parsed(state):
        return f"{json.dumps(content, indent=2)}\n".encode()
    step, end = step_of(state.index), state.index[len(state.index.rstrip()) :]
    escaped = not state.index.isascii()
    return (json.dumps(content, indent=step, ensure_ascii=not escaped) + end).encode()


def _parsed(state: State) -> dict[str, Any] | None:
    """The current index, if readable."""
    document = state.draft.document(INDEX)
    if document is None:
        return None
    try:
        read_index(document)
        return parse_object(Document(document.where, document.raw))
    except DocumentError:
        return None


def _bytes(state: State) -> int | None:
    """Bytes of the indexed tensors by headers; None if one is not in its file."""
    old, total = _parsed(state), 0
    for name, file in old["weight_map"].items() if old else ():
        shard = state.shards.get(file)
        entry = shard.header.tensors.get(name) if shard and shard.header else None
        if entry is None:
            return None
        total += entry.end - entry.begin
    return total or None
