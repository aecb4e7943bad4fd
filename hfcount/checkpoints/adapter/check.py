"""Compares a PEFT adapter with its base model."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from hfcount.architectures.families import tree
from hfcount.blueprints.blueprint import Blueprint
from hfcount.checkpoints.adapter.allowed import refusals
from hfcount.checkpoints.adapter.expected import ExpectedAdapter, expect, saved
from hfcount.checkpoints.adapter.findings import Differences, report
from hfcount.checkpoints.adapter.methods import METHODS, PROMPTS, Shape
from hfcount.checkpoints.adapter.modules import Era, modules
from hfcount.checkpoints.adapter.names import StoredNames, read_names
from hfcount.checkpoints.adapter.old_names import are_kept, is_kept, is_recorded
from hfcount.checkpoints.adapter.prompts import completed, of_another_base, prompt_shape
from hfcount.checkpoints.adapter.rewrite import CONVERTED, REWRITES
from hfcount.checkpoints.adapter.settings import ADAPTER_CONFIG, Settings
from hfcount.checkpoints.adapter.targets import Refused, Unread
from hfcount.errors import ConfigError
from hfcount.spec import Head
from hfcount.spec.tree.spellings import Spellings
from hfcount.text import printable
from hfcount.verifier.finding import Finding
from hfcount.verifier.rules.hf733_setting_refused import SettingRefused

_HEADS: Mapping[str, Sequence[Head]] = {
    "CAUSAL_LM": ("causal_lm",),
    "SEQ_CLS": ("sequence_classification",),
    "TOKEN_CLS": ("token_classification",),
    "QUESTION_ANS": ("question_answering",),
    "SEQ_2_SEQ_LM": ("conditional_generation", "speech_to_text"),
    "FEATURE_EXTRACTION": ("base",),
}
"""The heads of the class that PEFT's task types are loaded into."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of comparing an adapter with its base.

    Args:
        findings: the differences.
        unread: why it was not compared, or not whole; empty if it was.
        kind: that in one word.
        base_parameters: elements of the base.
        adapted: how many modules and parameters of the base it adapts.
        expected: how many tensors the settings demand.
        matched: how many of those are stored.
    """

    findings: Sequence[Finding]
    unread: str
    kind: str
    base_parameters: int
    adapted: int
    expected: int
    matched: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A way to read the base: the class that it is loaded as, and the era of its names."""

    base: Blueprint
    era: Era


def compare(settings: Settings, stored: Mapping[str, Shape], base: Blueprint) -> Result:
    """Compares an adapter with its base.

    Args:
        stored: the shapes of its tensors, in elements, by name.
    """
    try:
        if settings.method not in METHODS and settings.method not in PROMPTS:
            raise Unread(f"hfcount does not know the PEFT method {printable(settings.method)}", "MethodUnknown")
        if settings.method in PROMPTS:
            return _result(base, _compare_prompt(settings, stored, base))
        return _result(base, _compare_modules(settings, stored, base))
    except Unread as error:
        return _result(base, (report_alone(settings, stored), str(error), ExpectedAdapter()), error.kind)


def report_alone(settings: Settings, stored: Mapping[str, Shape]) -> list[Finding]:
    """The findings about an adapter that need no base."""
    if (stored and settings.method in PROMPTS) or settings.is_of_mlx:
        return []
    findings = report(Differences(settings, read_names(stored), stored, ExpectedAdapter()))
    return [finding for finding in findings if finding.code in ("HF720", "HF722", "HF728")]


def refused_settings(settings: Settings) -> list[Finding]:
    """The settings that PEFT refuses, whatever the base is."""
    return [SettingRefused(file=ADAPTER_CONFIG, **refusal._asdict()) for refusal in refusals(settings)]


def _result(base: Blueprint, compared: tuple[list[Finding], str, ExpectedAdapter], kind: str = "NotCompared") -> Result:
    findings, unread, expected = compared
    count = len(expected.tensors) + len(expected.shared)
    lost = sum(finding.count for finding in findings if finding.code == "HF724")
    return Result(findings, unread, kind, base.total, expected.adapted, count, count - lost)


