"""BLIP's text model: BERT, whose layers also attend to the image where it generates (arXiv:2201.12086)."""

from hfcount.architectures import keys
from hfcount.architectures.layers.encoders import bert_base, bert_heads, pooler
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

MODEL_TYPES = ("blip_text_model",)  # transformers 5.23: modeling_blip_text.py
IGNORED = ("projection_dim",)

_HEADS = ("LMHeadModel", "Model")


def spec(c: Config) -> Spec:
    d, crossed = c.int("hidden_size"), c.bool("is_decoder", default=True)
    vision_width = keys.dim("d_e", c.int("encoder_hidden_size"))
    mixer, ffn = keys.multi_head(c, d, c.int("num_attention_heads")), keys.dense(c, bias=True)
    layer = Layer(mixer=mixer, ffn=ffn, cross_attention=crossed, memory=vision_width)
    rows = c.int("max_position_embeddings")
    model = keys.decoder_spec(c, layer, heads=_HEADS, tied=True, hidden=d, positions=rows)
    return model.replace(causal=crossed, uncounted=keys.ACROSS if crossed else "")


def blueprint(s: Spec) -> Block:
    return bert_heads(s, "bert", bert_base(s, pooler=pooler(s)))
