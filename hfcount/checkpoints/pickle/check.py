"""Pickled weights: what transformers takes of them, and their tensors under the names that the blueprint has.

A state dict has the names and shapes of the module, so that the view of the blueprint is the blueprint itself: as a
`Shard`, a pickle goes through every check that headers of safetensors go through. What is done with the rest was
judged by from_pretrained of transformers 5.23 under torch 2.13.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.pickled_shards import Files, broken, refused, shards, sound
from hfcount.fetcher.layout import BIN_INDEX, BIN_SINGLE, INDEX
from hfcount.fetcher.reasons import named
from hfcount.fetcher.weights import Weights
from hfcount.formats.dtypes import BITS
from hfcount.formats.index import Index
from hfcount.formats.pickles import Pickle, Tensor
from hfcount.formats.safetensors import Shard
from hfcount.mapper.quantization_config import Announcement
from hfcount.spec.tree.leaves import Finder, Label
from hfcount.verifier import verify
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.findings import Outcome
from hfcount.verifier.match import Match
from hfcount.verifier.names import match
from hfcount.verifier.rules.hf003_invalid_header import InvalidHeader
from hfcount.verifier.rules.hf702_not_a_state_dict import NotAStateDict
from hfcount.verifier.rules.hf703_storage_shared import StorageShared
from hfcount.verifier.rules.hf706_tensor_refused import TensorRefused
from hfcount.verifier.rules.hf707_value_beside_tensors import ValueBesideTensors
from hfcount.verifier.rules.hf708_unused_bytes import UnusedBytes

_COPIES: Mapping[str, Label] = {"HF203": "tied", "HF204": "legacy"}
"""Findings about tensors that are stored though they need not be, and the label of their leaves."""


def examine(
    blueprint: Blueprint,
    files: Files,
    index: Index | None = None,
    announced: Sequence[Announcement] = (),
    weights: Weights | None = None,
    modules: Mapping[str, Shard] = MappingProxyType({}),
) -> Outcome:
    """How the files of a checkpoint differ from its blueprint and its index.

    Args:
        index: that of the pickled files, if there is one.
        announced: what announces a quantisation.
        weights: which weight files are there, where that is known.
        modules: files of modules of sentence-transformers that were read, by path.
    """
    pickles = sound(files)
    problems = broken(files)
    for pickle in pickles:
        problems += conditions(pickle, blueprint, first=pickle is pickles[0])
    if problems and not any(pickle.tensors for pickle in pickles):
        return Outcome(findings=problems)  # there is nothing to compare
    outcome = verify(blueprint, index, shards(files), announced, weights=weights, modules=modules)
    outcome.pieces = []  # of files that are not laid out as their `Shard` says
    differing = [
        as_pickled(finding, files) for finding in outcome.findings if not _is_shared(finding, outcome, pickles)
    ]
    outcome.findings = [*problems, *differing, *_shared(pickles, blueprint, outcome.match)]
    return outcome


def as_pickled(finding: Finding, files: Files = ()) -> Finding:
    """Adapts a finding of the checks for all weight files to pickled ones."""
    if finding.file == INDEX:
        finding = finding.replace(file=BIN_INDEX)
    elif finding.file is None and len(files) == 1 and finding.code[2] in "23":
        finding = finding.replace(file=files[0].name)
    # transformers does not read the total of pickles, and writers have summed it up in several ways.
    return finding.replace(severity="note") if finding.code == "HF401" else finding


def _is_shared(finding: Finding, outcome: Outcome, pickles: Iterable[Pickle]) -> bool:
    """Whether a finding is of copies that are one tensor with what they are copies of, and take no bytes."""
    label = _COPIES.get(finding.code)
    if not label or not outcome.match:
        return False
    shared = {name for pickle in pickles for names in ties(pickle) for name in names}
    names = _names(outcome.match, label, pickles)
    return all(name in shared for name in names)


def _names(matched: Match, label: Label, pickles: Iterable[Pickle]) -> list[str]:
    """The stored names that are of leaves with this label."""
    spelling = matched.spelling
    names = [spelling.get(name, name) for leaf, _ in matched.extra(label) for name in matched.names(leaf)]
    return [name for name in names if any(name in pickle.tensors for pickle in pickles)]


def _shared(pickles: Sequence[Pickle], blueprint: Blueprint, matched: Match | None) -> Iterator[Finding]:
    """HF703: tensors that are one, and of which the model needs more than one."""
    find, names = Finder(blueprint.leaves).find, matched.taken if matched else {}
    for pickle in pickles:
        groups = list[tuple[str, ...]]()
        for group in ties(pickle):
            leaves = [find(names.get(name, name)) for name in group]
            if sum(leaf is None or leaf.presence == "required" for leaf in leaves) > 1:
                groups.append(group)
        if groups:
            count = sum(len(group) - 1 for group in groups)
            yield StorageShared(file=pickle.name, groups=groups, count=count, tensors=tuple(groups[0]))


def contents(blueprint: Blueprint, files: Files) -> str:
    """What files of unusual names hold, as a sentence without its end."""
    pickles = sound(files)
    if len(pickles) != 1 or len(files) != 1:
        return f"what {named(sorted(file.name for file in files))} together contain is not known"
    (pickle,), subject = pickles, blueprint.spec.architecture or blueprint.spec.family
    name, (path, tensors) = named([pickle.name]), pickle.inner or ((), pickle.tensors)
    under = f" under {''.join(f'[{key!r}]' for key in path)}" if path else ""
    if not tensors:
        return f"{name} holds no tensors"
    if _fits(tensors, blueprint):
        return f"{name} holds every tensor that {subject} describes{under}. Save them as {BIN_SINGLE} or as safetensors"
    return f"{name} holds {len(tensors):,} tensors{under}, but not those that {subject} describes"


def conditions(pickle: Pickle, blueprint: Blueprint, first: bool = True) -> Iterator[Finding]:
    """What is to be known of one file beside its names, shapes and dtypes.

    Args:
        blueprint: what the file is to hold.
        first: whether it is the first of the files, from which alone transformers takes the dtype.
    """
    yield from refused(pickle)
    yield from _no_state_dict(pickle, blueprint)
    odd: dict[str, str] = {name: tensor.kind for name, tensor in pickle.tensors.items() if tensor.kind != "dense"}
    others = {name: tensor.dtype for name, tensor in pickle.tensors.items() if tensor.dtype not in BITS}
    odd |= {name: dtype for name, dtype in others.items() if name not in odd and not dtype.startswith("complex")}
    if odd:
        yield TensorRefused(file=pickle.name, odd=odd, tensors=tuple(odd), count=len(odd))
    if pickle.compressed:
        yield InvalidHeader(
            statement=f"{named([pickle.name])}: {len(pickle.compressed):,} of its {len(pickle.storages):,} storages"
            " are compressed, which torch.load does not read.",
            file=pickle.name,
            fix="Save it again with torch.save.",
        )
    if pickle.tensors and pickle.others and not pickle.globals:
        stumbles = first and pickle.leading is not None and not blueprint.spec.dtype
        severity: Severity = "error" if stumbles else "note"
        yield ValueBesideTensors(severity=severity, file=pickle.name, keys=pickle.others, first=stumbles)
    if pickle.unused or pickle.longer or pickle.trailing > 0:
        yield UnusedBytes(
            file=pickle.name,
            bytes=pickle.unused,
            of=pickle.data,
            longer=len(pickle.longer),
            trailing=max(pickle.trailing, 0),
        )


def _no_state_dict(pickle: Pickle, blueprint: Blueprint) -> Iterator[Finding]:
    """HF702: the tensors lie under a key or under no names."""
    if pickle.tensors and not pickle.nameless:
        return
    path, tensors = pickle.inner or ((), {})
    if not tensors and not pickle.tensors and (pickle.globals or pickle.state_dict):
        return  # nothing to be matched, and that is told already; or an empty state dict, which is one
    yield NotAStateDict(
        subject=blueprint.spec.architecture or blueprint.spec.family,
        file=pickle.name,
        tensors=tuple(tensors),
        count=len(tensors),
        path=path,
        nameless=pickle.nameless,
        fits=bool(tensors) and _fits(tensors, blueprint),
    )


def _fits(tensors: Mapping[str, Tensor], blueprint: Blueprint) -> bool:
    return match(blueprint.leaves, tensors, blueprint.unmodeled, lambda: blueprint.spellings).complete


def ties(pickle: Pickle) -> tuple[tuple[str, ...], ...]:
    """Names of one and the same tensor, as it is stored: of the same elements of one storage."""
    groups: dict[Tensor, list[str]] = {}
    for name, tensor in pickle.tensors.items():
        if tensor.storage and tensor.elements:
            groups.setdefault(tensor, []).append(name)
    return tuple(tuple(names) for names in groups.values() if len(names) > 1)
