"""Mimi: EnCodec's network with transformers before and behind its codes; whole or half of it (arXiv:2410.00037)."""

from math import ceil

from hfcount.architectures import keys
from hfcount.architectures.components.codecs import Seanet, product
from hfcount.architectures.layers import layer_norm, mlp, pre_norm, stack
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import Config
from hfcount.spec import Head, Layer, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Repeat, Tensor, block, buffer

MODEL_TYPES = ("mimi", "mimi_encoder", "mimi_decoder")  # transformers 5.23: modeling_mimi.py
IGNORED = ("dilation_growth_rate", "use_causal_conv", "use_streaming", "sampling_rate", "frame_rate", "_frame_rate")

SPELLINGS = {
    r"\b(?:en|de)coder\.((?:en|de)coder_(?:seanet|transformer)|downsample|upsample)\.": r"\1.",
    r"\b(en|de)coder_seanet\.": r"\1coder.",
}


class Mimi(Record):
    """Sizes specific to Mimi.

    `stride` is how many frames of the convolutions are one of the codes, None if there is no convolution between them;
    `inner` is the width within its quantizers, of which the first are `semantic` and the rest `acoustic`.
    """

    coder: Seanet
    stride: int | None
    upsample_groups: int
    semantic: int
    acoustic: int
    codebook_size: int
    codebook_dim: int
    inner: int
    encodes: bool
    decodes: bool
    quantizes: bool


def spec(c: Config) -> Spec[Mimi]:
    d, coder = c.int("hidden_size"), Seanet.by_rates(c, default=(8, 6, 5, 4))
    heads, bias = c.int("num_attention_heads"), c.bool("attention_bias")
    keys.divides(c, "num_attention_heads", heads, "hidden_size", d)
    words, codebooks, few = c.int("codebook_size"), c.int("num_quantizers"), c.int("num_semantic_quantizers")
    if words & (words - 1):
        raise c.error("out-of-range", f"codebook_size is {words:,}, but must be a power of 2.", "codebook_size")
    if few >= codebooks:
        text = f"num_semantic_quantizers is {few:,}, but must be smaller than num_quantizers, {codebooks:,}."
        raise c.error("out-of-range", text, "num_semantic_quantizers", observed=int(few))
    sizes = Mimi(
        coder=coder,
        stride=_stride(c, coder),
        upsample_groups=keys.dim("g", c.int("upsample_groups")),
        semantic=keys.dim("n_s", few),
        acoustic=codebooks - few,
        codebook_size=keys.dim("|V|", words),
        codebook_dim=keys.dim("d_q", c.int("codebook_dim", default=d)),
        inner=keys.dim("d_i", c.int("vector_quantization_hidden_dimension")),
        encodes=not c.family.endswith("decoder") and not _dropped(c, "encoder"),
        decodes=not c.family.endswith("encoder") and not _dropped(c, "decoder"),
        quantizes=c.family == "mimi",
    )
    if sizes.stride and sizes.decodes:
        keys.divides(c, "upsample_groups", sizes.upsample_groups, "hidden_size", d)
    layer = Layer(mixer=keys.attention(c, bias=bias), ffn=keys.dense(c))
    known: dict[str, Head] = {"EncoderModel": "base", "DecoderModel": "base"}
    return keys.encoding(c, keys.uniform(layer, keys.layer_count(c)), known, hidden=d).having(sizes)


def _dropped(c: Config, half: str) -> bool:
    """Whether the codec is without this half, which a null in place of its config says."""
    return c.family == "mimi" and c.has(f"{half}_config") and c.is_null(f"{half}_config")


def _stride(c: Config, coder: Seanet) -> int | None:
    hop = product(coder.ratios)
    rate = c.int("sampling_rate")
    frames = ceil(int(rate) / int(hop))
    given = c.number("_frame_rate", "frame_rate", default=None)
    wanted = int(rate) / (2 * int(hop)) if given is None else given
    key = "_frame_rate" if c.given("_frame_rate") else "frame_rate"
    if frames == wanted:
        return None
    steps = " · ".join(f"{{upsampling_ratios}}[{place}]" for place, _ in enumerate(coder.ratios))
    rule = f"{{sampling_rate}} / {{{key}}}"  # of which some are absent
    if all(map(c.given, ("sampling_rate", "upsampling_ratios", key))):
        even = int(rate) % int(hop) == 0
        rule = f"{{sampling_rate}} / ({steps}) / {{{key}}}, rounded down" if even else f"{rule}, by its factors"
    return keys.derived_dim(c, "s", int(frames / wanted), rule)


def blueprint(s: Spec[Mimi]) -> Block:
    d, of = s.hidden, s.own
    scale = block("other", scale=Tensor((d,)))

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, bias=False)
        usual = pre_norm(d, layer_norm, self_attn=mha(d, layer.attention, "o_proj"), mlp=network)
        return Block({**usual.children, "self_attn_layer_scale": scale, "mlp_layer_scale": scale})

    def quantizer(count: int) -> Block:
        usage, table = buffer(of.codebook_size), buffer(of.codebook_size, of.codebook_dim)
        codebook = block(initialized=buffer(1), cluster_usage=usage, embed_sum=table)
        apart = of.inner != d
        return block(
            "embedding",
            input_proj=conv(d, of.inner, 1, False) if apart else None,
            output_proj=conv(of.inner, d, 1, False) if apart else None,
            layers=Repeat(Indices.below(count), block(codebook=codebook)),
        )

    transformer, children = block(layers=stack(s.layers, layer_block)), dict[str, Block]()
    if of.encodes:
        children |= {"encoder": of.coder.encoder(d), "encoder_transformer": transformer}
        children |= {"downsample": block("convolution", conv=conv(d, d, 2 * of.stride, False))} if of.stride else {}
    if of.decodes:
        children |= {"decoder": of.coder.decoder(d), "decoder_transformer": transformer}
        if of.stride:
            wider = upsampling(d, d // of.upsample_groups, 2 * of.stride, False)
            children["upsample"] = block("convolution", conv=wider)
    if of.quantizes:
        first, rest = quantizer(of.semantic), quantizer(of.acoustic)
        children["quantizer"] = block(semantic_residual_vector_quantizer=first, acoustic_residual_vector_quantizer=rest)
    return Block(children)
