"""Dia: an encoder of bytes before a decoder of the codes of several channels (https://huggingface.co/nari-labs)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, fused_swiglu, rms_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("dia",)  # transformers 5.23: modeling_dia.py


def spec(c: Config) -> Spec:
    text, parts = families.part(c, "decoder_config"), {"encoder": families.part(c, "encoder_config")}
    channels = text.own.num_channels if isinstance(text.own, DiaDecoder) else None
    delays = c.length("delay_pattern")
    if delays is not None and delays != channels:
        raise c.error(
            "list-length", f"delay_pattern has {delays:,} entries, and num_channels is {channels}.", "delay_pattern"
        )
    heads = ("ForConditionalGeneration", "Model")
    return keys.composite(c, text, parts, key="decoder_config", heads=heads).replace(tied=False)


def blueprint(s: Spec) -> Block:
    body = block(encoder=families.tree(s.part("encoder")), decoder=families.base(s))
    if s.head == "base":
        return body
    channels = s.part("text").sizes(DiaDecoder).num_channels
    return block(model=body, logits_dense=Linear(s.hidden, channels * s.vocab, component="lm_head"))


class DiaDecoder(Sizes):
    cross_num_attention_heads: int = size("h_x")
    cross_num_key_value_heads: int = size("h_xkv")
    cross_head_dim: int = size("h_xd")
    cross_hidden_size: int = size("d_x")
    num_channels: int = size("n_c")


def half_spec(c: Config) -> Spec[DiaDecoder | None]:
    """Dia's halves: an encoder of bytes, and a decoder of the codes of several channels."""
    encoder = c.family == "dia_encoder"
    sizes = None if encoder else DiaDecoder.read(c)
    heads = keys.named(Encoder="base") if encoder else keys.named(Decoder="base")
    model = keys.decoder_spec(c, Layer(mixer=keys.attention(c), ffn=keys.dense(c)), heads=heads)
    return model.replace(causal=not encoder, uncounted="" if encoder else keys.ACROSS).having(sizes)


def half_blueprint(s: Spec[DiaDecoder | None]) -> Block:
    d, decoding, norm = s.hidden, s.own, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        attention, network = mha(d, layer.attention, "o_proj"), fused_swiglu(d, layer.dense.width)
        body = block(self_attention=attention, mlp=network, pre_sa_norm=norm)
        if decoding is None:
            return Block({**body.children, "post_sa_norm": norm})
        crossing = _crossing(d, decoding)
        return Block({**body.children, "cross_attention": crossing, "pre_ca_norm": norm, "pre_mlp_norm": norm})

    layers = stack(s.layers, layer_block)
    if decoding is None:
        return block(embedding=embedding(s.vocab, d), layers=layers, norm=norm)
    table = block(embed=embedding(decoding.num_channels * s.vocab, d))
    return block(embeddings=table, layers=layers, norm=norm)


def _crossing(d: int, of: DiaDecoder) -> Block:
    heard, width = of.cross_hidden_size, of.cross_head_dim
    queries, kept = of.cross_num_attention_heads * width, of.cross_num_key_value_heads * width
    into, out = Linear(heard, kept), Linear(queries, d)
    return block("attention", q_proj=Linear(d, queries), k_proj=into, v_proj=into, o_proj=out)


PARTS = (families.Family(("dia_encoder", "dia_decoder"), half_spec, half_blueprint),)
