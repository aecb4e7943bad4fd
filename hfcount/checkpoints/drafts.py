"""Whether a draft fits its target: a small model that proposes tokens, and the model that checks them (--target)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hfcount.architectures.components.drafts import LAYER, Draft, Needs
from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.build import build
from hfcount.checkpoints.inspection import Evidence, Inspection
from hfcount.errors import FetchError, UnknownArchitecture
from hfcount.fetcher.base_config import base_config
from hfcount.fetcher.interface import Request
from hfcount.formats.json import parse_object
from hfcount.mapper import Config
from hfcount.serving.limits import limit_of
from hfcount.spec.tree.dims import has_key, origin
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import Check
from hfcount.verifier.rules.hf850_draft_width_differs import DraftWidthDiffers
from hfcount.verifier.rules.hf851_draft_vocabulary_differs import DraftVocabularyDiffers
from hfcount.verifier.rules.hf852_draft_layer_absent import DraftLayerAbsent
from hfcount.verifier.rules.hf853_draft_shares_other_width import DraftSharesOtherWidth
from hfcount.verifier.rules.hf854_draft_of_another_target import DraftOfAnotherTarget
from hfcount.verifier.rules.hf855_draft_rope_differs import DraftRopeDiffers
from hfcount.verifier.rules.hf856_draft_context_shorter import DraftContextShorter
from hfcount.verifier.rules.hf857_draft_dtype_differs import DraftDtypeDiffers
from hfcount.verifier.rules.hf858_draft_mask_absent import DraftMaskAbsent

Values = Mapping[str, Any]

_IDS = ("target_layer_ids", "eagle_aux_hidden_state_layer_ids", "aux_hidden_state_layer_ids")
_TEXT = "text_config"
_MASK = "mask_token_id"
_WRITING = ("causal_lm", "conditional_generation")
"""Heads that write tokens."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A draft or its target: what it is called, its blueprint and its config."""

    name: str
    blueprint: Blueprint
    values: Values

    @property
    def text(self) -> Values:
        """The config of its language model."""
        for key in (LAYER, _TEXT):
            if isinstance(inner := self.values.get(key), dict):
                return inner
        return self.values


def with_target(inspection: Inspection, request: Request) -> Inspection:
    """Compares a draft with the target that the request names.

    Raises:
        FetchError: the target could not be read, or MODEL proposes no tokens.
        UnknownArchitecture: no family describes the target.
        ConfigError: no model can be built by its config.
    """
    if request.target is None or inspection.blueprint is None:
        return inspection
    target = _target(request.target, request)
    draft = NamedModel(
        printable(request.model), inspection.blueprint, parse_object(inspection.documents.config, endless=True)
    )
    inspection.outcome.checks.extend(compared(draft, target))
    for finding in differences(draft, target, inspection.evidence):
        inspection.outcome.report(finding)
    inspection.outcome.errors_first()
    return inspection._replace(target=target.name)


def _target(named: str, request: Request) -> NamedModel:
    document = base_config(named, request)
    values = parse_object(document, endless=True)
    blueprint = build(Config(values, where=document.where))
    if blueprint.custom_code:
        raise blueprint.custom_code
    spec, family = blueprint.spec, printable(blueprint.spec.family, 60)
    if isinstance(spec.own, Draft):
        raise UnknownArchitecture(
            f"{document.where}: {family} is a draft itself, not a target. MODEL is the draft, --target the model that"
            " it was made for."
        )
    if not _writes(blueprint):
        named = f", as {printable(spec.architecture, 60)}," if spec.architecture else ""
        raise UnknownArchitecture(
            f"{document.where}: {family}{named} does not write tokens one by one, so it cannot be the target of a"
            " draft."
        )
    return NamedModel(printable(named), blueprint, values)


def _writes(blueprint: Blueprint) -> bool:
    """Whether it writes tokens one by one; some classes that do are named like base models, as InternVLChatModel is."""
    spec = blueprint.spec
    headed = spec.head in _WRITING or any(leaf.component == "lm_head" for leaf in blueprint.leaves)
    return bool(spec.vocab and spec.causal and headed)


def compared(draft: NamedModel, target: NamedModel) -> Iterator[Check]:
    """The sizes that both have to have in common."""
    spec, theirs, text = draft.blueprint.spec, target.blueprint.spec, f"by the config of {target.name}"
    if spec.vocab:
        yield Check("target_vocabulary", int(theirs.vocab), int(spec.vocab), text)
    width = spec.own.needs(spec).width if isinstance(spec.own, Draft) else None
    if width is not None:
        yield Check("target_width", int(theirs.hidden), int(width), text)


def differences(draft: NamedModel, target: NamedModel, evidence: Evidence) -> Iterator[Finding]:
    """Differences between a draft and its target, by both configs and the draft's stored tensors.

    Raises:
        FetchError: it proposes no tokens.
    """
    spec, theirs = draft.blueprint.spec, target.blueprint.spec
    needs = spec.own.needs(spec) if isinstance(spec.own, Draft) else None
    if needs is None and not _writes(draft.blueprint):
        family = printable(spec.family, 60)
        raise FetchError("BadName", f"{draft.name} is {family}, not a draft: --target needs a draft as MODEL.")
    if spec.vocab and int(spec.vocab) != int(theirs.vocab):
        yield DraftVocabularyDiffers(
            key="vocab_size", expected=int(theirs.vocab), observed=int(spec.vocab), target=target.name
        )
    if needs:
        yield from _read(draft, target, needs)
        yield from _masked(draft, target) if needs.masked else ()
        yield from _shared(draft, target, needs, evidence)
        yield from _named(draft, target, needs)
    yield from _length(draft, target)
    if spec.dtype and theirs.dtype and spec.dtype != theirs.dtype:
        yield DraftDtypeDiffers(expected=theirs.dtype, observed=spec.dtype, target=target.name, key="dtype")


