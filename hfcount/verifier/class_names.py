"""HF107, HF108: whether model_type and `architectures` name the same model."""

from collections import Counter
from collections.abc import Callable, Mapping
from math import prod

from hfcount.blueprints.blueprint import Blueprint
from hfcount.blueprints.model_class import Naming
from hfcount.errors import ConfigError, UnknownArchitecture
from hfcount.fetcher.layout import CONFIG, SINGLE
from hfcount.formats.safetensors import Entry, Header, Shard
from hfcount.mapper.classes import HEAD, classes
from hfcount.mapper.reference import version
from hfcount.text import plural, printable
from hfcount.verifier.comparison import Comparison, matched_with
from hfcount.verifier.finding import Finding, Severity
from hfcount.verifier.findings import DIFFERING, Outcome

_MOST = 1_000_000  # tensors of two models that are compared one by one

Verify = Callable[[Blueprint, None, Mapping[str, Shard]], Outcome]


def check_model_type(c: Comparison, outcome: Outcome) -> None:
    """HF108: a config without a model_type, which transformers' auto classes refuse."""
    named, found = c.blueprint.naming, c.blueprint.spec.family
    if not named.untyped:
        return
    from hfcount.verifier.rules.hf108_no_model_type import NoModelType

    reads = f"Only code that the repo brings reads it ({printable(named.reading)}, by auto_map)."
    counted = f"It was counted as {found}, by architectures, which names {printable(named.architecture)}."
    outcome.report(
        NoModelType(
            severity="note" if named.reading else "error",
            expected=found,
            key="model_type",
            file=CONFIG,
            fix=f'Add "model_type": "{found}".',
            statement="config.json has no model_type, and transformers, vLLM and mlx-lm choose a model's configuration"
            f" by it. {reads if named.reading else 'They refuse it.'} {counted}",
        )
    )


def check_class(c: Comparison, outcome: Outcome, verify: Verify) -> None:
    """HF107: a class in `architectures` that is of another model_type, or written for another framework.

    Args:
        verify: what verifies a checkpoint by a blueprint.
    """
    named, own = c.blueprint.naming, c.blueprint
    if named.framework:
        said = f"which is {named.framework}'s form of {named.name}; transformers {version()} has none of those."
        _report(outcome, named, named.name, said, f"Name {named.name} in architectures.", "note")
    if not own.other:
        return
    kind, other = next(iter(own.other.items()))
    difference = _difference(own, other, named, verify)
    if not (difference or classes(own.spec.family)):
        return  # transformers has no class of this type, and that of another builds it
    family, right = printable(own.spec.family, 60), _alike(own.spec.family, named.architecture)
    said = (
        f"a class of model_type {kind}, and model_type is {family}; transformers chooses the class"
        " by model_type, and vLLM and SGLang by architectures."
    )
    name = f"Name {right} in architectures" if right else f"Name a class of {family} in architectures"
    if not difference:
        same = "the same tensors" if named.name == named.architecture else "tensors of the same shapes"
        said += f" Both have {same} under this config, and may compute otherwise."
        _report(outcome, named, right, said, f"{name}, unless that is meant.", "note")
        return
    cure = f"{name}, if the weights are of model_type {family}; else set model_type to {kind}."
    if fits := _fitting(c, outcome):
        cure = f"What is stored has the names of model_type {fits}. "
        cure += f"{name}." if fits == own.spec.family else f"Set model_type to {fits}."
    _report(outcome, named, right, f"{said} {difference}", cure, "error")


def _report(outcome: Outcome, named: Naming, right: str, said: str, fix: str, severity: Severity) -> None:
    from hfcount.verifier.rules.hf107_class_of_another_type import ClassOfAnotherType

    outcome.report(
        ClassOfAnotherType(
            severity=severity,
            expected=right or None,
            observed=named.architecture,
            key="architectures",
            file=CONFIG,
            fix=fix,
            statement=f"architectures names {printable(named.architecture, 60)}, {said}",
        )
    )


def _alike(model_type: str, name: str) -> str:
    """The type's own class with the same head; "" if it has none."""
    ending = HEAD.search(name)
    return next((one for one in classes(model_type) if ending and HEAD.sub("", one) + ending[0] == one), "")


def _difference(own: Blueprint, other: Blueprint | ConfigError, named: Naming, verify: Verify) -> str:
    """How the class's tensors differ from the type's, in a sentence; "" if it takes them all and needs no other."""
    if isinstance(other, ConfigError):
        return f"No {named.name} can be built with this config: {other.text}"
    if named.name != named.architecture and _shapes(own) == _shapes(other):
        return ""  # an implementation of its own, by the spelling, which may have names of its own, too
    if max(own.tensor_count, other.tensor_count) > _MOST:
        return "" if own.rows() == other.rows() else f"{named.name} has other tensors."
    try:
        found = [one for one in _read_as(own, other, verify).findings if one.code in DIFFERING]
    except UnknownArchitecture as error:  # its parts are of types that it does not have
        return f"No {named.name} can be built with this config: {error}"
    return f"{named.name} has other tensors: {'; '.join(map(_told, found))}." if found else ""


def _shapes(one: Blueprint) -> Counter[tuple[int, ...]]:
    """How many tensors are stored of each shape."""
    found: Counter[tuple[int, ...]] = Counter()
    for leaf in one.stored_leaves():
        found[tuple(map(int, leaf.shape))] += int(leaf.count)
    return found


def _told(one: Finding) -> str:
    such = printable(one.tensors[0], 120) if one.tensors else ""
    if one.code == "HF201":
        return f"it needs {plural(one.count, 'tensor')} more, such as {such}"
    if one.code == "HF202":
        return f"it does not have {plural(one.count, 'tensor')}, such as {such}"
    return f"{plural(one.count, 'tensor')} of another shape, such as {such}"


def _read_as(own: Blueprint, other: Blueprint, verify: Verify) -> Outcome:
    """What would be found if all tensors of a blueprint were stored for another one."""
    entries, end = dict[str, Entry](), 0
    for one in own.tensors():
        begin, end = end, end + 2 * int(prod(one.shape))
        entries[one.name] = Entry("BF16", tuple(map(int, one.shape)), begin, end)
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
