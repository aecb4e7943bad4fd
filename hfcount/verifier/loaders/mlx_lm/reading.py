"""Says what mlx-lm makes of a checkpoint: it loads strictly, so that a name or a size that does not fit is refused."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from hfcount.verifier.finding import Finding
from hfcount.verifier.loaders.loader import Basis, Checkpoint, Loader, Reading, ReadingOutcome
from hfcount.verifier.loaders.mlx_lm import keys, rope
from hfcount.verifier.loaders.mlx_lm.facts import LIBRARY, Facts, facts

_LAYER = r"(?:^|\.)(?:layers|h)\.(?:\{(\d+)|(\d+))"
_NUMBERS = r"\{[^}]*\}|(?<=\.)\d+(?=\.|$)|^\d+(?=\.)"
"""Patterns are compiled where they are first used: few checkpoints need them."""

_NOT_TAKEN = r"Received \d+ parameters not in model: ([\w.]+)"
"""What the refusal of a recorded checkpoint says of the first name that it does not take."""

_HEADS = ("lm_head.weight", "language_model.lm_head.weight", "embed_out.weight", "output.weight")
_MOST = 20_000
_TIE = "tie_word_embeddings"

_ABSENT = frozenset("HF201 HF005 HF503".split())
_FURTHER = frozenset("HF202 HF204 HF208 HF209 HF211".split())
_UNFIT = frozenset("HF001 HF002 HF003 HF004 HF007 HF301 HF502 HF505 HF706".split())
_PACKING = frozenset("HF301 HF502 HF503 HF504 HF505".split())
"""Findings of how weights are packed, which say the same as a refusal of the settings."""

_READ_BY_OTHERS = frozenset("HF101 HF103 HF107 HF109 HF112".split())
"""Errors about keys and classes that transformers reads; what mlx-lm makes of such a config is not known by them."""


class Difference(NamedTuple):
    """Why a checkpoint is not taken whole, as a sentence part whose subject is the loader."""

    outcome: ReadingOutcome
    says: str
    findings: tuple[str, ...] = ()
    evidence: Basis = "run"
    source: str = ""


def read(loader: Loader, checkpoint: Checkpoint) -> Reading:
    """What a recorded version makes of a checkpoint."""
    if checkpoint.form == "mlx adapter":
        from hfcount.verifier.loaders import own  # few are adapters

        return own.read(loader, checkpoint)
    recorded_file = f"{LIBRARY}-{loader.version}.json"
    if not checkpoint.model_type:
        return Reading(loader, "refuses", "needs model_type", source=recorded_file)
    row = facts(loader.version, checkpoint.model_type, checkpoint.class_name)
    if row is None:
        return Reading(loader, "refuses", f"has no model_type {checkpoint.model_type}", source=recorded_file)
    differing: Difference | None = None
    for difference in _differences(row, checkpoint):
        if difference.outcome == "refuses":
            return _reading(loader, difference, recorded_file)
        differing = differing or difference
    if differing:
        return _reading(loader, differing, recorded_file)
    if checkpoint.agrees is None:
        return Reading(loader, "unknown", checkpoint.uncompared, evidence="none")
    if row.unknown:
        return Reading(loader, "unknown", f"is not known here: {row.unknown}", evidence="none")
    return Reading(loader, "whole", keys.windows(row, checkpoint.values), source=recorded_file)


def _reading(loader: Loader, difference: Difference, recorded_file: str) -> Reading:
    return Reading(
        loader,
        difference.outcome,
        difference.says,
        difference.findings,
        difference.evidence,
        difference.source or recorded_file,
    )


def _differences(row: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """What is not taken whole; refusals may come after what is read otherwise."""
    if row.lacks:
        yield Difference("refuses", f"does not run its {row.module}: {row.lacks}")
    if "model_file" in checkpoint.values:
        yield Difference("refuses", "needs trust_remote_code for model_file", (), "read", "mlx_lm/utils.py:459")
    yield from _files(checkpoint)
    if checkpoint.is_announced:
        yield from _settings(row, checkpoint)
    for outcome, says in keys.differences(row, checkpoint):
        yield Difference(outcome, says)
    for outcome, says in rope.differences(row, checkpoint.values, checkpoint.model_type):
        yield Difference(outcome, says, tuple({"HF113"} & checkpoint.codes))
    if checkpoint.is_listed:
        yield from _heads(row, checkpoint)
        yield from _names(row, checkpoint)
    for finding in checkpoint.findings:
        yield from _of_finding(row, checkpoint, finding)
    if row.unlike:
        yield Difference("differs", f"gives logits that differ from transformers' by {row.unlike:.2g} of their spread")


def _files(checkpoint: Checkpoint) -> Iterator[Difference]:
    """Weight files whose names are not those that it looks for."""
    names = list(checkpoint.shards or ())
    if names and not any(re.fullmatch(r"model[^/]*\.safetensors", name) for name in names):
        yield Difference("refuses", "finds no model*.safetensors", (), "read", "mlx_lm/utils.py:449")


def _settings(row: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """What it makes of the settings of a quantisation, and of the packed tensors."""
    from hfcount.verifier.loaders.mlx_lm import quantization  # few are quantised

    for says, source in quantization.refusals(row, checkpoint):
        yield Difference("refuses", says, tuple(sorted(_PACKING & checkpoint.codes)), "read", source)


def _names(row: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """Names as transformers saves them that it does not take, or lacks; those that MLX's own tools save it takes."""
    if "quantization" in checkpoint.values:
        return
    if row.unknown and (recorded := re.search(_NOT_TAKEN, row.unknown)) and checkpoint.has(recorded[1]):
        yield Difference("refuses", f"does not take {recorded[1]}")
        return
    if not (row.unexpected or row.wants):
        return
    wanted, refused = {*row.wants}, {*row.unexpected}
    for name in islice(checkpoint.names(), _MOST):
        folded = re.sub(_NUMBERS, "{}", name)
        if folded in refused:
            yield Difference("refuses", f"does not take {name}")
            return
        wanted.discard(folded)
    if wanted and len(wanted) == len({*row.wants}) and not row.unexpected:
        yield Difference("refuses", f"needs {min(wanted)}")


