"""Inspects a single safetensors file without a config: a LoRA of a diffusion model, or what else it is."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from math import prod

from hfcount.checkpoints.adapter.diffusion.compare import LoraResult, compare_alone, compare_with
from hfcount.checkpoints.adapter.diffusion.names import LoraNames, is_lora, read_lora_names
from hfcount.checkpoints.adapter.diffusion.parts import BasePipeline, base_pipeline
from hfcount.checkpoints.adapter.diffusion.single_file import single_file
from hfcount.checkpoints.adapter.inspect import documents_of, evidence_of, read_safetensors
from hfcount.checkpoints.forms import Besides
from hfcount.checkpoints.inspection import Inspection, Options
from hfcount.errors import DocumentError, FetchError, HfcountError
from hfcount.fetcher.interface import Request, top_level
from hfcount.fetcher.layout import DIFFUSION_LORA, is_loose
from hfcount.fetcher.location import Place
from hfcount.formats.json import Document
from hfcount.formats.safetensors import Header
from hfcount.report.figures import AdapterFigures, Failure
from hfcount.text import plural, printable
from hfcount.verifier.findings import Check, Outcome, finding_of
from hfcount.verifier.folded_names import fold
from hfcount.verifier.rules.hf738_lora_without_pairs import LoraWithoutPairs

_OF_DIFFUSION = "a LoRA of a diffusion model"
_MOST = 20  # files that are looked into, to say what they are


def inspect(place: Place, request: Request, options: Options) -> Inspection:
    """Reads the file, and compares a LoRA with the pipeline that --base names.

    Raises:
        FetchError: it is none of these files, or there are several.
    """
    done = options.progress(1)
    outcome, file = Outcome(), _file(place)
    try:
        header, checks, findings = read_safetensors(place, file, place.sizes[file])
    except DocumentError as error:
        header, checks, findings = None, [], [finding_of(error, file)]
    done()
    outcome.checks += checks
    for finding in findings:
        outcome.report(finding)
    result, base, unseen, names = LoraResult(), None, None, None
    if header is not None:
        if is_lora(header.tensors):
            names = read_lora_names(header.tensors)
            result, base, unseen = _compared(names, header, request, file)
        elif file != DIFFUSION_LORA or single_file(header.tensors):
            raise _no_lora(place, file, header)
        else:
            listed = list(header.tensors)
            outcome.report(LoraWithoutPairs(file=file, tensors=tuple(fold(listed)), count=len(listed)))
    for finding in result.findings:
        outcome.report(finding)
    outcome.errors_first()
    if header is not None:
        _settle(outcome, header, result, base, unseen)
    figures = _figures(names, header, result, base) if names and header else None
    return Inspection(
        documents=documents_of(place, Document(place.label, b"{}")),
        options=options,
        changes={},
        blueprint=None,
        announced=(),
        evidence=evidence_of(file, header, figures, unseen, "tensors" in options.extras, form="diffusion adapter"),
        outcome=outcome,
    )


def beside(place: Place, request: Request, model: Inspection) -> Besides:
    """Such files lie next to no model with a config, or are named."""
    del place, request, model
    return Besides()


def _file(place: Place) -> str:
    """The file that is named, diffusers' own name of a LoRA, or the only one.

    Raises:
        FetchError: there are several, or it is not there.
    """
    names = [name for name in top_level(place.sizes) if name.endswith(".safetensors")]
    if place.file is not None:
        if place.file in place.sizes:
            return place.file
        raise place.refusal()
    if DIFFUSION_LORA in names:
        return DIFFUSION_LORA
    if len(names) == 1:
        return names[0]
    kinds = Counter(_kinds(place, names).values())
    if kinds[""] or not kinds:
        raise place.refusal()
    several = ", ".join(f"{count:,} × {kind}" for kind, count in kinds.items())
    text = f"{printable(place.label)} has {plural(len(names), 'file')} without a config ({several}). Name one"
    raise FetchError("NoConfig", f"{text}, such as {printable(f'{place.model}/{names[0]}')}.")


def loras(place: Place) -> list[str]:
    """The LoRAs among the files at a place, the first of those that a library would take.

    Raises:
        FetchError: there is none; it says what the files are.
        DocumentError: the only file is malformed.
    """
    names = [name for name in top_level(place.sizes) if is_loose(name)]
    if DIFFUSION_LORA in names or len(names) == 1:
        file = DIFFUSION_LORA if DIFFUSION_LORA in names else names[0]
        header, _, _ = read_safetensors(place, file, place.sizes[file])
        if is_lora(header.tensors):
            return [file]
        raise _no_lora(place, file, header)
    kinds = _kinds(place, names)
    found = [name for name, kind in kinds.items() if kind == _OF_DIFFUSION]
    if found:
        return found
    raise place.refusal()


def _kinds(place: Place, names: Sequence[str]) -> dict[str, str]:
    """What the first files are, as nouns; empty where that is not known."""
    kinds = dict[str, str]()
    for name in names[:_MOST]:
        with suppress(DocumentError):
            header, _, _ = read_safetensors(place, name, place.sizes[name])
            kinds[name] = _kind(header)
    return kinds


def _kind(header: Header) -> str:
    if is_lora(header.tensors):
        return _OF_DIFFUSION
    known = single_file(header.tensors)
    return known.what if known else ""


def _no_lora(place: Place, file: str, header: Header) -> FetchError:
    known = single_file(header.tensors)
    if known is None and file == DIFFUSION_LORA:
        return FetchError("NoConfig", f"{printable(file)} holds no tensor of a LoRA.")
    if known is None:
        return place.refuse()
    return FetchError("NoConfig", f"{printable(file)} is {known.what}, without a config: {known.do}.")


def _compared(
    names: LoraNames, header: Header, request: Request, file: str
) -> tuple[LoraResult, BasePipeline | None, Failure | None]:
    """The result, the base, and why something is not known."""
    shapes = {name: entry.shape for name, entry in header.tensors.items()}
    if not request.base:
        text = "its base is not known. Name it with --base PIPELINE, a folder or repo with a model_index.json"
        return compare_alone(names, shapes, file), None, Failure(kind="BaseUnknown", message=text)
    try:
        base = base_pipeline(request.base, request)
        result = compare_with(names, shapes, base, file)
    except (HfcountError, ValueError) as error:
        kind = error.kind if isinstance(error, HfcountError) else "BadName"
        failure = Failure(kind=kind, message=f"its base cannot be compared: {str(error).rstrip('.')}")
        return compare_alone(names, shapes, file), None, failure
    return result, base, Failure(kind="NotCompared", message=result.unread) if result.unread else None


def _settle(
    outcome: Outcome, header: Header, result: LoraResult, base: BasePipeline | None, unseen: Failure | None
) -> None:
    dtypes: Counter[str] = Counter()
    for entry in header.tensors.values():
        dtypes[entry.dtype] += prod(entry.shape)
    outcome.dtypes, outcome.stored = dict(dtypes), sum(dtypes.values())
    outcome.proven = base is not None and unseen is None
    if base is not None and not result.unread:
        count = len(header.tensors)
        outcome.checks.append(Check("base", count, result.matched, f"by the configs of {base.label}"))


def _figures(names: LoraNames, header: Header, result: LoraResult, base: BasePipeline | None) -> AdapterFigures:
    adapted = {tensor.part or (base.denoiser if base else "") for tensor in names.tensors}
    sizes = [part.parameters for name, part in base.parts.items() if name in adapted] if base else []
    return AdapterFigures(
        method=f"LoRA of a diffusion model ({names.naming})",
        base=base.label if base else None,
        modules=result.modules or None,
        parameters=sum(prod(entry.shape) for entry in header.tensors.values()),
        base_parameters=sum(sizes) or None,
        bytes=header.data,
    )
