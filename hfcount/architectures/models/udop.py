"""UDOP: T5 that reads a page's words, places and patches (arXiv:2212.02623)."""

from hfcount.architectures import keys
from hfcount.architectures.components.t5 import t5_gated, t5_layer, t5_layers
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import MAX_LAYERS, Config, Sizes, derived, size
from hfcount.spec import GQA, Dense, Layers, Spec
from hfcount.spec.tree.nodes import Block, Node, Tensor, Tied, block, obsolete

MODEL_TYPES = ("udop",)  # transformers 5.23: modeling_udop.py
IGNORED = ("relative_attention_max_distance", "image_size")

_HEADS = keys.named(("ForConditionalGeneration", "Model"), EncoderModel="encoder")
_KINDS = {"1d", "horizontal", "vertical"}


class Udop(Sizes):
    """Sizes specific to UDOP; `places` are those on a page, and `biases` how many tables of distances there are."""

    gated: bool = derived(lambda c: t5_gated(c, "relu"))
    places: int = size("n_2", "max_2d_position_embeddings")
    heads: int
    buckets: int
    biases: int


def spec(c: Config) -> Spec[Udop]:
    d, heads = c.int("d_model", "hidden_size"), c.int("num_heads", "num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("d_kv"))
    ffn, buckets = Dense(width=c.int("d_ff")), keys.dim("b", c.int("relative_attention_num_buckets"))
    count = keys.layer_count(c, "num_layers", "num_hidden_layers")

    kinds = [entry.get("type") if isinstance(entry, dict) else None for entry in c.entries("relative_bias_args")]
    if unknown := [kind for kind in kinds if kind not in _KINDS]:
        text = f"relative_bias_args has the type {str(unknown[0])[:40]!r}, and knows {', '.join(sorted(_KINDS))}."
        raise c.error("unknown-kind", text, "relative_bias_args")
    biases = len(kinds) if c.given("relative_bias_args") else len(_KINDS)
    sizes = Udop.read(c, heads=heads, buckets=buckets, biases=biases)
    null = c.is_null("num_decoder_layers")
    decoding = count if null else c.int("num_decoder_layers", maximum=MAX_LAYERS)
    encoder = Spec(family=c.family, hidden=d, layers=t5_layers(count, mixer, ffn, buckets), causal=False)
    layers, parts = t5_layers(decoding, mixer, ffn, buckets), {"encoder": encoder}
    model = keys.decoder_spec(
        c, layers, layer_count=decoding, hidden=d, heads=_HEADS, parts=parts, patches=keys.patches(c)
    )
    # Its embeddings are one, whatever the config says.
    return model.replace(uncounted=keys.ACROSS, tied=True).having(sizes)


def blueprint(s: Spec[Udop]) -> Block:
    d, of, heads = s.hidden, s.own, s.own.heads
    words, norm = Tied("shared.weight", (s.vocab, d)), layer_norm(d, bias=False)
    patch = block(proj=patch_convolution(s))
    bias = block("attention", relative_attention_bias=block(weight=Tensor((of.buckets, heads))))
    kernel = (d, *s.seen.kernel)
    same = block(proj=(Tied("patch_embed.proj.weight", kernel), block(bias=obsolete(d))))

    def side(layers: tuple[Layers, ...], decoding: bool) -> Block:
        tables: dict[str, Node] = {str(number): bias for number in range(of.biases)}
        if s.head != "base" and of.biases:  # the first layer's
            table = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
            bias_table = block(relative_attention_bias=Tied(table, (of.buckets, heads), "attention"))
            tables["0"] = bias_table
        cells = embedding(of.places, d)
        both = block(x_position_embeddings=cells, y_position_embeddings=cells)
        return block(
            embed_tokens=words,
            embed_patches=patch if decoding else same,
            block=stack(layers, lambda layer: t5_layer(d, layer, of.gated, decoding)),
            final_layer_norm=norm,
            cell_2d_embedding=None if decoding else both,
            relative_bias=block(biases=Block(tables)),
        )

    body = block(
        shared=embedding(s.vocab, d),
        patch_embed=patch,
        encoder=side(s.stack("encoder"), False),
        decoder=None if s.head == "encoder" else side(s.layers, True),
    )
    if s.head != "conditional_generation":
        return body
    return Block({**body.children, "lm_head": lm_head(s, "shared.weight", anyway=True)})