def _heads(row: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """A head over the vocabulary that it does not take, or that is not there; or one in place of the embedding."""
    if head := checkpoint.head_in_place:
        yield Difference("refuses", f"needs {head.tied_to}, in place of which the head is stored")
        return
    outcomes = row.heads.get(_tied(row, checkpoint.values))
    if not outcomes:
        return
    stored = _stored_head(checkpoint)
    outcome = outcomes[bool(stored)]
    if outcome == "refuses":
        yield Difference(
            "refuses", f"does not take {stored}" if stored else "needs a head of its own, which is not stored"
        )
    elif outcome == "drops" and (copied := checkpoint.copies(stored)) is not True:
        codes = tuple(sorted({"HF203", "HF213"} & checkpoint.codes))
        says = f"ties the head to the embedding, and drops the stored {stored}"
        if copied is None:
            yield Difference("unknown", f"{says}, whose values were not compared", codes, "none")
        else:
            yield Difference("differs", says, codes)


def _tied(row: Facts, values: Mapping[str, Any]) -> str:
    text = values.get("text_config")
    inner = text.get(_TIE) if isinstance(text, dict) else None
    tied = inner if row.tied_by == "text_config" else values.get(_TIE, None if row.tied_by == "top" else inner)
    return "absent" if tied is None else str(bool(tied)).lower()


def _stored_head(checkpoint: Checkpoint) -> str:
    """The name of the stored head; empty if there is none."""
    if checkpoint.shards is None:
        known = checkpoint.index.weight_map if checkpoint.index else {}
        return next((name for name in _HEADS if name in known), "")
    for shard in checkpoint.shards.values():
        for name in _HEADS:
            if shard.header and name in shard.header.tensors:
                return name
    return ""


def _of_finding(row: Facts, checkpoint: Checkpoint, finding: Finding) -> Iterator[Difference]:
    """What a difference from the config means to it."""
    code, codes = finding.code, tuple(sorted(finding.codes))
    if code in _ABSENT and finding.severity == "error":
        if code != "HF201" or not _only_head(row, checkpoint, finding.tensors):
            yield Difference("refuses", "needs every tensor of its model", codes)
    elif code in _FURTHER:
        yield from _further(row, checkpoint, finding.tensors, codes)
    elif code in _UNFIT and finding.severity == "error":
        yield Difference("refuses", "takes no other sizes than those of its config", codes)
    elif code == "HF504" and finding.severity == "error":
        yield from _packed(checkpoint, codes)
    elif code in _READ_BY_OTHERS and finding.severity == "error" and checkpoint.agrees is False:
        yield Difference("unknown", "is not known to read such a config", codes, "none")


def _packed(checkpoint: Checkpoint, codes: tuple[str, ...]) -> Iterator[Difference]:
    from hfcount.verifier.loaders.mlx_lm import quantization  # few are packed

    if quantization.is_packed(checkpoint):
        yield Difference("refuses", "does not take tensors of packed weights for dense ones", codes)


def _only_head(row: Facts, checkpoint: Checkpoint, names: Sequence[str]) -> bool:
    """Whether nothing is missing but a head that is not needed."""
    outcomes = row.heads.get(_tied(row, checkpoint.values))
    return bool(outcomes and names and all(name in _HEADS for name in names) and outcomes[0] == "whole")


def _further(row: Facts, checkpoint: Checkpoint, names: Sequence[str], codes: tuple[str, ...]) -> Iterator[Difference]:
    """Tensors that transformers ignores: dropped here by name, or refused."""
    layers = checkpoint.values.get("num_hidden_layers")
    patterns = [_pattern(name, layers) for name in names]
    kept = [name for name, (folded, beyond) in zip(names, patterns, strict=True) if not _dropped(row, folded, beyond)]
    if kept:
        yield Difference("refuses", f"does not take {kept[0]}", codes)
        return
    disturbing = {folded for folded, _ in patterns} & {*row.disturbs}
    if disturbing or (any(_prefix(folded, row.disturbs) for folded, _ in patterns)):
        yield Difference("differs", f"computes something else where {names[0]} is stored", codes)


def _pattern(name: str, layers: Any) -> tuple[str, bool]:
    """A name with its numbers as {}, and whether it is of a layer beyond the last."""
    at = re.search(_LAYER, name)
    number = int(at[1] or at[2]) if at else -1
    return re.sub(_NUMBERS, "{}", name), type(layers) is int and number >= layers


def _dropped(row: Facts, folded: str, beyond: bool) -> bool:
    return (beyond and "layers.+" in row.drops) or folded in row.drops or _prefix(folded, row.drops)


def _prefix(folded: str, dropped: Sequence[str]) -> bool:
    """Whether all below the first part of a name is dropped, as other names below it are."""
    first = folded.split(".")[0]
    if first == "model":
        first = ".".join(folded.split(".")[:2])
    return first not in ("model.layers", "layers", "language_model") and any(
        name.startswith(f"{first}.") for name in dropped
    )
