"""Checks the GGUF files of one place: metadata, split sets, projectors and base model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.bases import Base, base_of
from hfcount.checkpoints.gguf.base import compare
from hfcount.checkpoints.gguf.bert import positions_cut
from hfcount.checkpoints.gguf.check import check
from hfcount.checkpoints.gguf.config_from_metadata import blueprint_of
from hfcount.checkpoints.gguf.files import FileSet, HeaderOrError, file_sets, headers
from hfcount.checkpoints.gguf.findings import broken, finding, reason
from hfcount.checkpoints.gguf.loaded import proven
from hfcount.checkpoints.gguf.lora import LoraTarget, compare_lora
from hfcount.checkpoints.gguf.split_set import check_pair, join
from hfcount.checkpoints.gguf.summary import Remark, Role, architecture, bases, role
from hfcount.checkpoints.inspection import Options
from hfcount.errors import DocumentError, FetchError
from hfcount.fetcher.interface import Request
from hfcount.fetcher.location import Place
from hfcount.formats.gguf.header import GgufHeader
from hfcount.report.figures import Failure
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules.hf716_base_not_compared import BaseNotCompared

_APART: Mapping[Role, str] = {
    "imatrix": "it holds an importance matrix, not a model",
    "vocabulary": "it holds a vocabulary and no tensors",
    "adapter": "it is an adapter: --base MODEL compares it with the model that it is for",
}
"""Why files that are no models are not verified, where no model lies beside them."""


@dataclass(slots=True)
class GgufFile:
    """One GGUF file or split set, with the result of its checks.

    Args:
        header: that of all files joined; None if none could be read.
        size: bytes of all files; None if unknown.
        reasons: why something about it cannot be told.
    """

    files: FileSet
    header: GgufHeader | None = None
    size: int | None = None
    findings: list[Finding] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def add(self, remarks: Sequence[Remark]) -> None:
        """Adds remarks as findings or reasons."""
        subject = architecture(self.header) if self.header else ""
        for remark in remarks:
            result = finding(remark, self.files.name, subject)
            if result is not None:
                self.findings.append(result)
            else:
                self.reasons.append(f"{printable(self.files.name)}: {reason(remark)}")

    @property
    def role(self) -> Role | None:
        """The role of the file; None if it could not be read."""
        return role(self.header) if self.header else None

    @property
    def sound(self) -> bool:
        """Whether it holds what its metadata describes, as far as that is known."""
        wrong = any(finding.severity == "error" for finding in self.findings)
        return self.header is not None and not self.reasons and not wrong


@dataclass(frozen=True, slots=True)
class GgufFiles:
    """All requested files.

    Args:
        first: the one that counts and sizes are of: the largest model that is sound.
        base: what it was made of; None if nothing says so.
        blueprint: has exactly the tensors of the first; None if none is known.
    """

    looked: Sequence[GgufFile]
    first: GgufFile
    base: Base | None
    blueprint: Blueprint | None


def look(place: Place, request: Request, options: Options) -> GgufFiles:
    """Reads and checks the requested GGUF files of a place.

    Raises:
        FetchError: NoSuchFile, or they could not be read.
    """
    sets = file_sets(place)
    read = headers(place, sets, options.progress(sum(len(file_set.files) for file_set in sets)))
    files = [_examined(file_set, read, place) for file_set in sets]
    _pair(files)
    models = [file for file in files if file.role == "model" and file.header]
    if not models:
        return _without_model(place, request, files)
    _beside(models, [file for file in files if file.role == "adapter" and file.header])
    first = max(models, key=lambda file: (file.sound, file.size or 0))
    base = base_of(place, request, bases(first.header) if first.header else ())
    if base is not None:
        _against(base, models)
    return GgufFiles(files, first, base, blueprint_of(first.header, base) if first.header and first.sound else None)


def _without_model(place: Place, request: Request, files: list[GgufFile]) -> GgufFiles:
    """Files of which none is a model: adapters are compared with their base, others say what they are."""
    first = next((file for file in files if file.header), files[0])
    adapters = [file for file in files if file.role == "adapter" and file.header]
    base = base_of(place, request, bases(adapters[0].header)) if adapters and adapters[0].header else None
    if adapters and base is not None:
        base = _held_against(base, adapters, request)
    for file in files:
        if file.role and file.role in _APART and (base is None or file not in adapters):
            file.reasons.append(f"{printable(file.files.name)}: {_APART[file.role]}")
    return GgufFiles(files, first, base, None)


def _held_against(base: Base, adapters: Sequence[GgufFile], request: Request) -> Base | None:
    """Holds adapters against the base that is named, a config or a GGUF file; None if the base was not asked for."""
    from hfcount.checkpoints.gguf.lora_target import named_model, of_config, of_file  # few GGUF files are adapters

    problem, model = base.problem, None
    if problem is not None and base.binding and problem.kind == "NoConfig":
        try:
            model, problem = of_file(named_model(request)), None
        except FetchError as error:
            problem = Failure(kind=error.kind, message=str(error).rstrip("."))
    if isinstance(model, str):
        problem = Failure(kind="NotCompared", message=model)
    if problem is not None:
        if not base.binding:
            return None
        adapters[0].reasons.append(f"its base {base.label} cannot be compared: {problem.message}")
        return replace(base, problem=problem)
    for file in adapters:
        if file.header:
            target = model or (of_config(base.blueprint, base.values, file.header) if base.blueprint else None)
            if isinstance(target, LoraTarget):
                file.add(_named_by(base.label, compare_lora(file.header, target)))
            elif isinstance(target, Remark):
                file.add([target])
    return base if model is None else replace(base, problem=None)


def _named_by(base: str, remarks: Iterable[Remark]) -> list[Remark]:
    return [remark._replace(facts={**remark.facts, "base": base}) for remark in remarks]


def _beside(models: Sequence[GgufFile], adapters: Sequence[GgufFile]) -> None:
    """Holds adapters against the models beside them, of which one has to fit."""
    from hfcount.checkpoints.gguf.lora_target import of_file  # few GGUF files are adapters

    for adapter in adapters:
        targets = [of_file(model.header) for model in models if model.header]
        fits = [
            not any(remark.severity == "error" for remark in compare_lora(adapter.header, target))
            for target in targets
            if adapter.header and isinstance(target, LoraTarget)
        ]
        if not any(fits):
            adapter.reasons.append(f"{printable(adapter.files.name)}: {_APART['adapter']}")


def _examined(group: FileSet, read: Mapping[str, HeaderOrError], place: Place) -> GgufFile:
    """One file or set by itself."""
    sizes = [place.sizes[name] for name in group.files]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    result = GgufFile(group, size=size)
    parts = {name: header for name in group.files if isinstance(header := read[name], GgufHeader)}
    result.findings += [broken(error, name) for name in group.files if isinstance(error := read[name], DocumentError)]
    if len(group.files) == 1 and not group.lost:
        result.header = next(iter(parts.values()), None)
        result.add(list(proven(check(result.header, size), result.header)) if result.header else ())
    elif parts:
        result.header, remarks = join(parts)
        if len(parts) < len(group.files):  # some cannot be read, which is told; of a sum nothing can be said then
            remarks = [remark for remark in remarks if remark.facts["what"] != "parts" or group.lost]
        result.add([remark._replace(facts={**remark.facts, "lost": _lost(remark, group)}) for remark in remarks])
        if len(parts) == len(group.files) and not group.lost:
            result.add(list(proven(check(result.header), result.header)))
    return result


def _lost(remark: Remark, file_set: FileSet) -> tuple[str, ...]:
    return file_set.lost if remark.facts["what"] == "parts" else ()


def _pair(files: Sequence[GgufFile]) -> None:
    """Holds projectors against the models beside them, of which one has to fit."""
    models = [examined for examined in files if examined.role == "model"]
    for projector in files:
        if projector.role != "projector" or not models:
            continue
        remarks = [
            [
                remark._replace(facts={**remark.facts, "model": model.files.name})
                for remark in check_pair(model.header, projector.header)
            ]
            for model in models
            if model.header and projector.header
        ]
        if remarks and all(remarks):
            projector.add(remarks[0])


def _against(base: Base, models: Sequence[GgufFile]) -> None:
    """Holds models against the base; where that cannot be read, the first of them says so."""
    if base.problem and not base.binding:
        file = models[0].files.name
        models[0].findings.append(BaseNotCompared(file=file, base=base.label, reason=base.problem.message))
    for model in models:
        wrong = any(finding.severity == "error" for finding in model.findings)  # of which the base would say the same
        if model.header and base.blueprint and (base.binding or not wrong):
            remarks = compare(model.header, base.blueprint, base.binding, positions_cut(base.values))
            known = {remark.kind for remark in check(model.header)}
            model.add(
                _named_by(
                    base.label,
                    (remark for remark in remarks if remark.severity != "unverified" or remark.kind not in known),
                )
            )
