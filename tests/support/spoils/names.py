"""Tensors lost, added or under other names; the index is written again, as by whoever saves them so."""

import re
from random import Random

from tiny import Checkpoint, class_of

from spoils.edits import EMBEDDING, add, pick, rename, without

_PREFIXES = (
    *("model.", "transformer.", "language_model.", "model.language_model.", "backbone.", "encoder.", "decoder."),
    *("bert.", "roberta.", "base_model.", "text_model.", "vision_tower.", "vision_model.", "thinker."),
)
_WRAPPERS = (
    *("_orig_mod.", "module.", "_fsdp_wrapped_module.", "base_model.model.", "pretrained_model.", "_forward_module."),
)


def stack_of(c: Checkpoint, rng: Random) -> tuple[str, int] | None:
    """What stands before the layers' numbers, `model.layers.`, and the last number."""
    numbers: dict[str, int] = {}
    for name in c.tensors:
        if found := re.match(r"(.*?\.)(\d+)\.", name):
            numbers[found[1]] = max(numbers.get(found[1], 0), int(found[2]))
    return rng.choice(sorted(numbers.items())) if numbers else None


def _parts(c: Checkpoint) -> list[str]:
    """Modules that hold tensors, `model.layers.0.`."""
    modules = [name.split(".")[:-1] for name in c.tensors]
    return sorted({".".join(one[:depth]) + "." for one in modules for depth in range(1, min(len(one), 4) + 1)})


def drop(c: Checkpoint, rng: Random) -> str | None:
    gone = pick(rng, c.tensors)
    return without(c, {gone}, gone)


def drop_part(c: Checkpoint, rng: Random) -> str | None:
    part = pick(rng, _parts(c))
    return without(c, {name for name in c.tensors if name.startswith(part)}, f"{part}*")


def drop_layer(c: Checkpoint, rng: Random) -> str | None:
    if not (stack := stack_of(c, rng)):
        return None
    layer = f"{stack[0]}{rng.randint(0, stack[1])}."
    return without(c, {name for name in c.tensors if name.startswith(layer)}, f"{layer}*")


def drop_embedding(c: Checkpoint, rng: Random) -> str | None:
    found = {name for name in c.tensors if EMBEDDING.search(name)}
    return without(c, found, str(sorted(found)))


def misspell(c: Checkpoint, rng: Random) -> str:
    """One tensor under another name."""
    old = pick(rng, c.tensors)
    segments = old.split(".")
    at = rng.choice([number for number, one in enumerate(segments) if not one.isdigit()])
    one = segments[at]
    spelt = rng.choice([one.upper(), one + "s", one[:-1], one.replace("_", ""), one + "_orig", f"{one}.{one}", "gamma"])
    new = ".".join([*segments[:at], *[spelt][: bool(spelt)], *segments[at + 1 :]])
    new = old + "x" if new in c.tensors else new
    rename(c, lambda name: new if name == old else name)
    return f"{old} called {new}"


def misspell_everywhere(c: Checkpoint, rng: Random) -> str | None:
    """A segment, such as a module's name, spelt otherwise or left out wherever it stands."""
    segments = {one for name in c.tensors for one in name.split(".") if not one.isdigit()}
    old = pick(rng, segments)
    new = rng.choice([old + "s", old.replace("_", ""), old[:-1], f"{old}.{old}", old.upper(), f"{old}.base_layer", ""])

    def edit(name: str) -> str:
        return ".".join(other for one in name.split(".") if (other := new if one == old else one))

    if new in segments or len({edit(name) for name in c.tensors} - {""}) < len(c.tensors):
        return None
    return f"{old} called {new or 'nothing'} everywhere" if rename(c, edit) else None


