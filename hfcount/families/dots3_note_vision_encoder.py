"""dots3-note's vision tower: normalised queries and keys, and in later layers ever more experts."""

from hfcount import keys
from hfcount.keys.layers import entries
from hfcount.mapper import Config
from hfcount.mapper.overrides import overrides
from hfcount.parts import correction_bias, experts, layer_norm, rms_norm, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Dense, Layer, Layers, MoE, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Component, Linear, Tensor, block

MODEL_TYPES = ("dots3_note_vision_encoder",)  # transformers 5.23: modeling_dots3_note.py
IGNORED = ("adapter_in_dim", "capacity_factor", "router_scale", "spatial_merge_size")
SPELLINGS = {
    r"\bpost_trunk_norm\.": "norm.",
    r"(?:^|(?<=vision_tower\.))adapter\.": "merger.",
    r"\bblocks\.(\d+)\.norm_([12])\.": r"blocks.\1.norm\2.",
    r"\bblocks\.(\d+)\.mlp\.fc1\.": r"blocks.\1.mlp.gate_proj.",
    r"\bblocks\.(\d+)\.mlp\.fc2\.": r"blocks.\1.mlp.down_proj.",
    r"\bblocks\.(\d+)\.mlp\.fc3\.": r"blocks.\1.mlp.up_proj.",
    r"\bmlp\.gate_weight$": "mlp.gate.weight",
    r"\bmlp\.router_bias$": "mlp.e_score_correction_bias",
}
MERGED = {
    "experts.gate_up_proj": ("experts.*.fc1.weight", "experts.*.fc3.weight"),
    "experts.down_proj": ("experts.*.fc2.weight",),
}


def spec(c: Config) -> Spec:
    d, heads = c.int("embed_dim", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = keys.multi_head(c, d, heads, bias=c.bool("use_bias", "attention_bias", default=False))
    placed = [part.replace(layer=part.layer.replace(mixer=mixer)) for part in _networks(c)]
    seen = keys.patches(c, merge=c.int("adapter_merge_size"))
    return keys.encoding(c, placed, hidden=d, patches=seen, out=c.int("adapter_out_dim"))


def _networks(c: Config) -> list[Layers]:
    """The networks: as many experts as pyramid_num_routed or per_layer_config says, or only one.

    Without either the first 25 layers have one network, and the others 4, 8, 12 and so on to 64 experts. Source:
    transformers 5.23, configuration_dots3_note.py, Dots3NoteVisionConfig.
    """
    count, listed, own = (
        keys.layer_count(c, "num_hidden_layers"),
        c.strs("mlp_layer_types"),
        c.given("per_layer_config"),
    )
    given = counts = c.ints("pyramid_num_routed")
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

    def layers(some: list[int]) -> Indices:
        if own or not counts:
            return Indices.of(some)
        return entries(c, "pyramid_num_routed", some) if given else Indices.fixed(*some)

    return [
        Layers(indices=layers(some), layer=_network(c, among, active, width, bias)) for among, some in places.items()
    ]


def _network(c: Config, among: int, active: int, width: int, bias: bool) -> Layer:
    if not among:
        return Layer(ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return Layer(ffn=MoE(experts=among, active=min(active, among), width=width))


def blueprint(s: Spec) -> Block:
    d, merged = s.hidden, s.seen.merged(s.hidden)

    def network(width: int, bias: bool, component: Component) -> Block:
        wide = Linear(d, width, bias)
        return block(component, fc1=wide, fc2=Linear(width, d, bias), fc3=wide)

    def layer(one: Layer) -> Block:
        a, ffn = one.attention, one.ffn
        attention = fused_square_attention(d, a.qkv_bias, a.out_bias).children
        mlp = network(one.dense.width, one.dense.bias, "mlp") if not isinstance(ffn, MoE) else None
        if isinstance(ffn, MoE):
            gate = Tensor((ffn.experts, d), component="router")
            mlp = block(
                gate_weight=gate,
                router_bias=correction_bias(ffn),
                experts=experts(ffn, network(ffn.width, False, "experts")),
            )
        return block(
            attn=Block({**attention, "q_norm": rms_norm(a.head_dim), "k_norm": rms_norm(a.head_dim)}, "attention"),
            mlp=mlp,
            norm_1=rms_norm(d),
            norm_2=rms_norm(d),
        )

    merger = {"0": Linear(merged, merged, True), "2": Linear(merged, s.output, True)}
    return block(
        patch_embed=block(proj=patch_convolution(s), norm=rms_norm(d)),
        blocks=stack(s.layers, layer),
        adapter=block("projector", ln_q=layer_norm(d), mlp=Block(merger)),
        post_trunk_norm=rms_norm(d),
    )
