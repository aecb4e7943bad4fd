"""Checks whether model_type and `architectures` name the same model."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import prod

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.model_class import Naming
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.fetcher.layout import CONFIG, SINGLE
from hfcount.formats.safetensors import Entry, Header, Shard
from hfcount.mapper.class_defaults import version
from hfcount.mapper.classes import HEAD, classes
from hfcount.text import plural, printable
from hfcount.verifier.comparison import Comparison, matched_with
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.findings import DIFFERING, Outcome
from hfcount.verifier.loaders.facts import facts, versions

_MOST = 1_000_000  # tensors of two models that are compared one by one

Verify = Callable[[Blueprint, None, Mapping[str, Shard]], Outcome]


def check_model_type(c: Comparison, outcome: Outcome) -> None:
    """HF108: a config without a model_type, which transformers' auto classes refuse."""
    naming, family = c.blueprint.naming, c.blueprint.spec.family
    if not naming.untyped:
        return
    from hfcount.mapper.loader_differences import VLLM
    from hfcount.verifier.loaders.labels import MLX, NEWEST
    from hfcount.verifier.rules.hf108_no_model_type import NoModelType

    reads = f"Only code in the repo reads it ({printable(naming.reading)}, by auto_map)."
    counted = f"hfcount counted it as {family}, since architectures names {printable(naming.architecture)}."
    outcome.report(
        NoModelType(
            severity="note" if naming.reading else "error",
            expected=family,
            key="model_type",
            file=CONFIG,
            fix=f'Add "model_type": "{family}".',
            statement=f"config.json has no model_type, which {NEWEST}, {VLLM} and {MLX} need to choose the model."
            f" {reads if naming.reading else 'They refuse it.'} {counted}",
        )
    )


def check_class(c: Comparison, outcome: Outcome, verify: Verify) -> None:
    """HF107: a class in `architectures` that is of another model_type, or written for another framework.

    Args:
        verify: verifies a checkpoint by a blueprint.
    """
    naming, blueprint = c.blueprint.naming, c.blueprint
    if naming.framework:
        statement = (
            f"which is the {naming.framework} version of {naming.name}; transformers {version()} has no"
            f" {naming.framework} classes."
        )
        _report(outcome, naming, naming.name, statement, f"Name {naming.name} in architectures.", "note")
    if not blueprint.other or _is_built(naming, blueprint):
        return
    kind, other = next(iter(blueprint.other.items()))
    difference = _difference(blueprint, other, naming, verify)
    if not (difference or classes(blueprint.spec.family)):
        return  # transformers has no class of this type, and that of another builds it
    from hfcount.mapper.loader_differences import SGLANG, VLLM
    from hfcount.verifier.loaders.labels import NEWEST

    family, right = printable(blueprint.spec.family, 60), _alike(blueprint.spec.family, naming.architecture)
    statement = (
        f"a class of model_type {kind}, but model_type is {family}. {NEWEST} chooses the class by model_type, {VLLM}"
        f" and {SGLANG} by architectures."
    )
    name = f"Name {right} in architectures" if right else f"Name a class of {family} in architectures"
    if not difference:
        same = "the same tensors" if naming.name == naming.architecture else "tensors of the same shapes"
        statement += f" Both have {same} with this config, but may compute differently."
        _report(outcome, naming, right, statement, f"{name}, unless this is intended.", "note")
        return
    cure = f"{name}, if the weights are of model_type {family}; otherwise set model_type to {kind}."
    if fits := _fitting(c, outcome):
        cure = f"The stored names are those of model_type {fits}. "
        cure += f"{name}." if fits == blueprint.spec.family else f"Set model_type to {fits}."
    _report(outcome, naming, right, f"{statement} {difference}", cure, "error")


def _is_built(naming: Naming, blueprint: Blueprint) -> bool:
    """Whether the auto classes of the newest version build this class, of another type, for the type."""
    recorded = facts(versions()[-1], blueprint.spec.family)
    return recorded is not None and naming.name in recorded.classes


def _report(outcome: Outcome, naming: Naming, right: str, statement: str, fix: str, severity: Severity) -> None:
    from hfcount.verifier.rules.hf107_class_of_another_type import ClassOfAnotherType

    outcome.report(
        ClassOfAnotherType(
            severity=severity,
            expected=right or None,
            observed=naming.architecture,
            key="architectures",
            file=CONFIG,
            fix=fix,
            statement=f"architectures names {printable(naming.architecture, 60)}, {statement}",
        )
    )


def _alike(model_type: str, name: str) -> str:
    """The type's own class with the same head; "" if it has none."""
    ending = HEAD.search(name)
    return next((other for other in classes(model_type) if ending and HEAD.sub("", other) + ending[0] == other), "")


def _difference(blueprint: Blueprint, other: Blueprint | ConfigError, naming: Naming, verify: Verify) -> str:
    """How the tensors of the class differ from those of the type, in a sentence; "" if they are the same."""
    if isinstance(other, ConfigError):
        return f"No {naming.name} can be built with this config: {other.text}"
    if naming.name != naming.architecture and _shapes(blueprint) == _shapes(other):
        return ""  # an implementation of its own, by the spelling, which may have names of its own, too
    if max(blueprint.tensor_count, other.tensor_count) > _MOST:
        return "" if blueprint.rows() == other.rows() else f"{naming.name} has other tensors."
    try:
        findings = [finding for finding in _read_as(blueprint, other, verify).findings if finding.code in DIFFERING]
    except UnknownArchitecture as error:  # its parts are of types that it does not have
        return f"No {naming.name} can be built with this config: {error}"
    return f"{naming.name} has other tensors: {'; '.join(map(_summary, findings))}." if findings else ""


def _shapes(blueprint: Blueprint) -> Counter[tuple[int, ...]]:
    """How many tensors are stored of each shape."""
    counts: Counter[tuple[int, ...]] = Counter()
    for leaf in blueprint.stored_leaves():
        counts[tuple(map(int, leaf.shape))] += int(leaf.count)
    return counts


def _summary(finding: Finding) -> str:
    example = printable(finding.tensors[0], 120) if finding.tensors else ""
    if finding.code == "HF201":
        return f"it needs {plural(finding.count, 'tensor')} more, such as {example}"
    if finding.code == "HF202":
        return f"it does not have {plural(finding.count, 'tensor')}, such as {example}"
    return f"{plural(finding.count, 'tensor')} would have another shape, such as {example}"


def _read_as(blueprint: Blueprint, other: Blueprint, verify: Verify) -> Outcome:
    """Verifies the tensors of one blueprint against another."""
    entries, end = dict[str, Entry](), 0
    for tensor in blueprint.tensors():
        begin, end = end, end + 2 * int(prod(tensor.shape))
        entries[tensor.name] = Entry("BF16", tuple(map(int, tensor.shape)), begin, end)
    shard = Shard(SINGLE, end, Header(entries, 0, end, b""))
    return verify(Blueprint(other.spec, other.tree), None, {SINGLE: shard})


def _fitting(c: Comparison, outcome: Outcome) -> str:
    """The one model_type whose names are those of what is stored; "" if none or several are."""
    if "names" not in c.evidence:
        return ""
    fitting = [] if not c.match.complete or outcome.has(*DIFFERING) else [c.blueprint.spec.family]
    for kind, other in c.blueprint.other.items():
        if isinstance(other, Blueprint) and matched_with(other, other.leaves, c.stored_names).complete:
            fitting.append(kind)
    return fitting[0] if len(fitting) == 1 else ""
