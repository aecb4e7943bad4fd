"""Evolla: Llama's layers, some with an adapter that reads an encoder of proteins (doi:10.1101/2025.01.05.630192)."""

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import altered, base, gqa, layer_norm, pre_norm, rms_norm, swiglu, with_head
from hfcount.spec import Head, Layer, Record, Sizes, Spec, flag, size
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

MODEL_TYPES = ("evolla",)  # transformers 5.23: modeling_evolla.py


class Evolla(Sizes):
    """What Evolla alone has: what reads proteins, and adapters."""

    resampler_depth: int = size()
    resampler_dim_head: int = size()
    resampler_heads: int = size()
    resampler_num_latents: int = size()
    resampler_ff_mult: int = size()
    aligner_ffn_mult: int = size()
    aligner_enable_bias: bool = flag(absent=True)


class EvollaLayer(Record):
    """Whether a layer has an adapter."""

    adapted: bool


def spec(c: Config) -> Spec[Evolla]:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    ffn, count = keys.dense(c, bias=c.bool("mlp_bias", default=False)), keys.layer_count(c)
    step = max(count // c.int("aligner_num_add_layers", default=8), 1)
    some = Indices.span(step - 1, count, step)
    plain, adapted = (Layer(mixer=mixer, ffn=ffn, own=EvollaLayer(adapted=one)) for one in (False, True))
    layers = keys.split((some, lambda: adapted), (Indices.below(count).difference(some), lambda: plain))
    own = Evolla.read(c)
    parts = {"protein": families.part(c, "protein_encoder_config", "evolla_protein")}
    heads: dict[str, Head] = {"ForProteinText2Text": "causal_lm", "Model": "base"}
    return keys.decoder_spec(c, layers, heads=heads, parts=parts).replace(tied=False).having(own)


def _network(width: int, times: int) -> Block:
    inner = times * width
    return block("mlp", norm=layer_norm(width), fc1=Linear(width, inner), fc2=Linear(inner, width))


def blueprint(s: Spec[Evolla]) -> Block:
    d, of, protein = s.hidden, s.own, s.parts["protein"]
    square, p = Linear(d, d, True), protein.hidden
    inner = of.resampler_dim_head * of.resampler_heads
    adapter = block(
        "attention",
        gate_attention=Tensor((1,)),
        gate_ffw=Tensor((1,)),
        query=square,
        key_protein=square,
        value_protein=square,
        attention_norm=rms_norm(d),
        out_proj=Linear(d, d, of.aligner_enable_bias),
        ff=_network(d, of.aligner_ffn_mult),
    )

    def layer(one: Layer) -> Block:
        network = swiglu(d, one.dense.width, one.dense.bias)
        return altered(
            pre_norm(d, self_attn=gqa(d, one.attention), mlp=network),
            adapter=adapter if one.sizes(EvollaLayer).adapted else None,
        )

    attention = block(
        norm_media=layer_norm(p),
        norm_latents=layer_norm(p),
        to_q=Linear(p, inner),
        to_kv=Linear(p, 2 * inner),
        to_out=Linear(inner, p),
    )
    each = Block({"0": attention, "1": _network(p, of.resampler_ff_mult)})
    resampler = block(
        "projector",
        latents=Tensor((of.resampler_num_latents, p)),
        layers=Repeat(Indices.below(of.resampler_depth), each),
        norm=layer_norm(d),
        protein_projector=Linear(p, d, True),
    )
    encoder = Block({"model": families.tree(protein), "sequence_compressor_resampler": resampler}, repeats=0)
    return with_head(s, altered(base(s, layer), protein_encoder=encoder))