def _compare_modules(
    settings: Settings, stored: Mapping[str, Shape], base: Blueprint
) -> tuple[list[Finding], str, ExpectedAdapter]:
    named = read_names(stored)
    best: tuple[int, Differences, _Candidate] | None = None
    refused: Refused | None = None
    for candidate in _candidates(settings, base):
        try:
            differences = _differences(settings, named, stored, candidate)
        except Refused as error:
            refused = refused or error
            continue
        if best is None or differences.number < best[0]:
            best = differences.number, differences, candidate
        if not best[0]:
            break
    if best is None:
        differences = Differences(settings, named, stored, ExpectedAdapter(), refused=str(refused))
        return report(differences), "", ExpectedAdapter()
    _, differences, candidate = best
    head = candidate.base.spec.head
    if head not in (base.spec.head, "base"):
        differences.other_head = head
    if inside := _undescribed(named, base):
        return report(differences), inside, differences.expected
    return report(differences), "", differences.expected


def _undescribed(named: StoredNames, base: Blueprint) -> str:
    """Why a part of the base that the adapter names is not compared; empty if it is."""
    for prefix in base.unmodeled:
        if any(name.startswith(prefix) or f".{prefix}" in name for name in named.names):
            return f"the adapter is for {printable(prefix)} of the base, which hfcount does not know"
    return ""


def _candidates(settings: Settings, base: Blueprint) -> Iterator[_Candidate]:
    """The ways to read the base, the likeliest first."""
    heads: list[Head] = [base.spec.head]
    heads += [head for head in _HEADS.get(settings.task or "", ("base",)) if head in base.spec.heads]
    if (settings.task or "") in ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS", "FEATURE_EXTRACTION"):
        heads = heads[1:] + heads[:1]
    for head in dict.fromkeys(heads):
        if (loaded := _loaded_as(base, head)) is not None:
            for era in _eras(settings, base.spec.family):
                yield _Candidate(loaded, era)


def _eras(settings: Settings, family: str) -> Sequence[Era]:
    """The eras whose names PEFT takes: old ones where it joins experts that have them, or where that is not known."""
    joins = settings.method == "LORA" and family in REWRITES
    return get_args(Era) if joins or not is_recorded(family) else ("memory",)


def _conversion(settings: Settings, family: str, spellings: Spellings) -> Callable[[str], str]:
    """What PEFT makes of the name of a tensor."""
    if settings.method != "LORA" or are_kept(family):
        return str

    def converted(name: str) -> str:
        return name if is_kept(family, name.partition(".lora_")[0]) else spellings.common(name)

    return converted


def _loaded_as(base: Blueprint, head: Head) -> Blueprint | None:
    """The base as a class with that head loads it; None where that is not described."""
    if head == base.spec.head:
        return base
    spec = base.spec.replace(head=head)
    try:
        return base.replace(spec=spec, tree=tree(spec))
    except ConfigError:
        return None


def _differences(
    settings: Settings, named: StoredNames, stored: Mapping[str, Shape], candidate: _Candidate
) -> Differences:
    """The differences from one way to read the base."""
    spec = candidate.base.spec
    spellings = candidate.base.spellings
    inside = modules(spellings, candidate.era, candidate.base.leaves)
    rewrite = REWRITES.get(spec.family) if candidate.era == "memory" and settings.method == "LORA" else None
    expected = expect(settings, inside, rewrite, spec.vocab)
    converts = settings.method == "LORA" and spec.family in CONVERTED
    differences = Differences(settings, named, stored, expected, modules=inside, vocab=spec.vocab, converts=converts)
    differences.hold(_conversion(settings, spec.family, spellings))
    return differences


def _compare_prompt(
    settings: Settings, stored: Mapping[str, Shape], base: Blueprint
) -> tuple[list[Finding], str, ExpectedAdapter]:
    best: Differences | None = None
    settings = completed(settings, base)
    for candidate in _candidates(settings, base):
        differences = _prompt_differences(settings, stored, candidate)
        if best is None or differences.number < best.number:
            best = differences
        if not best.number:
            break
    assert best is not None  # the base itself is a candidate
    if not best.number and (reason := of_another_base(settings, base)):
        best.refused = reason
    return report(best), "", best.expected


def _prompt_differences(settings: Settings, stored: Mapping[str, Shape], candidate: _Candidate) -> Differences:
    """The differences from the prompt of the settings, and from the head that is stored with it."""
    base, head = candidate.base, ExpectedAdapter()
    saved(settings, modules(base.spellings, candidate.era, base.leaves), head)
    shared = {f"base_model.{name}": shape for name, shape in head.tensors.items()}
    heads = {f"base_model.{name}" for name in head.heads}
    expected = ExpectedAdapter(shared={"prompt_embeddings": prompt_shape(settings), **shared}, heads=heads)
    differences = Differences(settings, StoredNames({}, {name: name for name in stored}, "", 0), stored, expected)
    differences.hold(str)
    return differences
