"""Heads of encoders of speech, and the layers of conformers, named as in wav2vec 2.0 and its kin."""

from collections.abc import Mapping

from hfcount.parts.classic import classifier, headed
from hfcount.parts.convolution import batch_norm
from hfcount.parts.layers import chain
from hfcount.parts.norms import layer_norm
from hfcount.parts.temporal import conformer_convolution, conv
from hfcount.spec import GQA, Layer, Spec
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block


def speech_heads(s: Spec, prefix: str, body: Block, **more: Block) -> Block:
    """An encoder with its head: characters, classes of recordings or of frames, or speakers; `more` are further ones.

    Tensors: lm_head (|V|, d_o); or, the last with layer_weights (N + 1) if the trait `weighted` is set, projector
    (d_c, d) and classifier (c, d_c); classifier (c, d); or, for speakers, those of `speakers`.
    """
    d, of = s.hidden, s.traits
    weights = Tensor((s.depth + 1,), component="other") if of["weighted"] else None
    labels = dict[str, Block]()
    if s.head == "sequence_classification":
        wide = of["classifier_proj_size"]
        labels[s.head] = block(
            layer_weights=weights, projector=Linear(d, wide, True, "other"), classifier=classifier(s, wide)
        )
    if s.head == "token_classification":
        labels[s.head] = block(layer_weights=weights, classifier=classifier(s))
    if s.head == "speaker_classification":
        labels[s.head] = Block({**block(layer_weights=weights).children, **speakers(s).children})
    if s.head == "ctc":
        labels[s.head] = block(lm_head=Linear(s.out or d, of["vocab_size"], True, "lm_head"))
    return headed(s, prefix, body, **labels, **more)


def speakers(s: Spec) -> Block:
    """X-vectors, by layers of T_i elements that see w_i frames each (https://doi.org/10.1109/ICASSP.2018.8461375).

    Tensors: projector (T_1, d), tdnn.i.kernel (T_i, w_i·T_i-1), feature_extractor (d_x, 2·T_n), classifier (d_x, d_x),
    objective.weight (d_x, c).
    """
    of, x = s.traits, s.traits["xvector_output_dim"]
    before = first = of["tdnn_dim.0"]
    layers = dict[str, Block]()
    for number in range(of["tdnn"]):
        width = of[f"tdnn_dim.{number}"]
        layers[str(number)] = block("other", kernel=Linear(before * of[f"tdnn_kernel.{number}"], width, True))
        before = width
    return block(
        projector=Linear(s.hidden, first, True, "other"),
        tdnn=Block(layers),
        feature_extractor=Linear(2 * before, x, True, "other"),
        classifier=Linear(x, x, True, "other"),
        objective=block("other", weight=Tensor((x, s.labels))),
    )


def feed_forward(d: int, width: int) -> Block:
    """A network of two layers. Tensors: intermediate_dense (d_ff, d), output_dense (d, d_ff), with biases."""
    return block("mlp", intermediate_dense=Linear(d, width, True), output_dense=Linear(width, d, True))


def conformer_attention(d: int, a: GQA, relative: bool = False, distances: int = 0) -> Block:
    """Attention with positions as in Transformer-XL if `relative`, or with a table of keys for each of `distances`.

    Tensors: linear_q, linear_k, linear_v and linear_out (d, d); linear_pos (d, d), pos_bias_u and pos_bias_v (h, h_d);
    distance_embedding (distances, h_d).
    """
    square, bias = Linear(d, d, True), Tensor((a.heads, a.head_dim)) if relative else None
    return block(
        "attention",
        linear_q=square,
        linear_k=square,
        linear_v=square,
        linear_out=square,
        linear_pos=Linear(d, d) if relative else None,
        pos_bias_u=bias,
        pos_bias_v=bias,
        distance_embedding=block(weight=Tensor((distances, a.head_dim))) if distances else None,
    )


def conformer_layer(d: int, one: Layer, attention: Block, kernel: int, batch: bool) -> Block:
    """A conformer's layer: a network, attention, a convolution, and a network again (arXiv:2005.08100).

    Tensors: ffn1, self_attn, conv_module, ffn2, a norm of each (d) and final_layer_norm (d).
    """
    network, norm = feed_forward(d, one.dense.width), layer_norm(d)
    return block(
        ffn1_layer_norm=norm,
        ffn1=network,
        self_attn_layer_norm=norm,
        self_attn=attention,
        conv_module=conformer_convolution(d, kernel, batch),
        ffn2_layer_norm=norm,
        ffn2=network,
        final_layer_norm=norm,
    )


def shortening(d: int, width: int, kernel: int, a: GQA) -> Block:
    """A layer that shortens a sequence, attention and the path around it alike by a convolution (arXiv:2308.11596).

    Tensors: residual_layer_norm and self_attn_layer_norm (d), residual_conv and self_attn_conv (2·d, d, kernel),
    self_attn, ffn_layer_norm (d), ffn.
    """
    convolution, norm = conv(d, 2 * d, kernel), layer_norm(d)
    return block(
        residual_layer_norm=norm,
        residual_conv=convolution,
        self_attn_layer_norm=norm,
        self_attn_conv=convolution,
        self_attn=conformer_attention(d, a),
        ffn_layer_norm=norm,
        ffn=feed_forward(d, width),
    )


def postnet_layers(of: Mapping[str, int]) -> tuple[Repeat, ...]:
    """Convolutions that refine a spectrogram (arXiv:1712.05884). Tensors: i.conv.weight (outputs, inputs, w_q), a batch
    norm each."""

    def layer(left: int, right: int) -> Block:
        return block(conv=conv(left, right, of["speech_decoder_postnet_kernel"], False), batch_norm=batch_norm(right))

    bins, units = of["num_mel_bins"], of["speech_decoder_postnet_units"]
    return chain(bins, units, bins, of["speech_decoder_postnet_layers"], layer)
