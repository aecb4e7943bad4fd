"""dots3-note: latent attention in windows or to selected tokens, balanced experts, towers for images and sound."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import correction_bias, experts, layer_norm, rms_norm, stack
from hfcount.architectures.layers.composite import towers_beside_model
from hfcount.architectures.layers.stacks import entries
from hfcount.architectures.layers.vision import convolution, fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, size
from hfcount.mapper.per_layer_config import overrides
from hfcount.spec import Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Component, Linear, Node, Tensor, block

MODEL_TYPES = ("dots3_note",)  # transformers 5.23: modeling_dots3_note.py
SPELLINGS = {
    r"^audio_encoder\.": "model.audio_tower.",
    r"^vision_encoder\.": "model.vision_tower.",
    r"^model\.(?=(?:embed_tokens|layers|norm)\.)": "model.language_model.",
}


def spec(c: Config) -> Spec:
    towers = {
        "vision": families.part(c, "vision_config", "dots3_note_vision_encoder"),
        "audio": families.part(c, "audio_config", "dots3_note_audio_encoder"),
    }
    text = families.part(c, "text_config", "dots3_note_text")
    return keys.composite(c, text, towers, heads=("ForConditionalGeneration",))


def blueprint(s: Spec) -> Block:
    vision, audio = families.tower(s, "vision"), families.tower(s, "audio")
    return towers_beside_model(s, families.base(s), audio_encoder=audio, vision_encoder=vision)


def vision_spec(c: Config) -> Spec:
    """dots3-note's vision tower: normalised queries and keys, and in later layers ever more experts."""
    d, heads = c.int("embed_dim", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = keys.multi_head(c, d, heads, bias=c.bool("use_bias", "attention_bias", default=False))
    placed = [part.replace(layer=part.layer.replace(mixer=mixer)) for part in _networks(c)]
    patches = keys.patches(c, merge=c.int("adapter_merge_size"))
    return keys.encoding(c, placed, hidden=d, patches=patches, out=c.int("adapter_out_dim"))


def _networks(c: Config) -> list[Layers]:
    """The networks: as many experts as pyramid_num_routed or per_layer_config says, or only one.

    Without either the first 25 layers have one network, and the others 4, 8, 12 and so on to 64 experts. Source:
    transformers 5.23, configuration_dots3_note.py, Dots3NoteVisionConfig.
    """
    count, listed, per_layer = (
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
        text = f"the networks of {len(usual):,} layers are given, and num_hidden_layers is {count:,}."
        raise c.error(
            "list-length", text, "pyramid_num_routed" if counts else "mlp_layer_types", "Correct one of them."
        )
    wanted = dict(enumerate(counts)) if counts else {}
    if per_layer:
        for numbers, config in overrides(c, ("num_local_experts", "num_experts_per_tok"), count):
            wanted |= dict.fromkeys(numbers, config.int("num_local_experts"))
    places: dict[int, list[int]] = {}
    for place, kind in enumerate(usual):
        among = wanted.get(place) or c.int("num_local_experts") if kind == "sparse" else 0
        places.setdefault(among, []).append(place)

    def layers(some: list[int]) -> Indices:
        if per_layer or not counts:
            return Indices.of(some)
        return entries(c, "pyramid_num_routed", some) if given else Indices.fixed(*some)

    return [
        Layers(indices=layers(some), layer=_network(c, among, active, width, bias)) for among, some in places.items()
    ]


def _network(c: Config, among: int, active: int, width: int, bias: bool) -> Layer:
    if not among:
        return Layer(ffn=Dense(width=c.int("intermediate_size"), bias=bias))
    return Layer(ffn=MoE(experts=among, active=min(active, among), width=width))


def vision_blueprint(s: Spec) -> Block:
    d, merged = s.hidden, s.seen.merged(s.hidden)

    def network(width: int, bias: bool, component: Component) -> Block:
        wide = Linear(d, width, bias)
        return block(component, fc1=wide, fc2=Linear(width, d, bias), fc3=wide)

    def layer_block(layer: Layer) -> Block:
        a, ffn = layer.attention, layer.ffn
        attention = fused_square_attention(d, a.qkv_bias, a.out_bias).children
        mlp = network(layer.dense.width, layer.dense.bias, "mlp") if not isinstance(ffn, MoE) else None
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
        blocks=stack(s.layers, layer_block),
        adapter=block("projector", ln_q=layer_norm(d), mlp=Block(merger)),
        post_trunk_norm=rms_norm(d),
    )


_HALVES = 3  # convolutions, each of which halves the bins


class Dots3NoteAudioEncoder(Sizes):
    downsample_hidden_size: int = size("C")
    left: int  # channels and places that remain


def audio_spec(c: Config) -> Spec[Dots3NoteAudioEncoder]:
    """dots3-note's audio tower: convolutions that shorten a spectrogram, gated layers, an adapter."""
    older = c.sub("whisper_config") or c.as_part()
    d = older.int("d_model", default=None) or c.int("hidden_size")
    heads = older.int("encoder_attention_heads", default=None) or c.int("num_attention_heads")
    width = older.int("encoder_ffn_dim", default=None) or c.int("intermediate_size")
    depth = older.int("encoder_layers", default=None) or keys.layer_count(c)
    bins = older.int("num_mel_bins", default=None) or c.int("feature_size")
    mixer = keys.multi_head(c, d, heads, bias=c.bool("attention_bias", default=True))
    left = (bins + (1 << _HALVES) - 1) // (1 << _HALVES)
    out = c.int("whisper_adapter_out_dim", "adapter_output_size", default=None) or c.int("adapter_out_dim")
    channels = keys.dim("C", c.int("downsample_hidden_size"))
    sizes = Dots3NoteAudioEncoder.read(c, left=keys.computed(c, "d_c", "conv_output_size", channels * left))
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width, bias=True)), depth)
    return keys.encoding(c, layers, hidden=d, out=out).having(sizes)


