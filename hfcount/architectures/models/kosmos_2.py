"""Kosmos-2 and Kosmos-2.5: queries that attend to an image become tokens (arXiv:2306.14824, arXiv:2309.11419)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import rebased
from hfcount.architectures.layers.vision import square_attention
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("kosmos-2", "kosmos-2.5")  # transformers 5.23: modeling_kosmos2.py, modeling_kosmos2_5.py
IGNORED = ("scale_embedding",)


class Kosmos2(Sizes):
    latent_query_num: int = size("n_q")


def spec(c: Config) -> Spec[Kosmos2]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    tied = c.bool("tie_word_embeddings", default=True) and c.family == "kosmos-2"
    sizes = Kosmos2.read(c)
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, towers, heads=heads).replace(tied=tied or text.tied).having(sizes)


def blueprint(s: Spec[Kosmos2]) -> Block:
    d, head = s.hidden, "base" if s.head == "base" else "causal_lm"
    projection = block(
        "projector",
        dense=Linear(s.part("vision").hidden, d, True),
        latent_query=Tensor((s.own.latent_query_num, d)),
        x_attn=square_attention(d, out="out_proj"),
    )
    return block(
        text_model=rebased(families.tree(s.part("text").replace(head=head, tied=s.tied)), "text_model"),
        vision_model=families.tower(s, "vision"),
        image_to_text_projection=projection,
    )


def text_spec(c: Config) -> Spec:
    """The language model of Kosmos-2 and Kosmos-2.5 (arXiv:2306.14824, arXiv:2309.11419)."""
    d, first = c.int("embed_dim", "hidden_size"), c.family == "kosmos_2_text_model"
    crossed = first and c.bool("add_cross_attention", default=False)
    mixer = keys.multi_head(c, d, c.int("attention_heads", "num_attention_heads"))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim"), bias=True), cross_attention=crossed)
    layers = keys.uniform(layer, keys.layer_count(c, "layers", "num_hidden_layers"))
    why = keys.ACROSS if crossed else ""
    return keys.decoder_spec(c, layers, hidden=d, tied=True, heads=("ForCausalLM", "Model"), uncounted=why)


def text_blueprint(s: Spec) -> Block:
    d, first = s.hidden, s.family == "kosmos_2_text_model"

    def layer_block(layer: Layer) -> Block:
        wide, attention = layer.dense.width, mha(d, layer.attention)
        return block(
            self_attn=altered(attention, inner_attn_ln=layer_norm(d)) if first else attention,
            self_attn_layer_norm=layer_norm(d),
            encoder_attn=attention if layer.cross_attention else None,
            encoder_attn_layer_norm=layer_norm(d) if layer.cross_attention else None,
            ffn=altered(mlp(d, wide), ffn_layernorm=layer_norm(wide)),
            final_layer_norm=layer_norm(d),
        )

    body = block(
        embed_tokens=embedding(s.vocab, d),
        segment_emb=None if first else embedding(2, d),  # text and image
        layers=stack(s.layers, layer_block),
        layer_norm=layer_norm(d),
    )
    head = None if s.head == "base" else lm_head(s, "model.embed_tokens.weight")
    return block(model=body, lm_head=head)


PARTS = (
    families.Family(
        ("kosmos_2_text_model", "kosmos_2_5_text_model"), text_spec, text_blueprint, ignored=("scale_embedding",)
    ),
)
