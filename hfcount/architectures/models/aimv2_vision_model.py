"""AIMv2's vision tower, and its text tower, which has layers of the same kind (arXiv:2411.14402)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack, swiglu
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.vision import patch_convolution, square_attention
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("aimv2_vision_model", "aimv2_text_model")  # transformers 5.23: modeling_aimv2.py


class Aimv2VisionModel(Sizes):
    use_head: bool = flag(absent=True)


def spec(c: Config) -> Spec[Aimv2VisionModel | None]:
    d, bias = c.int("hidden_size"), c.bool("qkv_bias", default=False)
    ffn = keys.dense(c, bias=c.bool("mlp_bias", default=False))
    if c.family == "aimv2_text_model":
        layer = Layer(mixer=keys.multi_head(c, d, c.int("num_attention_heads"), bias=bias), ffn=ffn)
        rows = c.int("max_position_embeddings")
        text = keys.decoder_spec(c, layer, hidden=d, positions=rows, heads=("Model",))
        return text.replace(causal=False, tied=False).having(None)
    rows, native = keys.squares(c), c.bool("is_native", default=False)
    sizes, given = Aimv2VisionModel.read(c), keys.patches(c)
    return keys.tower(c, ffn=ffn, bias=bias, patches=given, positions=None if native else rows).having(sizes)


def blueprint(s: Spec[Aimv2VisionModel | None]) -> Block:
    d, bias = s.hidden, s.layers[0].layer.attention.qkv_bias

    def layer_block(layer: Layer) -> Block:
        return block(
            attention=square_attention(d, bias, out="out_proj"),
            ffn=swiglu(d, layer.dense.width, layer.dense.bias),
            rms_norm1=rms_norm(d),
            rms_norm2=rms_norm(d),
        )

    places = None if s.positions is None else positions(s)
    encoder = block(layers=stack(s.layers, layer_block))
    if s.own is None:
        table = block(token_embedding=embedding(s.vocab, d), position_embedding=places)
        return block(embeddings=table, encoder=encoder, rms_norm=rms_norm(d))
    into = Linear(d, d, bias)
    pooling = block("other", k_proj=into, v_proj=into, cls_token=Tensor((1, 1, d)), output_proj=Linear(d, d, True))
    table = block(patch_embed=patch_convolution(s), rms_norm=rms_norm(d), position_embedding=places)
    head = pooling if s.own.use_head else None
    return block(embeddings=table, encoder=encoder, rms_norm=rms_norm(d), head=head)
