"""Summarizes the rows of a sweep: counts by verdict, finding, family and scheme, the worst repos, a digest."""

from bisect import insort
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, get_args

from hfcount.sweeping import rows
from hfcount.sweeping.bases import Sameness
from hfcount.sweeping.parts import kind_of, read
from hfcount.verifier.rules import RULES

WORST, SHOWN = 25, 20
"""The most repos, and families, in a list."""

_BITS = 256
_UNCOMPARED = "not compared"
_WEIGHTS = (*get_args(Sameness), _UNCOMPARED)


@dataclass(slots=True)
class Summary:
    """Counts of checkpoints, each by its latest row.

    Args:
        versions: of hfcount, and how many rows are of each.
        digest: of all rows, whatever their order.
        findings: by code: checkpoints that have it, and how often it is found in all.
        reasons: why checkpoints were skipped or could not be judged.
        families, schemes: verdicts of each.
        bases: by how checkpoints were made of the bases that they name: what is known of their weight files.
        copies: checkpoints with weight files that are all a base's, and that base; the first by their names.
        worst: those with the most errors: how many, the model, its family and the codes.
    """

    versions: Counter[str] = field(default_factory=Counter)
    digest: str = ""
    kind: str = "parquet"
    total: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Counter[str]] = field(default_factory=dict)
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    families: dict[str, Counter[str]] = field(default_factory=dict)
    schemes: dict[str, Counter[str]] = field(default_factory=dict)
    bases: dict[str, Counter[str]] = field(default_factory=dict)
    copies: list[tuple[str, str]] = field(default_factory=list)
    worst: list[tuple[int, str, str, str]] = field(default_factory=list)


def summed(out: Path) -> Summary:
    """The summary of a folder, read a few rows at a time.

    Raises:
        SweepError: a part cannot be read.
    """
    summary = Summary(kind=kind_of(out))
    digest, worst = 0, list[tuple[int, str, str, str]]()
    for row in read(out):
        digest = (digest + int.from_bytes(sha256(rows.encoded(row)).digest())) % (1 << _BITS)
        _count(summary, row, worst)
    summary.digest = f"{digest:064x}"
    summary.worst = sorted(worst, key=lambda entry: (-entry[0], entry[1]))
    return summary


def tables(summary: Summary) -> Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]:
    """A title, the head and the rows of each table."""
    share: list[tuple[object, ...]] = [
        (name, count, f"{100 * count / max(summary.total, 1):.1f} %") for name, count in summary.verdicts.most_common()
    ]
    yield "Verdicts", ("verdict", "checkpoints", "share"), share
    counts = summary.findings
    codes = sorted(counts.keys() & RULES.keys(), key=lambda code: (-counts[code]["checkpoints"], code))
    codes_rows = [(code, RULES[code].name, counts[code]["checkpoints"], counts[code]["found"]) for code in codes]
    yield "Findings", ("code", "name", "checkpoints", "findings"), [*codes_rows]
    reasons = [(verdict, reason, count) for (verdict, reason), count in summary.reasons.most_common()]
    yield "Skipped, or could not be verified", ("verdict", "reason", "checkpoints"), [*reasons]
    for title, name, groups in (("Families", "family", summary.families), ("Schemes", "scheme", summary.schemes)):
        verdicts = [verdict for verdict in summary.verdicts if any(verdict in group for group in groups.values())]
        lines = [(label, group.total(), *(group[verdict] for verdict in verdicts)) for label, group in largest(groups)]
        yield title, (name, "checkpoints", *verdicts), [*lines]
    words = [word for word in _WEIGHTS if any(word in group for group in summary.bases.values())]
    named = [(label, group.total(), *(group[word] for word in words)) for label, group in largest(summary.bases)]
    yield "Named base models, and weight files identical to theirs", ("relation", "named", *words), [*named]
    yield "Checkpoints whose weight files are all those of the base", ("model", "base"), [*summary.copies]
    yield (
        "The most errors",
        ("model", "family", "errors", "codes"),
        [(model, family, errors, codes) for errors, model, family, codes in summary.worst],
    )


def largest(groups: Mapping[str, Counter[str]]) -> list[tuple[str, Counter[str]]]:
    """The groups with the most checkpoints, and what is left as one."""
    ordered = sorted(groups.items(), key=lambda item: (-item[1].total(), item[0]))
    rest = sum((group for _, group in ordered[SHOWN:]), Counter[str]())
    return ordered[:SHOWN] + ([(f"{len(ordered) - SHOWN:,} others", rest)] if rest else [])


def contradicted(out: Path) -> Iterator[str]:
    """The checkpoints that contradict their config, with the errors."""
    for row in read(out, ("model", "verdict", "findings")):
        if row["verdict"] == "mismatch":
            errors = [
                f"{finding['code']} {finding['message']}"
                for finding in row["findings"]
                if finding["severity"] == "error"
            ]
            yield f"{row['model']}: {' '.join(errors)}"


def _count(summary: Summary, row: Mapping[str, Any], worst: list[tuple[int, str, str, str]]) -> None:
    verdict, codes = row["verdict"], [finding["code"] for finding in row["findings"] or ()]
    summary.total += 1
    summary.versions[row["version"]] += 1
    summary.verdicts[verdict] += 1
    for code in codes:
        summary.findings.setdefault(code, Counter())["found"] += 1
    for code in set(codes):
        summary.findings[code]["checkpoints"] += 1
    if row["reason"]:
        summary.reasons[verdict, row["reason"]] += 1
    for groups, name in ((summary.families, row["family"]), (summary.schemes, row["scheme"])):
        if name:
            groups.setdefault(name, Counter())[verdict] += 1
    _count_bases(summary, row)
    if row["errors"]:
        errors = sorted({finding["code"] for finding in row["findings"] if finding["severity"] == "error"})
        entry = (row["errors"], row["model"], row["family"] or "", " ".join(errors))
        heappush(worst, entry)
        if len(worst) > WORST:
            heappop(worst)


def _count_bases(summary: Summary, row: Mapping[str, Any]) -> None:
    for base in row["bases"] or ():
        relation = base["relation"] or ("_name_or_path" if base["source"] == "config" else "not said")
        summary.bases.setdefault(relation, Counter())[base["weights"] or _UNCOMPARED] += 1
        if base["weights"] == "identical":
            insort(summary.copies, (row["model"], base["model"]))
            del summary.copies[WORST:]
