"""TIPS v2: a vision and a text tower of one width, compared as they are (arXiv:2410.16512)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, mlp, stack
from hfcount.architectures.layers.conversions import qkv
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("tipsv2",)  # transformers 5.23: modeling_tipsv2.py
SPELLINGS = {r"^text_encoder\.": "text_model.", r"^vision_encoder\.": "vision_model."}


def spec(c: Config) -> Spec:
    text, vision = families.part(c, "text_config"), families.part(c, "vision_config")
    if text.hidden != vision.hidden:
        message = (
            f"text_config.hidden_size is {text.hidden:,} and vision_config.hidden_size {vision.hidden:,}: they differ."
        )
        raise c.error("contradiction", message, "text_config.hidden_size", "Correct one of them.")
    return keys.composite(c, text, {"vision": vision}, heads=("Model",)).replace(tied=False)


def blueprint(s: Spec) -> Block:
    return block(
        temperature=Tensor((), component="other"),
        text_encoder=families.base(s),
        vision_encoder=families.tower(s, "vision"),
    )


def text_spec(c: Config) -> Spec:
    """TIPS v2's text tower: CLIP's layers without a table of positions (arXiv:2410.16512)."""
    d = c.int("hidden_size")
    layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads")), ffn=keys.dense(c, bias=True))
    return keys.decoder_spec(c, layer, heads=("Model",), hidden=d).replace(tied=False, causal=False)


def text_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        weight, bias = Tensor((3 * d, d)), Tensor((3 * d,))
        attention = block("attention", in_proj_weight=weight, in_proj_bias=bias, out_proj=Linear(d, d, True))
        network = mlp(d, layer.dense.width, up="c_fc", down="c_proj")
        return block(ln_1=layer_norm(d), ln_2=layer_norm(d), mlp=network, attn=attention)

    return block(
        token_embedding=embedding(s.vocab, d),
        transformer=block(resblocks=stack(s.layers, layer_block)),
        ln_final=layer_norm(d),
    )


PARTS = (
    families.Family(
        ("tipsv2_text_model",),
        text_spec,
        text_blueprint,
        ignored=("scale_sqrt_depth",),
        spellings={
            r"^text_encoder\.": "",
            r"ln_final\.": "final_layer_norm.",
            r"(?<!embeddings\.)token_embedding\.": "embeddings.token_embedding.",
            r"transformer\.resblocks\.": "encoder.layers.",
            r"\.ln_([12])\.": r".layer_norm\1.",
            r"(?<=\d)\.attn\.": ".self_attn.",
            r"(?<=\d)\.mlp\.c_fc\.": ".mlp.fc1.",
            r"(?<=\d)\.mlp\.c_proj\.": ".mlp.fc2.",
        },
        merged={f"attn.in_proj_{end}": qkv("self_attn", end) for end in ("weight", "bias")},
    ),
)
