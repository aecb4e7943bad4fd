"""Checks weight files outside the index."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from hfcount.fetcher.layout import SINGLE
from hfcount.fetcher.reasons import named
from hfcount.formats.safetensors import Entry, Shard
from hfcount.mapper.loader_differences import VLLM
from hfcount.spec.tree.leaves import Finder
from hfcount.text import printable
from hfcount.verifier import ties
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.folded_names import fold

Kind = Literal["needed", "copies", "alien", "problem"]


class _Unlisted(NamedTuple):
    """A file by the worst that it holds: tensors that nothing else has, copies, others; or it cannot be read."""

    file: str
    kind: Kind
    names: Sequence[str] = ()
    problem: str | None = None


def check_beside(c: Comparison, outcome: Outcome) -> None:
    """At depth index: headers have to tell what lies beside the files of the index."""
    if c.weights.index is not None and c.weights.beside:
        outcome.doubt = f"{printable(c.weights.beside[0], 100)} exists, but the index does not name it"


def check_single(c: Comparison, outcome: Outcome) -> None:
    """HF008: model.safetensors beside an index, which transformers then does not look at."""
    index, shard = c.index, c.beside.get(SINGLE)
    if index is None:
        return
    if SINGLE in index.shards:
        _check_among(c, index.weight_map, outcome)
    elif shard and c.view:
        _compare_single(c, c.view.entries, shard, len(index.shards), outcome)


def _compare_single(c: Comparison, indexed: Mapping[str, Entry], shard: Shard, files: int, outcome: Outcome) -> None:
    """Compares names, shapes, dtypes and first bytes of model.safetensors with `indexed`, the tensors of the index."""
    from hfcount.verifier.rules.hf008_two_weight_sets import TwoWeightSets

    if shard.header is None:
        outcome.report(TwoWeightSets(file=SINGLE, fix=shard.fix, files=files, problem=shard.problem or ""))
        return
    single = shard.header.tensors
    lacking, beyond = (
        [name for name in indexed if name not in single],
        [name for name in single if name not in indexed],
    )
    differing = [name for name, entry in single.items() if name in indexed and entry[:2] != indexed[name][:2]]
    different = [*lacking, *beyond, *differing]
    changed, same = ([], False) if different else _changed(c, shard, single, outcome)
    different += changed
    outcome.report(
        TwoWeightSets(
            severity="error" if different else "note",
            file=SINGLE,
            tensors=tuple(fold(different)),
            count=len(different),
            parameters=None,
            bytes=None,
            fix=(different and not changed and _meant(c, single, outcome)) or TwoWeightSets.remedy,
            files=files,
            same=same,
            values=next(iter(changed), ""),
            lacking=lacking,
            beyond=beyond,
            differing=differing,
        )
    )


def _changed(c: Comparison, shard: Shard, tensors: Mapping[str, Entry], outcome: Outcome) -> tuple[list[str], bool]:
    """Which of a few tensors begin otherwise in both, and whether all are known to begin alike."""
    pairs = [*ties.beside(c, shard, tensors)]
    outcome.pieces += [piece for _, *pair in pairs for piece in pair if piece not in c.samples]
    compared = [(name, c.samples.get(first), c.samples.get(second)) for name, first, second in pairs]
    changed = [name for name, first, second in compared if first and second and first != second]
    return changed, bool(compared) and all(first and first == second for _, first, second in compared)


def _check_among(c: Comparison, weight_map: Mapping[str, str], outcome: Outcome) -> None:
    """The index names model.safetensors among others: what the others hold is not read."""
    if len(c.weights.named) == 1 or SINGLE not in (c.weights.sizes or ()):
        return
    lacking = [name for name, file in weight_map.items() if file != SINGLE]
    needed = _needed(c, lacking, announced=False)
    if needed:
        from hfcount.verifier.rules.hf008_two_weight_sets import TwoWeightSets

        outcome.report(
            TwoWeightSets(
                file=SINGLE,
                tensors=tuple(fold(needed)),
                count=len(needed),
                parameters=None,
                bytes=None,
                fix="Rename the file, also in the index.",
                among=True,
                files=len(c.weights.named),
                lacking=needed,
            )
        )


def _meant(c: Comparison, single: Mapping[str, Entry], outcome: Outcome) -> str:
    """Which of two sets to delete, if one is what the config describes and the other is not."""
    if c.announced:
        return ""
    match, find = c.matched(single), Finder(c.blueprint.leaves).find
    shapes = ((find(name), entry.shape) for name, entry in single.items())
    fits = not (match.missing_count or match.unexpected) and all(
        leaf is None or tuple(map(int, leaf.shape)) == shape for leaf, shape in shapes
    )
    broken = any(finding.severity == "error" for finding in outcome.findings)
    if fits == broken:
        return "Delete the index and the files that it names." if fits else "Delete model.safetensors."
    return ""


def check_unlisted(c: Comparison, outcome: Outcome) -> None:
    """HF006: other files that the index does not name, or that lie beside model.safetensors."""
    if c.names is None or c.weights.absent:
        return
    files = [unlisted for file in sorted(c.beside) if (unlisted := _read(c, file))]
    needed = [name for unlisted_file in files if unlisted_file.kind == "needed" for name in unlisted_file.names]
    if needed:
        _drop_what_explains(c, needed, outcome)
    groups: dict[tuple[Kind, str | None], list[_Unlisted]] = {}
    for unlisted in files:
        groups.setdefault((unlisted.kind, _taken(c, unlisted)), []).append(unlisted)
    for (kind, taken), group in groups.items():
        _report_unlisted(c, kind, taken, group, outcome)


def _report_unlisted(
    c: Comparison, kind: Kind, taken: str | None, group: Sequence[_Unlisted], outcome: Outcome
) -> None:
    from hfcount.verifier.rules.hf006_unlisted_weights import UnlistedWeights

    names, needed = [name for unlisted in group for name in unlisted.names], kind == "needed"
    again = "Write the index again from all of its files."
    outcome.report(
        UnlistedWeights(
            subject=c.subject,
            severity="error" if taken or needed else "note",
            file=group[0].file,
            tensors=tuple(fold(names)),
            count=len(names),
            parameters=None,
            bytes=None,
            fix=again if needed and c.index else UnlistedWeights.remedy,
            files=named([unlisted.file for unlisted in group]),
            many=len(group),
            kind=kind,
            problem=group[0].problem or "",
            indexed=c.index is not None,
            predicting=needed and _predicting(c, names),
            taken=taken,
        )
    )


def _read(c: Comparison, file: str) -> _Unlisted | None:
    shard = c.beside[file]
    if file == SINGLE and c.index is not None:
        return None
    if shard.header is None:
        return _Unlisted(file, "problem", problem=shard.problem)
    listed: Iterable[str] = c.index.weight_map if c.index else c.headers.entries
    tensors, known = shard.header.tensors, set(listed)
    if not tensors:
        return None
    if needed := _needed(c, [name for name in tensors if name not in known], announced=True):
        return _Unlisted(file, "needed", needed)
    copies = [name for name in tensors if name in known]
    if 2 * len(copies) > len(tensors):  # a few common names may be another library's
        return _Unlisted(file, "copies", copies)
    return _Unlisted(file, "alien", list(tensors))


def _taken(c: Comparison, file: _Unlisted) -> str | None:
    """Who takes the file for a part of the model, of those that read language models."""
    if c.blueprint.spec.head not in ("causal_lm", "conditional_generation"):
        return None
    if c.index is None and file.kind == "copies":
        return f"{VLLM} reads every .safetensors file where there is no index"
    if not file.file.startswith("model"):
        return None
    from hfcount.verifier.loaders.labels import CONVERTER, MLX

    return f"{MLX} and {CONVERTER} read every model*.safetensors"


def _needed(c: Comparison, names: Iterable[str], announced: bool) -> list[str]:
    """Those of some names that the model cannot do without, and of prediction layers that the config announces."""
    find, spelt = _finder(c).find, {stored: expected for expected, stored in c.spelling.items()}
    announced = announced and c.blueprint.spec.announces("mtp")
    leaves = ((name, find(spelt.get(name, name))) for name in names)
    return [
        name
        for name, leaf in leaves
        if leaf and (leaf.presence == "required" or (announced and leaf.part == "prediction"))
    ]


def _predicting(c: Comparison, names: Iterable[str]) -> bool:
    leaves = map(_finder(c).find, names)
    return any(leaf.part == "prediction" for leaf in leaves if leaf)


def _finder(c: Comparison) -> Finder:
    """Finds the leaf of a name, in the layout that the checkpoint has it in."""
    return Finder([leaf for leaf, _ in c.names.listed] if c.names else c.blueprint.leaves)


def _drop_what_explains(c: Comparison, needed: Sequence[str], outcome: Outcome) -> None:
    """Leaves out that tensors are missing or not stored, where a file beside has them."""
    find = _finder(c).find
    required = sum(leaf is not None and leaf.presence == "required" for leaf in map(find, needed))
    explained = {"HF201"} if required == c.match.missing_count else set()
    explained |= {"HF207"} if required < len(needed) else set()
    outcome.findings = [finding for finding in outcome.findings if finding.code not in explained]
