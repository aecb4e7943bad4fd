"""Switch Transformers: T5 with experts in every few layers, one for each token (arXiv:2101.03961)."""

from hfcount.architectures import keys
from hfcount.architectures.components.t5 import T5Layer, t5_layer
from hfcount.architectures.layers import embedding, lm_head, rms_norm, stack, within
from hfcount.architectures.layers.seq2seq import switched
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
from hfcount.spec import GQA, Dense, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices, intersection
from hfcount.spec.tree.nodes import Block, Linear, Tied, block

MODEL_TYPES = ("switch_transformers",)  # transformers 5.23: modeling_switch_transformers.py
IGNORED = tuple(
    "expert_capacity router_z_loss_coef router_ignore_padding_tokens relative_attention_max_distance add_router_probs"
    " feed_forward_proj is_gated_act".split()
)

_HEADS = keys.named(("ForConditionalGeneration", "Model"), EncoderModel="encoder")


class SwitchTransformers(Sizes):
    """Sizes specific to Switch Transformers; `crossed` is whether the encoder attends to another, as alone it may."""

    router_bias: bool = flag(absent=False)
    crossed: bool


def spec(c: Config) -> Spec[SwitchTransformers]:
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv"))
    width, buckets = c.int("d_ff"), keys.dim("b", c.int("relative_attention_num_buckets"))
    moe = MoE(experts=c.int("num_experts", maximum=keys.MOST_EXPERTS), active=1, width=width)
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")
    alike = c.is_null("num_decoder_layers")
    decoding = count if alike else c.int("num_decoder_layers", maximum=MAX_LAYERS)

    def layers(side: str, count: int) -> tuple[Layers, ...]:
        some = c.int(f"num_sparse_{side}_layers", default=3, minimum=0, maximum=MAX_LAYERS)
        usual = count // some if some else count
        step = c.int(f"{side}_sparse_step", default=usual, minimum=0, maximum=MAX_LAYERS)
        sparse = Indices.span(min(1, step - 1), count, step) if step else Indices.below(0)
        rest = Indices.below(count).difference(sparse)
        parts = []
        for first, table in ((Indices.below(min(1, count)), buckets), (Indices.span(1, count), None)):
            for places, ffn in ((rest, Dense(width=width)), (sparse, moe)):
                layer = Layer(mixer=mixer, ffn=ffn, own=T5Layer(buckets=table))
                parts.append(Layers(indices=intersection(first, places), layer=layer))
        return tuple(part for part in parts if part.indices.count)

    parts = {"encoder": Spec(family=c.family, hidden=d, layers=layers("encoder", count), causal=False)}
    decoder = layers("decoder", decoding)
    model = keys.decoder_spec(c, decoder, tied=True, heads=_HEADS, layer_count=decoding, hidden=d, parts=parts)
    alone = model.head == "encoder"
    crossed = alone and c.bool("is_decoder", default=False)
    kept = SwitchTransformers.read(c, crossed=crossed)
    return model.replace(causal=not alone, uncounted="" if alone else keys.ACROSS).having(kept)


def blueprint(s: Spec[SwitchTransformers]) -> Block:
    d, norm, table = s.hidden, rms_norm(s.hidden), Tied("shared.weight", (s.vocab, s.hidden))

    def network(layer: Layer) -> Block:
        if not isinstance(layer.ffn, MoE):
            return block("mlp", wi=Linear(d, layer.dense.width), wo=Linear(layer.dense.width, d))
        gate = Linear(d, layer.moe.experts, s.own.router_bias, "router")
        return block(router=block(classifier=gate), experts=switched(d, layer.moe, "wi", "wo"))

    def layer_block(layer: Layer, crossed: bool) -> Block:
        usual = t5_layer(d, layer.replace(ffn=Dense(width=1)), False, crossed)
        last = str(1 + crossed)
        return within(usual, layer=Block({last: block(mlp=network(layer), layer_norm=norm)}))

    def side(layers: tuple[Layers, ...], crossed: bool) -> Block:
        blocks = stack(layers, lambda layer: layer_block(layer, crossed))
        return block(embed_tokens=table if s.tied else embedding(s.vocab, d), block=blocks, final_layer_norm=norm)

    return block(
        shared=embedding(s.vocab, d),
        encoder=side(s.stack("encoder"), s.own.crossed),
        decoder=None if s.head == "encoder" else side(s.layers, True),
        lm_head=lm_head(s, "shared.weight") if s.head == "conditional_generation" else None,
    )
