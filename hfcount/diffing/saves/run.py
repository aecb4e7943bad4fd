"""Says what a version of transformers writes of a checkpoint, from its name to the answer."""

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.checkpoints.report import checkpoint_of
from hfcount.diffing.loaded_side import LoadedSide, load_side
from hfcount.diffing.saves.derive import Derived, Source, derived, is_head
from hfcount.diffing.saves.dtypes import LoadedDtype, loaded_dtype
from hfcount.diffing.saves.fates import GROUPS, FoldedFates, Group
from hfcount.diffing.saves.model import SavedGroup, SavedRow, Saves, WrittenConfigKey
from hfcount.diffing.saves.unknown import Unknown
from hfcount.errors import HfcountError
from hfcount.fetcher import Request
from hfcount.options import AskedDtype
from hfcount.report.figures import Failure
from hfcount.text import printable, shown
from hfcount.verifier.header_view import HeaderView
from hfcount.verifier.joined import stored_in_part
from hfcount.verifier.loaders import heads
from hfcount.verifier.loaders.catalogue import reading
from hfcount.verifier.loaders.facts import Facts
from hfcount.verifier.loaders.loader import Checkpoint, Loader
from hfcount.verifier.loaders.transformers import facts_of
from hfcount.verifier.match import Match


def saves(request: Request | HfcountError, loader: Loader, dtype: AskedDtype | None, options: Options) -> Saves:
    """What a version of transformers writes of a checkpoint.

    Args:
        request: the checkpoint, or why there is none.
        loader: transformers in one of its recorded versions.
        dtype: the argument of from_pretrained; None if it is given none.
        options: how it is read; causes of differences are not searched for.
    """
    searching_none = options._replace(depth="headers", until=monotonic())
    with load_side(request, searching_none) as side:
        blank = Saves(model=printable(side.model), loader=loader.library, version=loader.version)
        if side.inspection is None:
            return _unread(blank, side)
        try:
            return of_inspection(blank, side.inspection, side.view, loader, dtype)
        except Unknown as why:
            return blank.replace(unknown=printable(str(why), None))


def _unread(blank: Saves, side: LoadedSide) -> Saves:
    if side.error is not None:
        return blank.replace(error=Failure(kind=side.error.kind, message=str(side.error)))
    return blank.replace(unknown="it is a pipeline of several models. Name one with --subfolder")


def of_inspection(
    blank: Saves, inspection: Inspection, view: HeaderView | None, loader: Loader, dtype: AskedDtype | None
) -> Saves:
    """What is written of an inspected checkpoint.

    Args:
        blank: the answer so far.
        view: the headers of its weight files; None if they were not read.

    Raises:
        Unknown: it cannot be said.
    """
    checkpoint = checkpoint_of(inspection)
    unseen = inspection.evidence.unseen
    if inspection.blueprint is not None and (view is None or not view.complete or unseen is not None):
        raise Unknown(
            f"the headers of its weight files were not read: {unseen.message.rstrip('.') if unseen else 'none'}"
        )
    answer = reading(loader, checkpoint)
    blank = blank.replace(class_name=printable(checkpoint.class_name) or None, call=_call(checkpoint, dtype))
    if answer.outcome == "refuses":
        codes = ", ".join(answer.findings)
        why = f"refuses it for {codes}, which `hfcount verify` explains" if codes else printable(answer.says, None)
        return blank.replace(refuses=why)
    if answer.outcome in ("unknown", "foreign"):
        raise Unknown(f"{loader} {answer.says}")
    facts = facts_of(loader.version, checkpoint)
    described = _described(inspection, checkpoint, view, facts)
    loaded = loaded_dtype(loader.version, dtype, checkpoint.values, described.view)
    if not loaded.code:
        raise Unknown(loaded.why)
    older = loader.version.startswith("4.")
    tied = _older_tie(described, checkpoint) if older else None
    taken = described.match.taken
    names = (taken.get(name, name) for name in described.view.entries)
    if not older and described.match.missing_count and (part := stored_in_part(described.blueprint, names)):
        raise Unknown(f"of what this version joins on loading in {part}, not all is stored")
    source = Source(
        checkpoint.class_name,
        described.blueprint,
        described.match,
        described.view,
        described.facts,
        older,
        loaded,
        inspection.outcome.untied,
        tied,
    )
    return _answer(blank, derived(source), loaded, _config_keys(checkpoint, loaded), _notes(inspection))


class _Described(NamedTuple):
    """What is known of a checkpoint of which it can be said what is written."""

    blueprint: Blueprint
    match: Match
    view: HeaderView
    facts: Facts


