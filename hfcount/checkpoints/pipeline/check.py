"""Checks model_index.json against the pipeline class, and the folders of its parts."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from hfcount.checkpoints.pipeline.loadable import is_part_class, other_type, unloadable
from hfcount.checkpoints.pipeline.signatures import alike, signature, version
from hfcount.checkpoints.pipeline.weights import WeightFiles, is_foreign, weight_files
from hfcount.fetcher.reasons import named
from hfcount.fetcher.tokens import WITHOUT_WORDS, has_words
from hfcount.formats.model_index import Entry, PipelineIndex
from hfcount.text import printable, shown
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.rules.hf810_part_missing import PartMissing
from hfcount.verifier.rules.hf811_part_required import PartRequired
from hfcount.verifier.rules.hf812_part_not_taken import PartNotTaken
from hfcount.verifier.rules.hf813_unknown_pipeline_class import UnknownPipelineClass
from hfcount.verifier.rules.hf815_part_class_differs import PartClassDiffers
from hfcount.verifier.rules.hf816_variant_needed import VariantNeeded
from hfcount.verifier.rules.hf817_only_in_variant import OnlyInVariant
from hfcount.verifier.rules.hf818_variant_not_found import VariantNotFound
from hfcount.verifier.rules.hf819_part_pickled import PartPickled
from hfcount.verifier.rules.hf820_malformed_part import MalformedPart

_INDEX, SCHEDULER, _CONFIG = "model_index.json", "scheduler_config.json", "config.json"

_TOKENIZER = re.compile(r"\w*(token|vocab|merges|spiece|tekken|bpe)\S*|\S+\.(model|tiktoken)")
_NO_WORDS = "no file with the words of a tokenizer"
_PROCESSOR = re.compile(r"\w*(processor|extractor)\w*\.json|config\.json")


_LONGEST = 100  # characters of a version that are looked at
_COMPARING = ("StableDiffusionInpaintPipeline",)
"""Classes whose loading compares the version that saved them (diffusers 0.42.1, pipeline_loading_utils.py:1010)."""

_VERSION = (  # compiled where it is first used
    r"(?i)\s*v?(\d+!)?\d+(\.\d+)*([-_.]?(alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?"
    r"(-\d+|[-_.]?(post|rev|r)[-_.]?\d*)?([-_.]?dev[-_.]?\d*)?(\+[a-z0-9]+([-_.][a-z0-9]+)*)?\s*"
)
"""A version as packaging takes it (PEP 440)."""


class Folder(NamedTuple):
    """Where a part is: the names of the files there, and whether that is the pipeline's own folder.

    diffusers looks there where there is no folder of the part's name.
    """

    names: Sequence[str]
    root: bool = False


Folders = Mapping[str, Folder]
"""Where each part is, by its name."""


def described(index: PipelineIndex, files: Collection[str] | None) -> tuple[list[Entry], list[Finding]]:
    """The parts that are to be loaded, and what the class of the pipeline says against the index.

    Args:
        files: the names of the files in the pipeline's own folder, where all are known.
    """
    taken = None if index.code else signature(index.kind)
    if taken is None:
        return [*index.parts], [_unknown(index, files)]
    listed = {entry.name for entry in index.parts}
    findings: list[Finding] = [
        PartRequired(kind=index.kind, part=name, key=name, file=_INDEX, instead=_instead(index, name))
        for name in taken.required
        if name not in listed
    ]
    if index.kind in _COMPARING and not re.fullmatch(_VERSION, index.version[:_LONGEST]):
        from hfcount.verifier.rules.hf825_pipeline_version_missing import PipelineVersionMissing

        findings.append(
            PipelineVersionMissing(kind=index.kind, value=index.version, key="_diffusers_version", file=_INDEX)
        )
    findings += [
        MalformedPart(part=name, value=index.settings[name], key=name, file=_INDEX)
        for name in taken.optional
        if name in index.settings
    ]
    findings += [
        PartNotTaken(kind=index.kind, part=entry.name, key=entry.name, file=_INDEX, by=entry.by)
        for entry in index.parts
        if entry.name not in (*taken.parts, *taken.settings)
    ]
    return [entry for entry in index.parts if entry.name in taken.parts], findings


def _unknown(index: PipelineIndex, files: Collection[str] | None) -> UnknownPipelineClass:
    near: list[str] = [] if index.code else alike(index.kind)
    level: Severity = "note"
    if index.code and files is not None and index.code not in files:
        whose, level = f"of code that is missing ({printable(index.code, 60)})", "error"
    elif index.code:
        whose = f"which is code in the repo ({printable(index.code, 60)})"
    elif is_part_class(index.kind):
        whose, level = "which is the class of a part, not of a pipeline", "error"
    else:
        whose = f"which diffusers {version()} does not have{f' (did you mean {near[0]}?)' if near else ''}"
    return UnknownPipelineClass(severity=level, kind=index.kind, key="_class_name", file=_INDEX, whose=whose)


def _instead(index: PipelineIndex, name: str) -> str:
    if name in index.absent:
        return "names no class for it ([null, null])"
    return f"has {shown(index.settings[name])} for it" if name in index.settings else "does not list it"


class PartFolders(NamedTuple):
    """The folders of a pipeline's parts.

    Args:
        weights: the weight files of each part with weights whose config is there.
        variant: the variant that is to be looked at in each of them, "" for plain files.
        absent: parts that are not there.
        findings: what diffusers does not load, or loads otherwise.
    """

    weights: Mapping[str, WeightFiles]
    variant: Mapping[str, str]
    absent: Collection[str]
    findings: Sequence[Finding]


def check_folders(index: PipelineIndex, entries: Sequence[Entry], folders: Folders, repo: bool) -> PartFolders:
    """Checks the folders of the parts to load, where all files are known.

    Args:
        repo: whether diffusers would download them, and of folders with weights these and their configs alone.
    """
    unknown = [finding for entry in entries if (finding := unloadable(index, entry, folders[entry.name].names, repo))]
    lost = {files.part for files in unknown if files.severity == "error"}
    missing = _all_missing(entries, folders, lost)
    absent = {gone.part for gone in missing} | lost
    weighty = [entry for entry in entries if not (entry.weightless or entry.name in absent or is_foreign(entry))]
    weights = {entry.name: weight_files(entry, folders[entry.name].names) for entry in weighty}
    variant, more = _variants({name: files for name, files in weights.items() if not files.only_pickled})
    pickled = _pickled(weights, variant, repo)
    if variants := _all_variants(weights):
        some = [entry.name for entry in entries if entry.weightless or not repo]
        needed = any(isinstance(finding, VariantNeeded) for finding in more)
        more = [*more, *_without_dot(some, folders, variants[0], needed)]
    return PartFolders(weights, variant, absent, [*unknown, *missing, *pickled, *more])


def _pickled(weights: Mapping[str, WeightFiles], variant: Mapping[str, str], repo: bool) -> list[PartPickled]:
    """HF819: the parts that are pickled where others are not, as they are loaded with that variant of each."""
    loaded = {name: files for name, files in weights.items() if files.loads_pickled(variant.get(name))}
    names = {name: files.pickled_name for name, files in loaded.items()}
    if len(names) == len(weights):
        return []
    fails = next((name for name, files in weights.items() if repo and "" not in files.pickled), None)
    level: Severity = "error" if fails else "note"
    return [
        PartPickled(
            severity=level, part=name, file=f"{name}/{file}", fails=fails, form=next(iter(weights[name].safe), None)
        )
        for name, file in names.items()
    ]


def _all_variants(weights: Mapping[str, WeightFiles]) -> list[str]:
    """The variants that files of any part are of."""
    return sorted({name for files in weights.values() for name in files.safe if name})


def _all_missing(entries: Sequence[Entry], folders: Folders, lost: Collection[str]) -> list[PartMissing]:
    """HF810 of each part that is not there, but of those that are `lost` anyway."""
    there = (entry for entry in entries if entry.name not in lost)
    return [gone for entry in there if (gone := _missing(entry, folders[entry.name]))]


def _missing(entry: Entry, place: Folder) -> PartMissing | None:
    """HF810: the folder of a part, or a file that it is loaded from."""
    reason, folder = _absent(entry, place.names), printable(entry.name)
    if reason is None:
        return None
    if place.root:  # there is no such folder, nor the part at the top
        return _lacks(entry, f"there is no folder {folder}", None, _has_words_of_its_own(entry))
    lacks, file = reason
    return _lacks(entry, lacks.format(folder), file, _NO_WORDS in lacks)


def _has_words_of_its_own(entry: Entry) -> bool:
    """Whether a part is a tokenizer with words: without a folder it is read from that of the pipeline."""
    return "Token" in entry.kind and not is_foreign(entry) and not re.fullmatch(WITHOUT_WORDS, entry.kind)


def _absent(entry: Entry, names: Sequence[str]) -> tuple[str, str | None] | None:
    """The missing file of a part: a text with {} for the folder, and the file; None if nothing is missing."""
    if not names:
        return "the folder {} is empty", None
    if entry.kind.endswith("Scheduler"):
        return None if SCHEDULER in names else (f"there is no {{}}/{SCHEDULER}", SCHEDULER)
    if is_foreign(entry):
        return None
    if "Token" in entry.kind and not re.fullmatch(WITHOUT_WORDS, entry.kind) and not has_words(names):
        return f"{{}} holds {_NO_WORDS} ({_named(names)})", None
    if entry.weightless:
        needed, what = (_TOKENIZER, "a tokenizer") if "Token" in entry.kind else (_PROCESSOR, "a processor")
        held = any(needed.fullmatch(name) for name in names) or (entry.kind.endswith("Processor") and _tokens(names))
        return None if held else (f"{{}} holds no file of {what} ({_named(names)})", None)
    if _CONFIG not in names:
        return f"there is no {{}}/{_CONFIG}", _CONFIG
    files = weight_files(entry, names)
    if files.safe or files.pickled:
        return None
    return f"{{}} holds no weights with a known file name ({_named(names)})", None


def _tokens(names: Sequence[str]) -> bool:
    return any(_TOKENIZER.fullmatch(name) for name in names)


def _named(names: Sequence[str]) -> str:
    """Names of files within a text that is formatted."""
    return named(sorted(names)).replace("{", "{{").replace("}", "}}")


def _lacks(entry: Entry, lacks: str, file: str | None, wordless: bool) -> PartMissing:
    where = f"{entry.name}/{file}" if file else _INDEX
    key = None if file else entry.name
    return PartMissing(part=entry.name, by=entry.by, lacks=lacks, wordless=wordless, key=key, file=where)


def _variants(weights: Mapping[str, WeightFiles]) -> tuple[dict[str, str], list[Finding]]:
    """HF816, HF817: the variant to look at in each part, and whether one is needed."""
    lacking = [name for name, files in weights.items() if not files.plain]
    if not lacking:
        return {}, []
    counts = Counter(variant for files in weights.values() for variant in files.safe if variant)
    common = [variant for variant, count in counts.most_common() if count == len(weights)]
    if common:
        note = VariantNeeded(form=common[0], lacking=tuple(lacking), file=_first(lacking[0], weights, common[0]))
        return dict.fromkeys(weights, common[0]), [note]
    chosen = {name: next(iter(weights[name].safe)) for name in lacking}
    return chosen, [
        OnlyInVariant(part=name, form=variant, file=_first(name, weights, variant)) for name, variant in chosen.items()
    ]


def _first(name: str, weights: Mapping[str, WeightFiles], variant: str) -> str:
    return f"{name}/{weights[name].safe[variant][0]}"


def _without_dot(parts: Sequence[str], folders: Folders, variant: str, needed: bool) -> Iterator[VariantNotFound]:
    """HF818: files of whose name diffusers finds no second part, where it looks for a variant."""
    for part in parts:
        place = folders[part]
        if name := next((file_name for file_name in place.names if "." not in file_name and not place.root), None):
            path = f"{part}/{name}"
            level: Severity = "error" if needed else "note"
            yield VariantNotFound(severity=level, part=part, path=path, file=path, form=variant, needed=needed)
            return


def class_differs(entry: Entry, config: Mapping[str, object]) -> Iterator[PartClassDiffers]:
    """HF815: whether the config of a part of diffusers names another class than the index."""
    kind = config.get("_class_name")
    if entry.library == "diffusers" and isinstance(kind, str) and kind != entry.kind:
        file = f"{entry.name}/{_CONFIG}"
        yield PartClassDiffers(part=entry.name, key="_class_name", file=file, expected=entry.kind, observed=kind)
    kind = config.get("model_type")
    if isinstance(kind, str) and (other := other_type(entry, config)):
        file = f"{entry.name}/{_CONFIG}"
        by = f"{entry.kind} ({other})"
        yield PartClassDiffers(part=entry.name, key="model_type", file=file, expected=by, observed=kind)
