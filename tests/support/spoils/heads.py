"""The head of a model lost, another's, or a tied one stored."""

from random import Random

from tiny import Checkpoint, State, class_of, classes, saved

from spoils.edits import EMBEDDING, add, pick, rename, without

_HEADS = (
    *("lm_head.weight", "output.weight", "embed_out.weight", "score.weight", "classifier.weight", "head.weight"),
    *("model.lm_head.weight", "language_model.lm_head.weight", "lm_head.gamma", "lm_head.decoder.weight"),
)


def _head(c: Checkpoint) -> set[str]:
    """Tensors outside the base model."""
    base = getattr(class_of(c.config), "base_model_prefix", "")
    outside = {name for name in c.tensors if not name.startswith(f"{base}.")}
    return outside if base and len(outside) < len(c.tensors) else set()


def _other_head(c: Checkpoint, rng: Random) -> tuple[str, State] | None:
    """Another class of the type, and what it stores that this one does not."""
    names = [name for name in classes(c.config["model_type"]) if name not in c.config["architectures"]]
    for name in rng.sample(names, min(len(names), 3)):
        try:
            other = saved(c.config | {"architectures": [name], "tie_word_embeddings": False}, 5, 1)
        except Exception:  # transformers does not build every class of every config
            continue
        mine = {
            key: tensor for key, tensor in other.tensors.items() if key not in c.tensors and not EMBEDDING.search(key)
        }
        if mine:
            return name, mine
    return None


def drop_head(c: Checkpoint, rng: Random) -> str | None:
    return without(c, _head(c), f"the head {sorted(_head(c))[:2]}")


def add_head(c: Checkpoint, rng: Random) -> str | None:
    found = _other_head(c, rng)
    return add(c, found[1], f"besides what {found[0]} has: {list(found[1])[:2]}") if found else None


def change_head(c: Checkpoint, rng: Random) -> str | None:
    found, head = _other_head(c, rng), _head(c)
    if not found or not without(c, head, ""):
        return None
    return add(c, found[1], f"the head of {found[0]} in place of {sorted(head)[:2]}")


def rename_head(c: Checkpoint, rng: Random) -> str | None:
    head = {name for name in _head(c) if name.endswith("weight")}
    new = rng.choice(_HEADS)
    if not head or new in c.tensors:
        return None
    old = pick(rng, head)
    rename(c, lambda name: new if name == old else name)
    return f"{old} called {new}"


def store_tied(c: Checkpoint, rng: Random) -> str | None:
    """The head of a tied pair besides: a copy, or other values."""
    found = [name for name in c.tensors if EMBEDDING.search(name)]
    if len(found) != 1 or _head(c):
        return None
    copy, other = c.tensors[found[0]].clone(), rng.random() < 0.5
    said = f"lm_head.weight besides, {'not ' if other else ''}a copy of {found[0]}"
    return add(c, {"lm_head.weight": -copy if other else copy}, said)


def store_only_head(c: Checkpoint, rng: Random) -> str | None:
    """Of a tied pair, the head's name alone."""
    found = [name for name in c.tensors if EMBEDDING.search(name)]
    if len(found) != 1 or "lm_head.weight" in c.tensors:
        return None
    rename(c, lambda name: "lm_head.weight" if name == found[0] else name)
    return f"{found[0]} called lm_head.weight"


KINDS = (drop_head, add_head, change_head, rename_head, store_tied, store_only_head)