def _described(
    inspection: Inspection, checkpoint: Checkpoint, view: HeaderView | None, facts: Facts | None
) -> _Described:
    """Raises Unknown where something is not known."""
    blueprint, outcome = inspection.blueprint, inspection.outcome
    if blueprint is None or view is None:
        found = outcome.findings
        raise Unknown(found[0].message.rstrip(".") if found else "config.json could not be read")
    if not checkpoint.class_name:
        raise Unknown("config.json names no class (architectures), so it is open which class loads it")
    if checkpoint.is_announced or outcome.packed:
        raise Unknown("it is quantised, and what is written of quantised weights is not known here")
    if facts is None or facts.unknown:
        raise Unknown(f"model_type {checkpoint.model_type}: {facts.unknown if facts else 'nothing is recorded'}")
    if besides := facts.written_besides(checkpoint.class_name):
        raise Unknown(f"{checkpoint.class_name} of this version has {besides[0]}, too, whose shape is not recorded")
    if blueprint.derived_with or blueprint.unmodeled:
        raise Unknown("hfcount does not describe all its tensors")
    if outcome.match is None:
        raise Unknown("its names could not be compared with its config")
    if outcome.match.few:
        raise Unknown("its config describes too many tensors to name them")
    return _Described(blueprint, outcome.match, view, facts)


def _older_tie(described: _Described, checkpoint: Checkpoint) -> bool | None:
    """Whether version 4 ties the head to the embedding; raises Unknown where it is not recorded what it writes then."""
    tied, leaves = heads.is_tied(described.facts, checkpoint), described.blueprint.leaves
    described_heads = [leaf for leaf in leaves if is_head(described.blueprint, leaf)]
    is_asked = any(leaf.tied_to for leaf in described_heads)
    if tied is False and is_asked:
        raise Unknown(f"it is not recorded whether {checkpoint.class_name} of this version ties the head")
    bias = next((leaf.name for leaf in leaves if leaf.name.endswith(".decoder.bias") and not leaf.tied_to), None)
    if not tied and bias and checkpoint.class_name in described.facts.ties:
        raise Unknown(f"it is not recorded whether this version writes {bias} where the head is not tied")
    return tied


def _call(checkpoint: Checkpoint, dtype: AskedDtype | None) -> str:
    name = printable(checkpoint.class_name) or "AutoModel"
    return f"{name}.from_pretrained(MODEL{f', dtype={dtype!r}' if dtype else ''}).save_pretrained(FOLDER)"


def _notes(inspection: Inspection) -> tuple[str, ...]:
    unequal = [finding for finding in inspection.outcome.findings if getattr(finding, "alike", True) is None]
    if not any("HF203" in finding.codes for finding in unequal):
        return ()
    return ("Whether tied tensors that are stored twice are equal was not read: where they differ, both are written.",)


def _config_keys(checkpoint: Checkpoint, loaded: LoadedDtype) -> tuple[WrittenConfigKey, ...]:
    """The key for the dtype, which is written under its new name."""
    values = checkpoint.values
    after = {"torch_dtype": None, "dtype": loaded.name} if "torch_dtype" in values else {"dtype": loaded.name}
    return tuple(
        WrittenConfigKey(
            key=key, stored=shown(values[key]) if key in values else None, written=written and shown(written)
        )
        for key, written in after.items()
        if values.get(key) != written
    )


def _answer(
    blank: Saves,
    came: Derived,
    loaded: LoadedDtype,
    config: tuple[WrittenConfigKey, ...],
    notes: tuple[str, ...],
) -> Saves:
    groups: dict[Group, list[FoldedFates]] = {name: [] for name in GROUPS}
    for row in came.rows:
        groups[row.fate.group].append(row)
    stored = [row for row in came.rows if row.fate.group != "filled"]
    if any(row.fate.written_dtype == "F32" != loaded.code for row in came.written):
        config = tuple(key for key in config if key.key not in ("dtype", "torch_dtype"))
    return blank.replace(
        dtype=loaded.name,
        dtype_from=printable(loaded.why, None),
        loses=bool(groups["lost"]),
        notes=notes,
        stored=_group(stored, listed=False),
        written=_group(came.written),
        config=config,
        **{name: _group(rows) for name, rows in groups.items()},
    )


def _group(rows: Sequence[FoldedFates], listed: bool = True) -> SavedGroup:
    return SavedGroup(
        tensors=sum(row.tensors for row in rows),
        elements=sum(row.elements for row in rows),
        bytes=sum(row.bytes for row in rows),
        rows=tuple(map(_row, rows)) if listed else (),
    )


def _row(row: FoldedFates) -> SavedRow:
    fate = row.fate
    return SavedRow(
        name=printable(row.name, None),
        written=printable(row.written, None) or None,
        tensors=row.tensors,
        shape=fate.shape,
        elements=row.elements,
        dtype=fate.dtype or None,
        bytes=row.bytes if fate.dtype else None,
        written_dtype=fate.written_dtype or None,
        written_bytes=row.written_bytes if fate.written_dtype else None,
        why=printable(fate.why, None) or None,
    )