def shift_layers(c: Checkpoint, rng: Random) -> str | None:
    if not (stack := stack_of(c, rng)):
        return None
    by = rng.choice([1, 1, 10, -1])
    first = max(rng.choice([0, 1]), -by)

    def edit(name: str) -> str:
        found = re.fullmatch(re.escape(stack[0]) + r"(\d+)(\..*)", name)
        return f"{stack[0]}{int(found[1]) + by}{found[2]}" if found and int(found[1]) >= first else name

    return f"{stack[0]}N called N{by:+} from {first}" if rename(c, edit) else None


def add_layer(c: Checkpoint, rng: Random) -> str | None:
    """An ordinary layer more than the config says."""
    if not (stack := stack_of(c, rng)):
        return None
    last, new = f"{stack[0]}{stack[1]}.", f"{stack[0]}{stack[1] + 1}."
    extra = {
        new + name.removeprefix(last): tensor.clone() for name, tensor in c.tensors.items() if name.startswith(last)
    }
    return add(c, extra, f"{new}*, a copy of {last}*, besides")


def add_prefix(c: Checkpoint, rng: Random) -> str:
    """Before all names, those of a part, or one."""
    own = getattr(class_of(c.config), "base_model_prefix", "")
    prefix = rng.choice([*_PREFIXES, f"{own}." if own else "model."])
    part = rng.choice(["", "", "", *_parts(c), pick(rng, c.tensors)])
    rename(c, lambda name: prefix + name if name.startswith(part) else name)
    return f"{prefix} before {part}*"


def change_prefix(c: Checkpoint, rng: Random) -> str | None:
    """Another prefix or none, in all names that have one, or in one of them."""
    old = rng.choice([pick(rng, _parts(c)), pick(rng, {part for part in _parts(c) if part.count(".") == 1} or {""})])
    new = rng.choice(["", "", *_PREFIXES])
    mine = [name for name in c.tensors if name.startswith(old)]
    moved = {pick(rng, mine)} if rng.random() < 0.2 else set(mine)
    pairs = {name: new + name.removeprefix(old) for name in moved}
    if not old or new == old or set(pairs.values()) & set(c.tensors):
        return None
    rename(c, lambda name: pairs.get(name, name))
    return f"{old + '*' if len(moved) > 1 else min(moved)} under {new or 'nothing'}"


def spell_gamma_beta(c: Checkpoint, rng: Random) -> str | None:
    """The spelling of BERT's first checkpoints: of all norms, of some tensor, or of all."""
    named = {name for name in c.tensors if name.endswith((".weight", ".bias"))}
    norms = {name for name in named if re.search(r"norm|ln_", name, re.IGNORECASE)}
    chosen = rng.choice([norms, {pick(rng, norms or named)}, {pick(rng, named)}, named]) if named else None
    if not chosen:
        return None
    spelt = {"weight": "gamma", "bias": "beta"}
    rename(c, lambda n: f"{n.rpartition('.')[0]}.{spelt[n.rpartition('.')[2]]}" if n in chosen else n)
    return f"gamma and beta in {len(chosen)} names such as {min(chosen)}"


def wrap(c: Checkpoint, rng: Random) -> str:
    """A training wrapper's prefix, before all names or inside."""
    wrapper, part = rng.choice(_WRAPPERS), rng.choice(["", "", *_parts(c)])
    rename(c, lambda name: part + wrapper + name[len(part) :] if name.startswith(part) else name)
    return f"{wrapper} after {part!r}"


def swap_unlike(c: Checkpoint, rng: Random) -> str | None:
    """The names of two tensors of different shapes exchanged."""
    one = pick(rng, c.tensors)
    others = {name for name, tensor in c.tensors.items() if tensor.shape != c.tensors[one].shape}
    if not others:
        return None
    other = pick(rng, others)
    rename(c, lambda name: {one: other, other: one}.get(name, name))
    return f"{one} and {other} exchanged"


KINDS = (
    drop,
    drop_part,
    drop_layer,
    drop_embedding,
    misspell,
    misspell_everywhere,
    shift_layers,
    add_layer,
    add_prefix,
    change_prefix,
    spell_gamma_beta,
    wrap,
    swap_unlike,
)
