"""Checks names and layouts that transformers converts when it loads, and names that training wrappers changed."""

from typing import TYPE_CHECKING

from hfcount.architectures import families
from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.class_defaults import is_of_diffusers
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folded_names import fold
from hfcount.verifier.match import Match

if TYPE_CHECKING:
    from hfcount.verifier.rules.hf209_name_differs import Effect

_ADAPTER = (
    "Merge it into the model that it was trained on and save that, or name the file adapter_model.safetensors, beside"
    " the adapter_config.json of its training."
)


def check_spellings(c: Comparison, outcome: Outcome) -> None:
    """HF209, HF846: names that the reference takes for those of the blueprint."""
    if not c.match.renamed:
        return
    stored, wanted = c.match.renamed[0]
    if c.weights.layout.reader not in ("transformers", "diffusers"):
        _report_converted(c, stored, wanted, outcome)
        return
    from hfcount.verifier.rules.hf209_name_differs import NameDiffers

    within = families.conversions(c.blueprint.spec).within
    inside = within is not None and stored.startswith(within[0])
    outcome.report(
        NameDiffers(
            subject=c.subject,
            expected=wanted,
            observed=stored,
            tensors=tuple(fold(stored for stored, _ in c.match.renamed)),
            count=len(c.match.renamed),
            key="architectures" if inside else None,
            file=CONFIG if inside else None,
            effect=_effect(c),
            old=stored.endswith((".gamma", ".beta")),
            within=within[0] if within and inside else None,
            around=families.around(c.blueprint.spec) if inside else None,
        )
    )


def _report_converted(c: Comparison, stored: str, wanted: str, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf846_names_converted import NamesConverted

    outcome.report(
        NamesConverted(
            subject=c.subject,
            expected=wanted,
            observed=stored,
            tensors=tuple(fold(stored for stored, _ in c.match.renamed)),
            count=len(c.match.renamed),
            library=c.weights.layout.reader,
        )
    )


def _effect(c: Comparison) -> "Effect":
    """How versions of transformers before 5, and diffusers, load these names.

    Versions before 5 add the base model's prefix to all names if none begins with it, and else to none; for the base
    model itself they drop what does not begin with it if any does. Source: transformers 4.57.1, modeling_utils.py,
    PreTrainedModel._load_pretrained_model and _get_key_renaming_mapping.
    """
    if c.packed and c.packed.scheme.foreign:
        return "foreign"
    if is_of_diffusers(c.blueprint.spec.family):
        return "diffusers"
    names, prefix, common = c.stored_names, c.blueprint.spellings.prefix, c.blueprint.spellings.common
    if not prefix or all(common(stored) == common(wanted) for stored, wanted in c.match.renamed):
        return "whole"
    headed = any(leaf.name.startswith(prefix) for leaf, _ in c.match.listed)
    if not headed:
        plain = [name for name in names if not name.startswith(prefix)]
        return "random" if plain or any(name.startswith(2 * prefix) for name in names) else "whole"
    if any(name.startswith(prefix.removesuffix(".")) for name in names):
        return "random"
    return "refused" if any(count and not leaf.name.startswith(prefix) for leaf, count in c.match.listed) else "whole"


def adapter_alone(match: Match) -> bool:
    """Whether what is stored is an adapter, and nothing of the model that it adapts."""
    wrapped = match.wrapped
    if wrapped is None or wrapped.pairs or wrapped.owner != "PEFT":
        return False
    return not any(count for leaf, count in match.listed if leaf.presence == "required")


def check_wrappers(c: Comparison, outcome: Outcome) -> None:
    """HF211: names that training wrappers changed."""
    wrapped = c.match.wrapped
    if wrapped is None:
        return
    from hfcount.verifier.rules.hf211_wrapped_names import WrappedNames

    stored, wanted = wrapped.pairs[0] if wrapped.pairs else (wrapped.added[0], None)
    names = [*(name for name, _ in wrapped.pairs), *wrapped.added]
    elements, size = c.view.sizes(names) if c.view else (None, None)
    outcome.report(
        WrappedNames(
            subject=c.subject,
            expected=wanted,
            observed=stored,
            tensors=tuple(fold(names)),
            count=len(names),
            parameters=elements,
            bytes=size,
            fix=_ADAPTER if adapter_alone(c.match) else wrapped.cure,
            changed=len(wrapped.pairs),
            title=wrapped.title,
            added=tuple(wrapped.added),
            owner=wrapped.owner,
            flat=bool(wrapped.flat),
            around=families.around(c.blueprint.spec) if "language_model." in wrapped.outer else None,
            alone=adapter_alone(c.match),
            lost=wrapped.lost,
        )
    )


def check_untied(c: Comparison, outcome: Outcome) -> None:
    """HF214: a head that the config says is untied, that is not stored, and that the reference ties all the same."""
    for leaf, count in c.match.listed:
        if (
            leaf.component == "lm_head"
            and leaf.presence == "dispensable"
            and not count
            and leaf.name.endswith("weight")
        ):
            from hfcount.verifier.rules.hf214_untied_head_absent import UntiedHeadAbsent

            outcome.report(
                UntiedHeadAbsent(
                    subject=c.subject,
                    expected=leaf.name,
                    key="tie_word_embeddings",
                    file=CONFIG,
                    tensors=(leaf.name,),
                    count=1,
                    parameters=leaf.elements,
                    bytes=None,
                )
            )


def check_layouts(c: Comparison, outcome: Outcome) -> None:
    """HF212: layouts that the reference converts when it loads; transposed ones are found with the shapes."""
    swapped = c.match.swapped
    if swapped:
        from hfcount.verifier.rules.hf212_layout_differs import OtherLayout

        stored = [leaf for swap in swapped for leaf in swap.stored]
        known = [(leaf, count) for leaf, count in c.match.listed if any(leaf is other for other in stored)]
        outcome.report(
            OtherLayout(
                subject=c.subject,
                expected=swapped[0].described[0].name,
                observed=stored[0].name,
                **c.stored(known),
                apart=sum(int(leaf.count) for swap in swapped for leaf in swap.described),
            )
        )
    if stand_ins := c.match.stand_ins:
        from hfcount.verifier.rules.hf212_layout_differs import TiedAlone

        leaf = stand_ins[0]
        known = [(other, count) for other, count in c.match.listed if any(other is tied for tied in stand_ins)]
        outcome.report(
            TiedAlone(subject=c.subject, expected=leaf.tied_to or "", observed=leaf.first, **c.stored(known))
        )
