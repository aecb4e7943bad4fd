"""Checks config keys by which versions of transformers, and vLLM, build different models."""

from collections.abc import Mapping, Sequence
from typing import Any

from hfcount.architectures import families
from hfcount.fetcher.layout import CONFIG
from hfcount.mapper.loader_differences import NEWER, OLDER, TIE, VLLM, RotaryDifference, TieDifference
from hfcount.spec.tree.leaves import Leaf, leaves
from hfcount.verifier.comparison import Comparison
from hfcount.verifier.findings import Outcome
from hfcount.verifier.ties import CopyState, alike

_TEXT = "text_config"
_RANDOM = "it has its own head, which is not stored and is filled with random values"
_LOSES = "it has one matrix for both, so one of the two stored ones is lost"
_WHOLE = "it has one matrix for both and needs no head"
_OWN = "it has its own head, the stored one"
_OTHER = "it is another model"


def check_readers(c: Comparison, outcome: Outcome) -> None:
    """HF112, ties; HF113, settings of rotary positions."""
    if c.blueprint.ties_otherwise:
        _ties(c, outcome)
    refused = [problem.key for problem in c.blueprint.problems if problem.code == "HF110" and problem.key]
    for other in c.blueprint.rotary_otherwise:
        if any(f"{key}.".startswith(f"{other.key}.") or other.key.startswith(f"{key}.") for key in refused):
            continue  # what the newer refuses, it does not take
        from hfcount.verifier.rules.hf113_rotary_settings_moved import RotarySettingsMoved

        outcome.report(
            RotarySettingsMoved(
                expected=other.newer,
                observed=other.taken,
                key=other.key,
                file=CONFIG,
                fix=f"Write {_written(other.writes)}, too: hfcount fix --only HF113 does it." if other.writes else None,
                statement=f"{_agreeing(other)} {_value(other.newer)} for {other.key}; {OLDER} reads only"
                f" {other.older}, uses {_value(other.taken)} and computes something else.",
                writes=other.writes,
            )
        )


def _agreeing(other: RotaryDifference) -> str:
    """Who takes what the newer does, and the verb."""
    return f"{NEWER} and {VLLM} use" if other.of_vllm else f"{NEWER} uses"


def check_moved(c: Comparison, outcome: Outcome) -> None:
    """HF112, sizes at the top level where text_config is absent; after all that compares names, shapes and bytes."""
    moved, known = c.blueprint.moved, c.names is not None
    if moved is None:
        return
    # What fits the defaults is meant so; else version 4 has saved it, and the sizes are those that it took.
    fits = known and not any(finding.severity == "error" for finding in outcome.findings)
    tie = {name: value for name, value in moved.beside.items() if name == TIE}
    writes = {_TEXT: {**moved.newer, **tie} if fits else {**moved.taken, **moved.beside}} if known else {}
    key = next(iter(moved.taken))
    from hfcount.verifier.rules.hf112_readers_disagree import ReadersDisagree

    outcome.report(
        ReadersDisagree(
            expected=moved.newer[key],
            observed=moved.taken[key],
            key=key,
            file=CONFIG,
            fix="Write text_config: hfcount fix --only HF112 does it." if writes else None,
            statement=f"There is no text_config: {NEWER} uses its defaults {_listed(moved.newer)}; {OLDER} reads"
            f" {_listed(moved.taken)} from the top level, so it builds another model.",
            writes=writes,
        )
    )


def _ties(c: Comparison, outcome: Outcome) -> None:
    head, table = _pair(c)
    if head is None:
        return
    state, stored = _stored(c, outcome, head, table)
    # By vLLM, a stored head is the head, whatever the top level says.
    readers = [tie for tie in c.blueprint.ties_otherwise if not stored or tie.reader != VLLM or tie.place != TIE]
    # Where both are alike, or may be, whoever ties it and whoever does not computes the same.
    if readers and not (stored and (state == "alike" or (c.blueprint.spec.tied and state == "unknown"))):
        _report_ties(c, readers, head, stored, outcome)


def _report_ties(c: Comparison, readers: Sequence[TieDifference], head: Leaf, stored: bool, outcome: Outcome) -> None:
    from hfcount.verifier.rules.hf112_readers_disagree import ReadersDisagree

    tied, shared, writes = c.blueprint.spec.tied, not stored, dict[str, Any]()
    if c.names is not None:
        absent = next((tie.absent for tie in readers if tie.absent is not None), None)
        inner = {f"{_TEXT}.{TIE}": shared} if absent is None else {_TEXT: {**absent, TIE: shared}}
        writes = {**inner, TIE: shared}
    parts = [f"{NEWER} {'ties the head to' if tied else 'does not tie the head to'} the embedding"]
    if stored and tied:
        parts[0] += " by this config, but loads the stored head all the same, since it differs"
    effect = ((_OWN if stored else _RANDOM) if tied else (_LOSES if stored else _WHOLE)) if writes else _OTHER
    for place in dict.fromkeys(tie.place for tie in readers):
        asking = [tie.reader for tie in readers if tie.place == place]
        verb = "asks" if len(asking) == 1 else "ask"
        parts.append(f"by {place}, which {' and '.join(asking)} {verb}, {effect}")
    outcome.report(
        ReadersDisagree(
            expected=tied,
            observed=not tied,
            key=readers[0].place,
            file=CONFIG,
            tensors=(head.name,),
            count=int(stored),
            parameters=head.size if stored else 0,
            bytes=c.bytes(head, 1) if stored else 0,
            fix=f"Set {TIE} to {_value(shared)} at both levels: hfcount fix --only HF112 does it." if writes else None,
            statement=f"{'; '.join(parts)}.",
            writes=writes,
        )
    )


def _pair(c: Comparison) -> tuple[Leaf | None, str]:
    """The head over the vocabulary, None if there is none, and the name of the embedding that it may be tied to."""
    spec = c.blueprint.spec
    known = c.blueprint.leaves if spec.tied else leaves(families.tree(spec.replace(tied=True)))
    shared = next(
        (leaf for leaf in known if leaf.tied_to and leaf.component == "lm_head" and leaf.presence != "obsolete"), None
    )
    if shared is None:
        return None, ""
    head = next((leaf for leaf in c.blueprint.leaves if leaf.name == shared.name), None)
    return head, shared.tied_to or ""


def _stored(c: Comparison, outcome: Outcome, head: Leaf, table: str) -> tuple[CopyState, bool]:
    """Whether it is known to be a copy of the embedding, and whether it is stored."""
    if c.names is None:
        return "unknown", False
    stored = any(leaf is head and count for leaf, count in c.match.listed)
    return (alike(c, outcome, head, table) if stored else "unknown"), stored


def _value(value: Any) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else f"{value:,}" if type(value) in (int, float) else str(value)
    )


def _written(writes: Mapping[str, Any]) -> str:
    return " and ".join(name if isinstance(new, dict) else f"{name} {_value(new)}" for name, new in writes.items())


def _listed(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in sizes.items())
