"""Parts of encoders that read waveforms, named as in wav2vec 2.0 (arXiv:2006.11477)."""

from collections.abc import Callable

from hfcount.parts.classic import mha
from hfcount.parts.layers import altered
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conv
from hfcount.spec import Layer, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


def waveform(s: Spec, layer: Callable[[Layer], Block]) -> Block:
    """The model without a head.

    Tensors: those of `filters` under feature_extractor, feature_projection.layer_norm (C_n) and projection (d, C_n),
    `places` under encoder.pos_conv_embed, encoder.layer_norm (d), encoder.layers, and masked_spec_embed (d).
    """
    d, of = s.hidden, s.traits
    before = last_filter(s)
    normed = layer_norm(before) if of["feat_proj_layer_norm"] else None
    return block(
        masked_spec_embed=masked(s),
        feature_extractor=filters(s),
        feature_projection=block("embedding", layer_norm=normed, projection=Linear(before, d, True)),
        encoder=block(pos_conv_embed=places(s), layer_norm=layer_norm(d), layers=stack(s.layers, layer)),
    )


def masked(s: Spec) -> Tensor | None:
    """What stands for masked frames in training, (d); none if none are."""
    return Tensor((s.hidden,), component="embedding") if s.traits["masked"] else None


def last_filter(s: Spec) -> int:
    """The width of the last convolution over the waveform."""
    return s.traits[f"conv_dim.{s.traits['convolutions'] - 1}"]


def filters(s: Spec) -> Block:
    """Convolutions. Tensors: conv_layers.i.conv (C_i, C_i-1, w_i), with a norm (C_i) behind the first or each."""
    of, found, before = s.traits, dict[str, Block](), 1
    for number in range(of["convolutions"]):
        width, kernel = of[f"conv_dim.{number}"], of[f"conv_kernel.{number}"]
        norm = layer_norm(width) if of["each_normed"] or not number else None
        found[str(number)] = block(conv=conv(before, width, kernel, bool(of["conv_bias"])), layer_norm=norm)
        before = width
    return block("embedding", conv_layers=Block(found))


def places(s: Spec) -> Block:
    """A wide convolution in place of positions. Tensors: conv (d, d/groups, w_p) as direction and length, and bias."""
    d, kernel = s.hidden, s.traits["num_conv_pos_embeddings"]
    direction = Tensor((d, d // s.traits["num_conv_pos_embedding_groups"], kernel))
    parted = block(original0=Tensor((1, 1, kernel)), original1=direction)
    return block("embedding", conv=block(bias=Tensor((d,)), parametrizations=block(weight=parted)))


def quantizer(s: Spec) -> Block:
    """What wav2vec 2.0 learns to predict: g codebooks of v vectors that are d_q wide together.

    Tensors: quantizer.codevectors (1, g·v, d_q/g) and weight_proj (g·v, C_n), project_hid (d_p, d), project_q (d_p,
    d_q).
    """
    of = s.traits
    groups, wide, narrow = of["num_codevector_groups"], of["codevector_dim"], of["proj_codevector_dim"]
    words = groups * of["num_codevectors_per_group"]
    return block(
        quantizer=block(
            "other",
            codevectors=Tensor((1, words, wide // groups)),
            weight_proj=Linear(last_filter(s), words, True),
        ),
        project_hid=Linear(s.hidden, narrow, True, "other"),
        project_q=Linear(wide, narrow, True, "other"),
    )


def waveform_layer(d: int, one: Layer, narrow: int = 0) -> Block:
    """A layer of the encoder.

    Tensors: attention, layer_norm (d), feed_forward.intermediate_dense (d_ff, d) and output_dense (d, d_ff),
    final_layer_norm (d); with `narrow` adapter_layer, with norm (d), linear_1 (narrow, d), linear_2 (d, narrow).
    """
    width = one.dense.width
    wide, back = Linear(d, width, True), Linear(width, d, True)
    adapter = block("other", norm=layer_norm(d), linear_1=Linear(d, narrow, True), linear_2=Linear(narrow, d, True))
    return block(
        attention=mha(d, one.attention),
        layer_norm=layer_norm(d),
        feed_forward=block("mlp", intermediate_dense=wide, output_dense=back),
        final_layer_norm=layer_norm(d),
        adapter_layer=adapter if narrow else None,
    )


def relative_gate(d: int, one: Layer) -> Block:
    """Attention with gated relative positions (arXiv:2110.13900).

    Tensors besides those of attention: gru_rel_pos_const (1, h, 1, 1), gru_rel_pos_linear (8, h_d) and in the first
    layer rel_attn_embed (buckets, h).
    """
    a, buckets = one.attention, one.traits["buckets"]
    table = block(weight=Tensor((buckets, a.heads))) if buckets else None
    gate = Linear(a.head_dim, 8, True)
    constant = Tensor((1, a.heads, 1, 1))
    return altered(mha(d, a), gru_rel_pos_const=constant, gru_rel_pos_linear=gate, rel_attn_embed=table)


def waveform_adapter(s: Spec) -> Block:
    """Convolutions that shorten the output. Tensors: proj and its norm unless d_o is d, layers.i.conv (2·d_o, d_o)."""
    d, out = s.hidden, s.out or s.hidden
    kernel, count = s.traits["adapter_kernel_size"], Indices.below(s.traits["num_adapter_layers"])
    convolution = block(conv=conv(out, 2 * out, kernel))
    apart = out != d
    return block(
        "other",
        proj=Linear(d, out, True) if apart else None,
        proj_layer_norm=layer_norm(out) if apart else None,
        layers=Repeat(count, convolution),
    )
