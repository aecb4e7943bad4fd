"""Kinds of layers in dots3-note: latent attention within windows has sizes of its own."""

from collections.abc import Callable

from hfcount.keys.attention import indexed, mla
from hfcount.keys.layers import by_kind, kinds, split
from hfcount.keys.sizes import layer_count
from hfcount.mapper import Config
from hfcount.mapper.overrides import overrides
from hfcount.spec import MLA, Dense, Layer, Layers, MoE
from hfcount.tree.indices import Indices, intersection

_OWN = ("num_attention_heads", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_FURTHER = ("num_key_value_heads", "head_dim")  # which say nothing new


def dots_mixers(c: Config) -> list[Layers]:
    """Layers with their attention; a trait `near` marks those with a window.

    Without layer_types windows are in all but the first two layers and the second of each four. Source: transformers
    5.23, configuration_dots3_note.py, Dots3NoteTextConfig.
    """
    usual, count, given = mla(c), layer_count(c), kinds(c, "layer_types")
    selects = c.bool("use_dsa", default=not c.given("per_layer_config"))
    far = indexed(c, usual)[0]
    near = Layer(mixer=usual, traits={"near": 1})
    full, chosen = Layer(mixer=usual, traits={"near": 0}), Layer(mixer=far, traits={"near": 0})
    forced = c.given("use_dsa") or not c.given("per_layer_config")
    known: dict[str, Layer | Callable[[], Layer]] = {
        "sliding_attention": near,
        "full_attention": chosen if forced and selects else full,
        "indexed_attention": full if forced and not selects else chosen,
    }
    if given:
        placed = by_kind(c, known, given, otherwise="full_attention")
    else:
        every = Indices.below(count)
        some = Indices.of(n for n in range(min(2, count))) if c.bool("use_sliding_window", default=True) else every
        later = Indices.span(5, count, 4) if some is not every and count > 5 else Indices.below(0)
        wide = full if forced and not selects else chosen
        rest = every.difference(some, later)
        placed = split(c, (some, lambda: wide), (later, lambda: wide), (rest, lambda: near))
    return _shaped(c, placed, usual, count)


def _shaped(c: Config, placed: list[Layers], usual: MLA, count: int) -> list[Layers]:
    if not c.given("per_layer_config"):
        window = _windowed(c, usual)
        return [part.but(layer=part.layer.but(mixer=window)) if part.layer.traits["near"] else part for part in placed]
    own = [(Indices.of(numbers), mla(seen)) for numbers, seen in overrides(c, (*_OWN, *_FURTHER), count)]
    found = []
    for part in placed:
        left = part.indices
        for some, mixer in own:
            both = intersection(part.indices, some)
            left = left.difference(both)
            one = part.layer.latent
            shaped = mixer.but(top_k=one.top_k, index_heads=one.index_heads, index_dim=one.index_dim)
            found.append(Layers(indices=both, layer=part.layer.but(mixer=shaped)))
        found.append(part.but(indices=left))
    return [part for part in found if part.indices.count]


def _windowed(c: Config, usual: MLA) -> MLA:
    nope = c.int("swa_qk_nope_head_dim", default=192)
    rope = c.int("swa_qk_rope_head_dim", default=None)
    return usual.but(
        heads=c.int("swa_num_attention_heads", default=64),
        query_rank=c.int("swa_q_lora_rank", default=1024),
        kv_rank=c.int("swa_kv_lora_rank", default=1024),
        nope_dim=nope,
        rope_dim=c.int("swa_head_dim", default=256) - nope if rope is None else rope,
        value_dim=c.int("swa_v_head_dim", default=128),
    )


def dots_networks(c: Config) -> list[Layers]:
    """The networks of its vision tower: as many experts as pyramid_num_routed or per_layer_config says, or only one.

    Without either the first 25 layers have one network, and the others 4, 8, 12 and so on to 64 experts. Source:
    transformers 5.23, configuration_dots3_note.py, Dots3NoteVisionConfig.
    """
    count, listed, own = layer_count(c, "num_hidden_layers"), c.strs("mlp_layer_types"), c.given("per_layer_config")
    counts = c.ints("pyramid_num_routed")
    if not counts and not listed:
        counts = [-1] * 25 + [*range(4, 65, 4), 64]
    active = c.int("num_experts_per_tok", "capacity_factor", default=None) or 2
    width, bias = c.int("moe_intermediate_size"), c.bool("mlp_bias", default=False)
    usual = [("sparse" if number > 0 else "dense") for number in counts] if counts else listed
    if len(usual) != count:
        said = f"the networks of {len(usual):,} layers are given, and num_hidden_layers is {count:,}."
        raise c.error(said, "pyramid_num_routed" if counts else "mlp_layer_types", "Correct one of them.")
    wanted = dict(enumerate(counts)) if counts else {}
    if own:
        for numbers, seen in overrides(c, ("num_local_experts", "num_experts_per_tok"), count):
            wanted |= dict.fromkeys(numbers, seen.int("num_local_experts"))
    places: dict[int, list[int]] = {}
    for place, kind in enumerate(usual):
        among = wanted.get(place) or c.int("num_local_experts") if kind == "sparse" else 0
        places.setdefault(among, []).append(place)
    return [
        Layers(indices=Indices.of(some), layer=_vision(c, among, active, width, bias)) for among, some in places.items()
    ]


def _vision(c: Config, among: int, active: int, width: int, bias: bool) -> Layer:
    if not among:
        return Layer(ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return Layer(ffn=MoE(experts=among, active=min(active, among), width=width))
