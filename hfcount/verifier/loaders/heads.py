"""Says what version 4 of transformers makes of heads over the vocabulary, which it ties by the flag alone."""

from collections.abc import Iterator

from hfcount.mapper.loader_differences import OLDER, TIE, older_flag
from hfcount.spec.tree.leaves import Leaf
from hfcount.verifier.loaders.facts import Facts
from hfcount.verifier.loaders.loader import Checkpoint, Difference


def over_vocabulary(checkpoint: Checkpoint) -> list[Leaf]:
    """The heads over the vocabulary that the config describes."""
    leaves = checkpoint.blueprint.leaves if checkpoint.blueprint else ()
    return [leaf for leaf in leaves if leaf.component == "lm_head" and leaf.count and len(leaf.shape) == 2]


def is_tied(recorded: Facts, checkpoint: Checkpoint) -> bool | None:
    """Whether version 4 ties the head to the embedding; None if that is not known."""
    if checkpoint.blueprint is None or not checkpoint.class_name:
        return None
    nested = [tie.tied for tie in checkpoint.blueprint.ties_otherwise if tie.reader == OLDER]
    if nested:
        return nested[0]
    flag = older_flag(checkpoint.values, checkpoint.kind)
    return None if flag is None else flag and checkpoint.class_name in recorded.ties


def copies(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """A stored head that version 4 ties to the embedding: no loss where both were compared, and are the same."""
    uncompared = any(checkpoint.copies(head.first) is None for head in over_vocabulary(checkpoint))
    if uncompared and is_tied(recorded, checkpoint):
        yield "unknown", "ties the head to the embedding, and drops the stored one, which was not compared", ("HF203",)


def differences(recorded: Facts, checkpoint: Checkpoint) -> Iterator[Difference]:
    """What version 4 makes of a head that it ties and the newest does not, or the other way round."""
    found, tied = over_vocabulary(checkpoint), is_tied(recorded, checkpoint)
    codes = checkpoint.codes & {"HF112", "HF213"}
    if "HF213" in codes and tied is not False:
        yield "differs", "ties the head to the embedding, and drops the one that is stored", ("HF213",)
    if "HF214" in checkpoint.codes and not tied:
        yield "differs", f"has a head of its own by {TIE}, which is not stored and is random", ("HF214",)
    if not found or tied is None or checkpoint.blueprint is None or tied == checkpoint.blueprint.spec.tied:
        return
    stored = any(checkpoint.has(leaf.name) for leaf in found)
    if tied and stored and "HF203" not in checkpoint.codes:
        yield "differs", f"ties the head to the embedding by {TIE}, and drops the one that is stored", tuple(codes)
    elif not tied and not stored and checkpoint.is_listed:
        yield "differs", f"has a head of its own by {TIE}, which is not stored and is random", tuple(codes)
