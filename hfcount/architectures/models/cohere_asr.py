"""Cohere's recogniser: Canary's architecture with learned positions, stored under names of its own (model card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import renamed
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("cohere_asr",)  # transformers 5.23: modeling_cohere_asr.py

_ENCODER = {
    ".subsampling": "pre_encode",
    "subsampling.layers": "conv",
    "subsampling.linear": "out",
    "conv.norm": "batch_norm",
    **{f"self_attn.{letter}_proj": f"linear_{letter}" for letter in "qkv"},
    "self_attn.o_proj": "linear_out",
    "self_attn.relative_k_proj": "linear_pos",
    **{f"self_attn.bias_{letter}": f"pos_bias_{letter}" for letter in "uv"},
}
_ATTENTION = {"q_proj": "query_net", "k_proj": "key_net", "v_proj": "value_net", "o_proj": "out_projection"}

SPELLINGS = {
    r"encoder\.subsampling\.layers\.": "encoder.pre_encode.conv.",
    r"encoder\.subsampling\.linear\.": "encoder.pre_encode.out.",
    r"(?<=conv)\.norm\.": ".batch_norm.",
    **{rf"(?<=encoder)\.(.+)\.self_attn\.{letter}_proj\.": rf".\1.self_attn.linear_{letter}." for letter in "qkv"},
    r"(?<=encoder)\.(.+)\.self_attn\.o_proj\.": r".\1.self_attn.linear_out.",
    r"\.self_attn\.relative_k_proj\.": ".self_attn.linear_pos.",
    r"\.self_attn\.bias_([uv])$": r".self_attn.pos_bias_\1",
    r"(?<!_)decoder\.pos_emb\.weight$": "transf_decoder._embedding.position_embedding.pos_enc",
    r"(?<!_)decoder\.embed_tokens\.": "transf_decoder._embedding.token_embedding.",
    r"(?<!_)decoder\.embedding_layernorm\.": "transf_decoder._embedding.layer_norm.",
    r"(?<!_)decoder\.norm\.": "transf_decoder._decoder.final_layer_norm.",
    r"(?<!_)decoder\.layers\.": "transf_decoder._decoder.layers.",
    r"(?<!_)decoder\.proj\.": "encoder_decoder_proj.",
    **{
        rf"(?<=decoder)\.(.+)\.{module}\.{name}\.": rf".\1.{sub}_sub_layer.{other}."
        for module, sub in (("self_attn", "first"), ("encoder_attn", "second"))
        for name, other in _ATTENTION.items()
    },
    r"\.mlp\.fc1\.": ".third_sub_layer.dense_in.",
    r"\.mlp\.fc2\.": ".third_sub_layer.dense_out.",
    r"\.input_layernorm\.": ".layer_norm_1.",
    r"\.post_attention_layernorm\.": ".layer_norm_2.",
    r"\.final_layernorm\.": ".layer_norm_3.",
    r"^proj_out\.": "log_softmax.mlp.layer0.",
}


def spec(c: Config) -> Spec:
    mixer, ffn = keys.attention(c, bias=c.bool("attention_bias")), keys.dense(c, bias=True)
    rows, parts = c.int("max_position_embeddings"), {"encoder": families.part(c, "encoder_config")}
    heads = ("ForConditionalGeneration", "Model")
    layer = Layer(mixer=mixer, ffn=ffn)
    return keys.decoder_spec(c, layer, heads=heads, positions=rows, parts=parts, uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d, encoder = s.hidden, s.part("encoder")
    norm = layer_norm(d)

    def layer_block(layer: Layer) -> Block:
        usual = mha(d, layer.attention, "o_proj").children
        attention = Block({_ATTENTION[name]: child for name, child in usual.items()}, "attention")
        wide, back = Linear(d, layer.dense.width, True), Linear(layer.dense.width, d, True)
        return block(
            first_sub_layer=attention,
            second_sub_layer=attention,
            third_sub_layer=block("mlp", dense_in=wide, dense_out=back),
            **{f"layer_norm_{number}": norm for number in (1, 2, 3)},
        )

    tables = block(
        token_embedding=embedding(s.vocab, d),
        layer_norm=norm,
        position_embedding=block("embedding", pos_enc=Tensor((s.positions or 0, d))),
    )
    body = block(
        encoder=renamed(families.tree(encoder), _ENCODER),
        encoder_decoder_proj=Linear(encoder.hidden, d, True, "projector"),
        transf_decoder=block(
            _embedding=tables, _decoder=block(layers=stack(s.layers, layer_block), final_layer_norm=norm)
        ),
    )
    table = "model.transf_decoder._embedding.token_embedding.weight"
    head = block(mlp=block(layer0=lm_head(s, table, bias=True)))
    return body if s.head == "base" else block(model=body, log_softmax=head)
