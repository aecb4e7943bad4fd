"""Plans which repairs are made and which only offered; none may cause a new difference."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from hfcount.checkpoints.forms import container_of
from hfcount.errors import HfcountError
from hfcount.fetcher.folder import read_folder
from hfcount.fetcher.interface import Documents
from hfcount.fetcher.layout import PIPELINE_LAYOUT
from hfcount.mapper.whatif import Changes
from hfcount.repair.adapters import AdapterState, adapter_names, adapter_state
from hfcount.repair.configs import asked_for, counted, sized, tied, typed, unannounced, unpacked
from hfcount.repair.exclusions import compressed, excluded
from hfcount.repair.indexes import dispensed, recounted, rewritten
from hfcount.repair.loader_keys import agreed, fitted_to_loader
from hfcount.repair.names import respelled, unwrapped
from hfcount.repair.pickled_index import reindexed
from hfcount.repair.proof import objections, remaining, unfinished
from hfcount.repair.state import TOTALS, Proposal, State
from hfcount.repair.working_copy import WorkingCopy
from hfcount.verifier.loaders.loader import Loader

REPAIRS: tuple[Callable[[State], Iterator[Proposal]], ...] = (
    dispensed,
    rewritten,
    unwrapped,
    unpacked,
    compressed,
    excluded,
    counted,
    sized,
    tied,
    typed,
    recounted,
    reindexed,
    fitted_to_loader,
)
"""Repairs in order of trial: files, names, config, totals, and what a loader needs that is asked for."""

ASKED: tuple[Callable[[State], Iterator[Proposal]], ...] = (respelled, unannounced, agreed)
"""Repairs made only on request, since transformers loads the checkpoint as it is."""

_MOST = 8  # repairs of one folder


class RepairRequest(NamedTuple):
    """The user's request: codes of findings (all if empty), and values of config keys."""

    only: frozenset[str] = frozenset()
    chosen: Changes = MappingProxyType({})


@dataclass(slots=True)
class Plan:
    """Repairs that are proven or requested, in order.

    Args:
        before: the current state.
        after: the state after all steps.
        offers: further repairs on request; `doubt` says why each is not made by default.
    """

    before: State
    after: State
    steps: list[Proposal] = field(default_factory=list)
    offers: list[Proposal] = field(default_factory=list)


def read_state(folder: Path, base: str | None = None, loader: Loader | None = None) -> State:
    """The current state of a folder; raises as `planned` does."""
    documents = read_folder(folder, str(folder), "folder")
    place = documents.place if isinstance(documents, Documents) else documents
    container = container_of(place) if place else None
    if place and container and container.name == "adapter":
        return adapter_state(folder, place, base)
    if isinstance(documents, Documents) and documents.layout is not PIPELINE_LAYOUT and container is None:
        return State(WorkingCopy(folder, documents), loader=loader)
    from hfcount.repair.other_forms import refusal  # few folders hold what is not repaired

    raise refusal(folder, documents, container)


def planned(
    folder: Path,
    only: Collection[str] = (),
    chosen: Changes = MappingProxyType({}),
    base: str | None = None,
    loader: Loader | None = None,
) -> Plan:
    """Plans the repairs of a folder.

    Args:
        only: codes of findings to repair even without proof; all proven repairs if empty.
        chosen: values of config keys to set.
        base: the base model of an adapter.
        loader: a loader whose repairs are asked for, too.

    Raises:
        FetchError: the folder could not be read.
        UnknownArchitecture: no family describes the config.
        Unrepaired: it holds a form of which nothing is repaired, or several models.
    """
    first, wish = read_state(folder, base, loader), RepairRequest(frozenset(only), chosen)
    steps, last = _search(first, wish, _MOST)
    return Plan(first, last, steps, list(_offers(last)))


def _search(state: State, wish: RepairRequest, most: int) -> tuple[list[Proposal], State]:
    """Searches for steps that improve the folder, each or together, and the state after them."""
    stuck = set[str]()
    for proposal in _proposals(state, wish) if most else ():
        if stuck and stuck.isdisjoint(proposal.codes):
            continue  # what could not be ended in a whole checkpoint has to be ended in another way first
        after = state.with_changes(proposal.changes)
        if not _ends(proposal, after):
            continue
        doubts, asked = objections(state, proposal, after), bool(wish.only or proposal.chosen)
        if doubts and not asked:
            continue
        # What was hidden before may come to light, and be repaired in its turn.
        rest, last = _search(after, wish, most - 1)
        if remaining(last) and not asked:
            stuck |= proposal.codes
            continue  # nothing is changed unasked in a checkpoint that nobody can load even then
        if not state.worsens(last, TOTALS if asked else ()):
            return [replace(proposal, doubt=" ".join(doubts)), *rest], last
    return [], state


def _offers(state: State) -> Iterator[Proposal]:
    """Repairs on request, with the objections to each."""
    for find in _repairs(state, asked=True):
        for proposal in find(state):
            after = state.with_changes(proposal.changes)
            if _ends(proposal, after) and not state.worsens(after, TOTALS):
                doubts = objections(state, proposal, after) or unfinished(after)
                yield replace(proposal, doubt=" ".join(doubts))


def _ends(proposal: Proposal, after: State) -> bool:
    """Whether a repair removes its findings, by the headers of all files."""
    try:
        run = after.run
        known = run.blueprint is not None or run.evidence.contained is not None
        conclusive = known and run.evidence.depth == "headers" and run.evidence.unseen is None
        return conclusive and proposal.codes.isdisjoint(after.codes)
    except HfcountError:
        return False


def _repairs(state: State, asked: bool) -> Sequence[Callable[[State], Iterator[Proposal]]]:
    """The repairs for this kind of folder."""
    if isinstance(state, AdapterState):
        return (adapter_names,)
    return (*REPAIRS, *(ASKED if asked else ()))


def _proposals(state: State, wish: RepairRequest) -> Iterator[Proposal]:
    if not isinstance(state, AdapterState):
        yield from asked_for(state, wish.chosen)
    for find in _repairs(state, asked=bool(wish.only)):
        for proposal in find(state):
            if not wish.only or not wish.only.isdisjoint(proposal.codes):
                yield proposal
