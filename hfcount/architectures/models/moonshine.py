"""Moonshine: convolutions over the waveform before a sequence-to-sequence transformer (arXiv:2410.15608)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("moonshine",)  # transformers 5.23: modeling_moonshine.py
IGNORED = ("pad_head_dim_to_multiple_of", "decoder_num_attention_heads", "decoder_num_key_value_heads")


def spec(c: Config) -> Spec:
    d, bias, ffn = c.int("hidden_size"), c.bool("attention_bias", default=False), keys.dense(c, bias=True)

    # transformers 5.23 sets the heads of the encoder for both when it builds the encoder.
    heads = c.int("encoder_num_attention_heads")
    mixer = keys.multi_head(c, d, heads, qkv_bias=bias, out_bias=False, indivisible="run", own_width=True)
    layer = Layer(mixer=mixer.replace(kv_heads=c.int("encoder_num_key_value_heads", default=heads)), ffn=ffn)
    depths = [c.int(f"{side}_num_hidden_layers", maximum=MAX_LAYERS) for side in ("encoder", "decoder")]
    encoder = Spec(family=c.family, hidden=d, layers=tuple(keys.uniform(layer, depths[0])), causal=False)
    parts, known = {"encoder": encoder}, ("ForConditionalGeneration", "Model")
    layers = keys.uniform(layer, depths[1])
    return keys.decoder_spec(c, layers, tied=True, hidden=d, heads=known, parts=parts, uncounted=keys.ACROSS)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def norm(width: int) -> Block:
        return layer_norm(width, bias=False)

    def heard(layer: Layer) -> Block:
        return pre_norm(d, norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=mlp(d, layer.dense.width))

    def layer_block(layer: Layer) -> Block:
        attention, width = mha(d, layer.attention, "o_proj"), layer.dense.width
        gated = block("mlp", fc1=Linear(d, 2 * width, True), fc2=Linear(width, d, True))
        usual = pre_norm(d, norm, self_attn=attention, mlp=gated).children
        return Block({**usual, "encoder_attn": attention, "final_layernorm": norm(d)})

    # Kernels of 127, 7 and 3 frames, and twice the width between: transformers 5.23, modeling_moonshine.py.
    encoder = block(
        conv1=conv(1, d, 127, False, "embedding"),
        conv2=conv(d, 2 * d, 7, True, "embedding"),
        conv3=conv(2 * d, d, 3, True, "embedding"),
        groupnorm=layer_norm(d),
        layers=stack(s.stack("encoder"), heard),
        layer_norm=norm(d),
    )
    decoder = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer_block), norm=norm(d))
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))