def _read(draft: NamedModel, target: NamedModel, needs: Needs) -> Iterator[Finding]:
    """The states that it reads of the target."""
    width, depth = int(target.blueprint.spec.hidden), int(target.blueprint.spec.depth)
    if needs.width is not None and needs.width != width:
        key = origin(needs.width).partition(",")[0] if has_key(needs.width) else "hidden_size"
        yield DraftWidthDiffers(expected=width, observed=int(needs.width), target=target.name, key=key)
    first, last = needs.first, depth + needs.last
    absent = tuple(number for number in needs.layers if not first <= number <= last)
    if absent:
        yield DraftLayerAbsent(
            key=_key(draft.values), target=target.name, listed=absent, first=first, last=last, expected=depth
        )


def _masked(draft: NamedModel, target: NamedModel) -> Iterator[Finding]:
    """The token that fills a block: one of the target's, whose embedding it is looked up in."""
    within = draft.values.get("dflash_config")
    for place, values in (("dflash_config.", within if isinstance(within, dict) else {}), ("", draft.values)):
        number, known = values.get(_MASK), int(target.blueprint.spec.vocab)
        if type(number) is int:
            if number >= known:
                yield DraftMaskAbsent(key=f"{place}{_MASK}", target=target.name, expected=known, observed=number)
            return


def _key(values: Values) -> str:
    """The key that lists the layers, with the object that it is in."""
    for within, values_within in (
        ("", values),
        *((f"{key}.", inner) for key, inner in values.items() if isinstance(inner, dict)),
    ):
        path = next((f"{within}{key}" for key in _IDS if key in values_within), "")
        if path:
            return path
    return _IDS[0]


def _shared(draft: NamedModel, target: NamedModel, needs: Needs, evidence: Evidence) -> Iterator[Finding]:
    """The tensors that it does not store, and takes from the target."""
    stored, width = _stored(evidence), int(target.blueprint.spec.hidden)
    hidden = int(draft.blueprint.spec.hidden)
    absent = tuple(name for name in needs.shared if not any(stored_name.endswith(name) for stored_name in stored or ()))
    if stored is not None and absent and hidden != width and hidden != needs.width:
        yield DraftSharesOtherWidth(
            tensors=absent, expected=hidden, observed=width, target=target.name, count=len(absent)
        )


def _stored(evidence: Evidence) -> set[str] | None:
    """The names of what is stored; None if they were not read."""
    if evidence.fitting_index:
        return {*evidence.fitting_index.weight_map}
    if evidence.shards is None:
        return None
    return {name for shard in evidence.shards.values() if shard.header for name in shard.header.tensors}


def _named(draft: NamedModel, target: NamedModel, needs: Needs) -> Iterator[Finding]:
    """What its config says of the target, and the positions of a layer of the target's."""
    depth = int(target.blueprint.spec.depth)
    if needs.depth is not None and needs.depth != depth:
        yield DraftOfAnotherTarget(
            key="num_target_layers",
            target=target.name,
            draft_value=f"{needs.depth:,}",
            target_value=f"{depth:,} layers",
        )
    named, classes = _classes(draft.values), target.values.get("architectures")
    if named and isinstance(classes, list) and classes and not {*map(str, named)} & {*map(str, classes)}:
        key, both = (
            "speculators_config.verifier.architectures",
            (", ".join(map(str, named)), ", ".join(map(str, classes))),
        )
        yield DraftOfAnotherTarget(key=key, target=target.name, draft_value=both[0], target_value=both[1])
    if needs.alike:
        mine, theirs = _rotary(draft.text), _rotary(target.text)
        for key in mine:  # in one order, whatever the run
            if key in theirs and mine[key] != theirs[key]:
                yield DraftRopeDiffers(
                    key=key, target=target.name, draft_value=str(mine[key]), target_value=str(theirs[key])
                )


def _classes(values: Values) -> list[Any]:
    """The classes of the target that a config of speculators names."""
    inner: Any = values
    for key in ("speculators_config", "verifier", "architectures"):
        inner = inner.get(key) if isinstance(inner, dict) else None
    return inner if isinstance(inner, list) else []


def _rotary(values: Values) -> dict[str, Any]:
    """The base of rotary positions and how they are scaled, where a config says it."""
    settings = values.get("rope_parameters") or values.get("rope_scaling")
    given = settings if isinstance(settings, dict) else {}
    base = given.get("rope_theta", values.get("rope_theta"))
    kind = given.get("rope_type", given.get("type", "default"))
    scaled = {"rope_type": kind} | ({"factor": given["factor"]} if "factor" in given else {})
    return scaled | ({} if base is None else {"rope_theta": base})


def _length(draft: NamedModel, target: NamedModel) -> Iterator[Finding]:
    mine, theirs = limit_of(draft.blueprint, draft.values), limit_of(target.blueprint, target.values)
    if mine and theirs and mine.tokens < theirs.tokens:
        yield DraftContextShorter(
            expected=theirs.tokens, observed=mine.tokens, target=target.name, key=mine.source.partition(" ")[0]
        )
