"""Turns remarks about GGUF files into findings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hfcount.checkpoints.gguf.summary import Remark
from hfcount.errors import DocumentError
from hfcount.text import plural, printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.findings import finding_of
from hfcount.verifier.folded_names import fold
from hfcount.verifier.loaders.labels import LLAMA_CPP
from hfcount.verifier.rules.hf004_truncated_shard import CutOff
from hfcount.verifier.rules.hf710_metadata_differs import MetadataDiffers
from hfcount.verifier.rules.hf711_split_incomplete import SplitIncomplete
from hfcount.verifier.rules.hf712_projector_other_width import ProjectorOtherWidth
from hfcount.verifier.rules.hf713_differs_from_base import DiffersFromBase
from hfcount.verifier.rules.hf714_converter_added import ConverterAdded
from hfcount.verifier.rules.hf715_bytes_after_end import BytesAfterEnd
from hfcount.verifier.rules.hf717_tokenizer_absent import TokenizerAbsent
from hfcount.verifier.rules.hf734_lora_unmatched import LoraUnmatched
from hfcount.verifier.rules.hf735_lora_shape_differs import LoraShapeDiffers
from hfcount.verifier.rules.hf739_lora_not_applied import LoraNotApplied
from hfcount.verifier.rules.hf740_lora_partly_applied import LoraPartlyApplied
from hfcount.verifier.wording import agree, some

Facts = Mapping[str, Any]


def broken(error: DocumentError, file: str) -> Finding:
    """The finding of a header that breaks a rule of the format, or of a file that is cut."""
    if error.code != "HF004":
        return finding_of(error, file)
    facts: dict[str, Any] = {"expected": error.expected, "observed": error.observed}
    return CutOff(file=file, **facts, statement=error.text, fix=error.fix)


def finding(remark: Remark, file: str, subject: str) -> Finding | None:
    """The finding of a remark; None for one that only says why something cannot be told.

    Args:
        subject: the architecture.
    """
    make = _FINDINGS.get(remark.kind)
    if make is None or remark.severity == "unverified":
        return None
    return make(remark.facts, {"file": file, "subject": subject, "severity": remark.severity})


def reason(remark: Remark) -> str:
    """Why something cannot be told, in a clause."""
    facts = remark.facts
    match remark.kind:
        case "architecture-unknown":
            return (
                "hfcount does not know the tensors of the architecture"
                f" {printable(facts['architecture'], 60) or '(none)'}"
            )
        case "type-of-a-fork":
            types = ", ".join(facts["types"])
            return (
                f"{plural(len(facts['tensors']), 'tensor')} of {types}, which llama.cpp does not have: they are"
                " from a fork"
            )
        case "name-unknown":
            return f"hfcount does not know the GGUF names of {some(fold(facts['tensors']))}"
        case "lora-tie-unknown":
            return "it adapts token_embd.weight, and hfcount does not know whether that is the head, too"
        case "layers-differ" if "tensors" in facts:
            return (
                f"some layers have {some(fold(facts['tensors']))}; hfcount does not know whether all layers need them"
            )
        case "layers-differ":
            return f"its layers are of {facts['observed']:,} kinds; hfcount compares at most {facts['most']:,}"
        case "too-many":
            return f"its base has {facts['observed']:,} tensors; hfcount compares at most {facts['most']:,}"
        case _:
            return remark.kind.replace("-", " ")


def _metadata(facts: Facts, common: Facts) -> Finding:
    held: dict[str, Any]
    match facts["what"]:
        case "layers":
            held = {"layers": (facts["expected"], facts["observed"])}
            held |= {"lacking": facts["missing"], "beyond": facts["unexpected"]}
            held |= {"expected": facts["expected"], "observed": facts["observed"]}
        case "shapes":
            first, expected, observed = facts["tensors"][0]
            names = tuple(name for name, _, _ in facts["tensors"])
            known = tuple(-1 if extent is None else extent for extent in expected)
            held = {"shapes": (len(names), first, expected, observed), **_named(names)}
            held |= {"expected": known, "observed": observed}
        case "type":
            held = {"sizes": (f"{facts['key']} is not a whole number, but llama.cpp needs one.",), **_named(())}
        case "rope":
            text = f"{facts['key']} is {facts['observed']:,}, but each head is {facts['expected']:,} wide."
            held = {"sizes": (f"{text} {LLAMA_CPP} refuses that.",), **_named(())}
        case "says":
            held = {"sizes": (facts["says"],), **_named(())}
        case "experts":
            text = f"{facts['key']} is {facts['observed']:,}, but no tensors of experts are stored."
            held = {"sizes": (text,), **_named(())}
        case what:
            names = facts["tensors"]
            held = {what: tuple(fold(names)), **_named(names)}
    return MetadataDiffers(**common, **held)


def _half(facts: Facts, common: Facts) -> Finding:
    text = f"{facts['tensor']} is stored without {facts['missing']}, so it has no effect."
    return MetadataDiffers(**common, halves=(text,), **_named([facts["tensor"]]))


def _ranks(facts: Facts, common: Facts) -> Finding:
    (first, second), (shape, other_shape) = facts["tensors"], facts["shapes"]
    text = f"{first} has rank {shape[0]:,}, but {second} rank {other_shape[1]:,}: they cannot be multiplied."
    return MetadataDiffers(**common, halves=(text,), **_named([first, second]))


def _said(facts: Facts, common: Facts) -> Finding:
    return LoraNotApplied(**_of_lora(common, facts["says"]), **_named(()))


def _strange(facts: Facts, common: Facts) -> Finding:
    names = facts["tensors"]
    says = f"{some(fold(names))} {agree(len(names), 'is', 'are')} no half of a pair: {LLAMA_CPP} refuses the file."
    return LoraNotApplied(**_of_lora(common, says), **_named(names))


def _architecture(facts: Facts, common: Facts) -> Finding:
    own, wanted = (printable(facts[key], 60) or "(none)" for key in ("observed", "expected"))
    says = (
        f"its architecture is {own}, but {printable(facts['base'])} is {wanted}: {LLAMA_CPP} refuses it for this base."
    )
    held: dict[str, Any] = {"expected": wanted, "observed": own}
    return LoraNotApplied(**_of_lora(common, says), **held, **_named(()))


def _partly(facts: Facts, common: Facts) -> Finding:
    return LoraPartlyApplied(**_of_lora(common, facts["says"]), **_named(()))


def _norms(facts: Facts, common: Facts) -> Finding:
    names = facts["tensors"]
    says = f"it holds {some(fold(names))}, which {LLAMA_CPP} leaves out: it keeps those of the base."
    return LoraPartlyApplied(**_of_lora(common, says), **_named(names))


def _of_lora(common: Facts, says: str) -> dict[str, Any]:
    file, severity = common["file"], common["severity"]
    return {"file": file, "severity": severity, "statement": f"{printable(file)}: {says}"}


def _unmatched(facts: Facts, common: Facts) -> Finding:
    outcome = f"{LLAMA_CPP} refuses to load it"
    held = {key: value for key, value in common.items() if key != "subject"}
    return LoraUnmatched(**held, base=facts["base"], outcome=outcome, **_named(facts["tensors"]))


def _widths(facts: Facts, common: Facts) -> Finding:
    _, wanted, stored = facts["tensors"][0]
    outcome = f"{LLAMA_CPP} refuses to load it"
    if len(wanted) != len(stored) or wanted[-2:] == stored[-2:]:  # it compares the last two extents alone
        outcome = f"{LLAMA_CPP} loads it, and aborts or reads beyond its end once it computes"
    held = {key: value for key, value in common.items() if key != "subject"}
    names = [name for name, _, _ in facts["tensors"]]
    return LoraShapeDiffers(**held, expected=wanted, observed=stored, outcome=outcome, **_named(names))


def _split(facts: Facts, common: Facts) -> Finding:
    names = facts.get("tensors", ())
    held = {"expected": facts["expected"], "observed": facts["observed"], "key": facts["what"], **_named(names)}
    return SplitIncomplete(**{**common, "file": facts.get("file", common["file"])}, **held, lost=facts.get("lost", ()))


def _projector(facts: Facts, common: Facts) -> Finding:
    return ProjectorOtherWidth(**common, **facts)


def _base(facts: Facts, common: Facts) -> Finding:
    held: dict[str, Any] = {"base": facts["base"]}
    for field, key in (("layers", "layers"), ("tokens", "rows")):
        if None not in facts[key] and facts[key][0] != facts[key][1]:
            held[field] = facts[key]
    for key in ("missing", "unexpected"):
        held[key] = tuple(fold(facts[key])) if key in facts else ()
    if shapes := facts.get("shapes"):
        held["shapes"] = (len(shapes), *shapes[0])
        held |= {"expected": shapes[0][1], "observed": shapes[0][2]}
    names = [*facts.get("missing", ()), *facts.get("unexpected", ()), *(name for name, _, _ in shapes or ())]
    return DiffersFromBase(**common, **held, **_named(names))


def _added(facts: Facts, common: Facts) -> Finding:
    return ConverterAdded(**common, **_named(facts["tensors"]))


def _after(facts: Facts, common: Facts) -> Finding:
    end = facts["end"]
    return BytesAfterEnd(**common, expected=end, observed=end + facts["bytes"])


def _wordless(facts: Facts, common: Facts) -> Finding:
    return TokenizerAbsent(file=common["file"], severity=common["severity"])


def _named(names: Sequence[str]) -> dict[str, Any]:
    return {"tensors": tuple(fold(names)), "count": len(names), "parameters": None, "bytes": None}


_FINDINGS: Mapping[str, Callable[[Facts, Facts], Finding]] = {
    "metadata-differs": _metadata,
    "half-missing": _half,
    "rank-differs": _ranks,
    "split-incomplete": _split,
    "projector-other-width": _projector,
    "differs-from-base": _base,
    "converter-added": _added,
    "bytes-after-end": _after,
    "tokenizer-absent": _wordless,
    "lora-not-applied": _said,
    "lora-strange": _strange,
    "lora-architecture": _architecture,
    "lora-partly-applied": _partly,
    "lora-norms": _norms,
    "lora-unmatched": _unmatched,
    "lora-shape-differs": _widths,
}
