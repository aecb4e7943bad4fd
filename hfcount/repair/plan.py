"""Which repairs are proven: after them nothing differs that differed, and nothing else does that did not."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from hfcount.errors import HfcountError
from hfcount.fetcher.folder import read_folder
from hfcount.mapper.whatif import Changes
from hfcount.repair.configs import asked_for, counted, sized, tied, typed, unannounced, unpacked
from hfcount.repair.draft import Draft
from hfcount.repair.exclusions import excluded
from hfcount.repair.indexes import dispensed, recounted, rewritten
from hfcount.repair.names import doubled, respelled, unwrapped
from hfcount.repair.readers import agreed
from hfcount.repair.state import Proposal, State

REPAIRS: tuple[Callable[[State], Iterator[Proposal]], ...] = (
    dispensed,
    rewritten,
    unwrapped,
    doubled,
    unpacked,
    excluded,
    counted,
    sized,
    tied,
    typed,
    recounted,
)
"""What may be done, in the order in which it is tried: which files there are, names, the config, sums."""

ASKED: tuple[Callable[[State], Iterator[Proposal]], ...] = (respelled, unannounced, agreed)
"""What is done only where its finding is asked for: nothing is wrong for transformers, or another cure may be meant."""

_MOST = 8  # repairs of one folder


@dataclass(slots=True)
class Plan:
    """The repairs that are proven, in their order.

    Args:
        before: the folder as it is.
        after: the folder as it would be.
    """

    before: State
    after: State
    steps: list[Proposal] = field(default_factory=list)


def found(folder: Path) -> State:
    """A folder as it is; raises as `planned` does."""
    return State(Draft(folder, read_folder(folder, str(folder), "folder")))


def planned(folder: Path, only: Collection[str] = (), chosen: Changes = MappingProxyType({})) -> Plan:
    """The proven repairs of a folder.

    Args:
        only: codes of findings to repair; all when empty.
        chosen: values of config keys to take where several would fit.

    Raises:
        FetchError: the folder could not be read.
        UnknownArchitecture: no family describes the config.
    """
    first = found(folder)
    steps, last = _search(first, frozenset(only), chosen, _MOST)
    return Plan(first, last, steps)


def _search(state: State, only: frozenset[str], chosen: Changes, most: int) -> tuple[list[Proposal], State]:
    """Repairs after each of which, or after all of which, the folder is better; and what it is then."""
    for proposal in _proposals(state, only, chosen) if most else ():
        after = state.with_changes(proposal.changes)
        if not _ends(proposal, after):
            continue
        # What was hidden before may come to light, and be repaired in its turn.
        rest, last = _search(after, only, chosen, most - 1)
        if not state.worsens(last):
            return [proposal, *rest], last
    return [], state


def _ends(proposal: Proposal, after: State) -> bool:
    """Whether what a repair is to end is gone, by the headers of all files."""
    try:
        run = after.run
        seen = run.blueprint is not None and run.depth == "headers" and run.unseen is None
        return seen and proposal.codes.isdisjoint(after.codes)
    except HfcountError:
        return False


def _proposals(state: State, only: frozenset[str], chosen: Changes) -> Iterator[Proposal]:
    yield from asked_for(state, chosen)
    for find in (*REPAIRS, *(ASKED if only else ())):
        for proposal in find(state):
            if not only or not only.isdisjoint(proposal.codes):
                yield proposal