def audio_blueprint(s: Spec[Dots3NoteAudioEncoder]) -> Block:
    d, out, channels = s.hidden, s.output, s.own.downsample_hidden_size

    def layer_block(layer: Layer) -> Block:
        bias, width = layer.attention.qkv_bias, layer.dense.width
        sizes, plain = Linear(d, d, bias), Linear(d, d)
        return block(
            self_attn_layer_norm=rms_norm(d),
            self_attn=block("attention", q_proj=sizes, k_proj=plain, v_proj=sizes, out_proj=sizes),
            final_layer_norm=rms_norm(d),
            fc1=Linear(d, 2 * width, True, "mlp"),
            fc2=Linear(width, d, True, "mlp"),
        )

    again = convolution(channels, channels, 3)
    encoder = block(
        conv2d1=convolution(1, channels, 3),
        conv2d2=again,
        conv2d3=again,
        conv_out=Linear(s.own.left, d, component="embedding"),
        layers=stack(s.layers, layer_block),
        layer_norm=rms_norm(d),
    )
    adapter: dict[str, Node] = {"0": layer_norm(d), "1": Linear(d, out, True), "3": Linear(out, out, True)}
    return block(dots_encoder=block(speech_encoder=encoder), audio_adapter=block("projector", proj=Block(adapter)))


PARTS = (
    families.Family(
        ("dots3_note_vision_encoder",),
        vision_spec,
        vision_blueprint,
        ignored=("adapter_in_dim", "capacity_factor", "router_scale", "spatial_merge_size"),
        spellings={
            r"\bpost_trunk_norm\.": "norm.",
            r"(?:^|(?<=vision_tower\.))adapter\.": "merger.",
            r"\bblocks\.(\d+)\.norm_([12])\.": r"blocks.\1.norm\2.",
            r"\bblocks\.(\d+)\.mlp\.fc1\.": r"blocks.\1.mlp.gate_proj.",
            r"\bblocks\.(\d+)\.mlp\.fc2\.": r"blocks.\1.mlp.down_proj.",
            r"\bblocks\.(\d+)\.mlp\.fc3\.": r"blocks.\1.mlp.up_proj.",
            r"\bmlp\.gate_weight$": "mlp.gate.weight",
            r"\bmlp\.router_bias$": "mlp.e_score_correction_bias",
        },
        merged={
            "experts.gate_up_proj": ("experts.*.fc1.weight", "experts.*.fc3.weight"),
            "experts.down_proj": ("experts.*.fc2.weight",),
        },
    ),
    families.Family(
        ("dots3_note_audio_encoder",),
        audio_spec,
        audio_blueprint,
        ignored=("adapter_input_size", "hop_length", "samples_per_token", "sampling_rate"),
        spellings={
            r"\baudio_adapter\.proj\.0\.": "adapter.norm.",
            r"\baudio_adapter\.proj\.1\.": "adapter.fc1.",
            r"\baudio_adapter\.proj\.3\.": "adapter.fc2.",
            r"\bdots_encoder\.speech_encoder\.conv_out\.": "conv_stem.conv_out.",
            r"\bdots_encoder\.speech_encoder\.conv2d1\.": "conv_stem.convs.0.",
            r"\bdots_encoder\.speech_encoder\.conv2d2\.": "conv_stem.convs.1.",
            r"\bdots_encoder\.speech_encoder\.conv2d3\.": "conv_stem.convs.2.",
            r"\bdots_encoder\.speech_encoder\.": "",
            r"\b(layers\.\d+\.self_attn)\.out_proj\.": r"\1.o_proj.",
            r"\bself_attn_layer_norm\.": "input_layernorm.",
            r"\bfinal_layer_norm\.": "post_attention_layernorm.",
            r"\b(layers\.\d+)\.fc1\.": r"\1.mlp.gate_up_proj.",
            r"\b(layers\.\d+)\.fc2\.": r"\1.mlp.down_proj.",
        },
    ),
)
