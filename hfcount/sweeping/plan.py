"""Estimates the requests, hours and bytes of a sweep before it runs."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hfcount.fetcher import module_files
from hfcount.fetcher.companions import companions
from hfcount.fetcher.interface import top_level
from hfcount.fetcher.ranges import PREFETCH
from hfcount.fetcher.weights import pickled_names
from hfcount.sweeping import sources
from hfcount.sweeping.shard import Shard
from hfcount.sweeping.sources_spec import PAGE, Collection, Listing
from hfcount.sweeping.tiers import TIERS, WINDOW

if TYPE_CHECKING:
    from hfcount.sweeping.run import Source

REPOS = 2_200_000
"""Models on the Hub, in 2026."""

LOOKED, KNOWN, SHARDED = 0.45, 0.85, 0.30
"""Assumed shares: repos with a config and safetensors; of these, those of a known type; of these, those in shards."""

NAMING, PER_BASE = 0.50, 0.10
"""Assumed, where bases are compared: the share of repos looked at that name one, and bases for each of these."""

_CONFIG, _INDEX, _ENTRY = 2_000, 240_000, 1_000  # assumed bytes of a config, of an index, of a repo in a listing
_ROW = 45  # bytes of a row in Parquet
_RATE = 300  # checkpoints per second of a processor


@dataclass(frozen=True, slots=True)
class Plan:
    """The size of a sweep.

    Args:
        repos: checkpoints that get a row.
        looked: checkpoints that are inspected.
        api: API requests, without pages of listings.
        files: file requests.
        bytes: bytes read from the Hub.
        pages: pages of listings, each an API request for each shard.
    """

    repos: int = 0
    looked: int = 0
    api: int = 0
    files: int = 0
    bytes: int = 0
    pages: int = 0

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(*(getattr(self, name) + getattr(other, name) for name in Plan.__slots__))

    def hours(self, tier: str) -> tuple[float, float]:
        """The hours for API and for file requests within the limits of a tier."""
        limits = TIERS[tier]
        return (self.api + self.pages) / limits.api * WINDOW / 3600, self.files / limits.files * WINDOW / 3600


def assumed(repos: int, listed: bool = True) -> Plan:
    """The estimate for a number of unknown repos.

    Each inspected repo takes two file requests: its config, and its index or the header of its only file. Sizes to
    compare an index with take an API request.

    Args:
        listed: whether a listing describes them first; else each takes an API request.
    """
    looked = round(repos * LOOKED * KNOWN) if listed else repos
    sharded = round(looked * SHARDED)
    pages = ceil(repos / PAGE) if listed else 0
    size = looked * _CONFIG + sharded * _INDEX + (looked - sharded) * PREFETCH + repos * _ENTRY
    return Plan(repos, looked, sharded if listed else repos, 2 * looked, size, pages)


def planned(wanted: "Iterable[Source]", shard: Shard | None = None, bases: bool = False) -> Plan:
    """The estimate for sources, or a shard of them.

    Authors and collections are listed for it; there are no other requests.

    Args:
        bases: whether weight files are compared with those of bases.
    """
    plan = Plan()
    for source in wanted:
        plan += _plan(source, bases)
    if shard:
        share = Plan(*(ceil(getattr(plan, name) / shard.of) for name in Plan.__slots__))
        plan = replace(share, pages=plan.pages)
    return plan


def lines(plan: Plan, tier: str | None) -> Iterator[str]:
    """An estimate as text; the hours are those of a tier, or of all."""
    yield f"{plan.repos:,} checkpoints, {plan.looked:,} to look at"
    yield f"requests: {plan.api + plan.pages:,} of the API, {plan.files:,} of files"
    yield f"bytes: {_size(plan.bytes)} read, {_size(plan.repos * _ROW)} of rows"
    yield f"processor: {plan.looked / _RATE / 3600:,.1f} hours of one core"
    if plan.files:
        for name in [tier] if tier else TIERS:
            api, files = plan.hours(name)
            yield f"{name}: {max(api, files):,.1f} hours ({api:,.1f} for the API, {files:,.1f} for files)"


def as_object(plan: Plan, tier: str | None) -> dict[str, Any]:
    """An estimate as JSON has it: `api` and `files` are requests, `core_hours` and `hours` are hours."""
    hours = {name: round(max(plan.hours(name)), 2) for name in ([tier] if tier else TIERS)} if plan.files else {}
    return {
        "checkpoints": plan.repos,
        "looked_at": plan.looked,
        "api": plan.api + plan.pages,
        "files": plan.files,
        "bytes": plan.bytes,
        "core_hours": round(plan.looked / _RATE / 3600, 2),
        "hours": hours,
    }


def _plan(source: "Source", bases: bool) -> Plan:
    if isinstance(source, str | os.PathLike):
        count = sum(1 for _ in sources.tree(Path(source)))
        return Plan(count, count, api=count if bases else 0)
    if isinstance(source, Collection) or (isinstance(source, Listing) and source.author):
        return _listed(source, bases)
    if isinstance(source, Listing):
        plan = assumed(source.limit or REPOS)
        further = (1 - SHARDED) + PER_BASE  # for the checksums of the repo itself, and of its base
        return plan + Plan(api=round(plan.looked * NAMING * further) if bases else 0)
    tasks: Sequence[bool] = [sources.is_local(task) for task in sources.models(source)]
    plan = Plan(sum(tasks), sum(tasks)) + assumed(len(tasks) - sum(tasks), listed=False)
    return plan + Plan(api=len(tasks) if bases else 0)


def _listed(source: Listing | Collection, bases: bool) -> Plan:
    """The estimate for a listing or collection."""
    from hfcount.sweeping.listing import Hub  # which brings in an HTTP client
    from hfcount.sweeping.quota import Quota

    plan, hub, named = Plan(), Hub(Quota()), set[str]()
    try:
        for task in hub.screened(source):
            plan += Plan(1, bytes=_ENTRY)
            if task.request is not None:
                plan += Plan(0, 1, 1, 2, _CONFIG + _INDEX) if task.cost else _known(task.request.files or {})
                if bases and task.bases:
                    named.update(base.model for base in task.bases)
                    plan += Plan(api=not task.cost)
    finally:
        hub.close()
    return plan + Plan(api=len(named), pages=ceil(plan.repos / PAGE) or 1)


def _known(files: Mapping[str, int | None]) -> Plan:
    """The estimate for a repo without an index."""
    shards = sum(name.endswith(".safetensors") for name in top_level(files))
    documents = 1 + len(companions(files)) + module_files.most(files)
    ranges = shards + 2 * len(pickled_names(files))
    return Plan(0, 1, 0, documents + ranges, documents * _CONFIG + ranges * PREFETCH)


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 5e7 else f"{count / 1e6:,.1f} MB"
