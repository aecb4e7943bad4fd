"""DeciLM and Llama-Nemotron: Llama's layers, each as a search left it (arXiv:2411.19146)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, rms_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.dims import Dim
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("nemotron-nas", "deci")  # modeling_decilm.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1
CLASSES = ("DeciLMForCausalLM",)


_Shape = tuple[int | None, int | None, bool, bool]
"""Heads per group and network width, None if there are none; whether a projection is in place of either."""


class NemotronNasLayer(Record):
    """Whether one projection is in place of a layer's attention, or of its network."""

    linear_attention: bool = False
    linear_network: bool = False


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, _layers(c))


def _layers(c: Config) -> list[Layers]:
    """Layers by block_configs, or by the number of key/value heads that the config lists for each.

    Source: arXiv:2411.19146; modeling_decilm.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1.
    """
    given = c.entries("block_configs")
    return _blocks(c, given) if given else _grouped(c)


def _grouped(c: Config) -> list[Layers]:
    key = "num_key_value_heads_per_layer"
    count, heads = keys.layer_count(c), c.ints(key)
    config = c.assuming({"num_key_value_heads": None}) if heads else c
    usual = keys.attention(config, bias=c.bool("attention_bias", default=False), sharing=not heads)
    ffn, plain = Dense(width=c.int("intermediate_size")), NemotronNasLayer()
    if not heads:
        return keys.uniform(Layer(mixer=usual, ffn=ffn, own=plain), count)
    if len(heads) != count or min(heads) < 1:
        raise c.error(
            "out-of-range", f"{key} must name 1 and more heads for each of {count:,} layers.", key, "Correct it."
        )
    places = {
        kv_heads: Indices.of(n for n, other in enumerate(heads) if other == kv_heads)
        for kv_heads in dict.fromkeys(heads)
    }
    return [
        Layers(indices=some, layer=Layer(mixer=usual.replace(kv_heads=kv_heads), ffn=ffn, own=plain))
        for kv_heads, some in places.items()
    ]


def _blocks(c: Config, given: list[object]) -> list[Layers]:
    count, hidden = keys.layer_count(c), c.int("hidden_size")
    if len(given) != count:
        raise c.unequal("block_configs", len(given), "num_hidden_layers", count)
    shapes: dict[_Shape, list[int]] = {}
    for place, entry in enumerate(given):
        shapes.setdefault(_shape(c, entry, place, hidden), []).append(place)
    bias, wide = c.bool("attention_bias", default=False), c.bool("mlp_bias", default=False)
    mixer = keys.attention(c.assuming({"num_key_value_heads": None}), bias=bias)
    blocks = []
    for (group, width, square, short), numbers in shapes.items():
        attention = None if group is None else mixer.replace(kv_heads=mixer.heads // group)
        ffn = None if width is None else Dense(width=width, bias=wide)
        kind = NemotronNasLayer(linear_attention=square, linear_network=short)
        blocks.append(Layers(indices=Indices.of(numbers), layer=Layer(mixer=attention, ffn=ffn, own=kind)))
    return blocks


def _shape(c: Config, entry: object, place: int, hidden: int) -> _Shape:
    where = f"block_configs[{place}]"
    known = Config(entry if isinstance(entry, dict) else {}, f"{c.where}: {where}", c.family, f"{where}.")
    mixer, ffn = known.part("attention"), known.part("ffn")
    absent, square = mixer.bool("no_op", default=False), mixer.bool("replace_with_linear", default=False)
    group = None if absent or square else mixer.int("n_heads_in_group")
    gone, short = ffn.bool("no_op", default=False), ffn.bool("replace_with_linear", default=False)
    width = None
    if not gone and not short:
        width = ffn.int("intermediate_size", default=None)
    if width is None and not gone and not short:
        factor = ffn.number("ffn_mult")
        width = -(-int(2 * factor * hidden / 3) // 256) * 256
        width = Dim.named("d_ff", width, f"2 · {where}.ffn.ffn_mult · hidden_size / 3, rounded down, rounded up to 256")
    return group, width, square and not absent, short and not gone


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden)

    def layer_block(layer: Layer) -> Block:
        kind = layer.sizes(NemotronNasLayer)
        mixer: Node | None = gqa(d, layer.attention) if layer.mixer else None
        network: Node | None = swiglu(d, layer.dense.width, layer.dense.bias) if layer.ffn else None
        if kind.linear_attention:
            mixer = block("linear_attention", linear_attn=square)
        if kind.linear_network:
            network = block("mlp", linear_mlp=square)
        return block(
            input_layernorm=rms_norm(d) if mixer else None,
            self_attn=mixer,
            post_attention_layernorm=rms_norm(d) if network else None,
            mlp=network,
        )

    return decoder(s, layer_block)
