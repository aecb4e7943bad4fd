"""Perceiver IO: latents that attend to an input of any kind, and outputs that attend to them (arXiv:2107.14795)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.convolution import batch_norm, conv
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("perceiver",)  # transformers 5.23: modeling_perceiver.py
IGNORED = tuple(
    "num_blocks num_frames audio_samples_per_frame samples_per_patch output_shape output_num_channels".split()
)

_IMAGES = ("Learned", "Fourier", "ConvProcessing")
_HEADS = keys.named(
    ("ForMaskedLM", "Model", "ForSequenceClassification"),
    ForImageClassificationLearned="image_classification",
    ForImageClassificationFourier="image_classification",
    ForImageClassificationConvProcessing="image_classification",
    ForOpticalFlow="image_to_image",
)
_BANDS, _COLOURS, _CHANNELS, _LEARNED, _PATCH, _FLOW, _KEYS = 64, 3, 64, 256, 54, 2, 256


class Perceiver(Sizes):
    num_latents: int = size("n_z")
    d_model: int
    qk_channels: int
    v_channels: int
    by_query: bool
    wider: int = size("m", "cross_attention_widening_factor")
    way: int
    image_size: int = size("I")
    dimensions: int


def spec(c: Config) -> Spec[Perceiver]:
    d, vision_width = keys.dim("d_z", c.int("d_latents")), keys.dim("d", c.int("d_model"))
    query = 0 if c.is_null("qk_channels") else c.int("qk_channels")
    value = 0 if c.is_null("v_channels") else c.int("v_channels")
    heads = c.int("num_self_attention_heads")
    width, values = query or d, value or query or d
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=width // heads, value_dim=values // heads)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("self_attention_widening_factor") * d, bias=True))
    layers = keys.uniform(layer, c.int("num_self_attends_per_block", maximum=MAX_LAYERS))
    architecture = next(iter(c.strs("architectures")), "")
    sizes = Perceiver.read(
        c,
        d_model=vision_width,
        qk_channels=query,
        v_channels=value,
        by_query=not query and c.choice("cross_attention_shape_for_attention", ("q", "kv"), "kv") == "q",
        way=next((number for number, way in enumerate(_IMAGES) if architecture.endswith(way)), 0),
        dimensions=c.length("train_size") or 0,
    )
    rows, words, why = c.int("max_position_embeddings"), c.int("vocab_size"), keys.COARSER
    return keys.imaging(c, layers, _HEADS, vocab=words, hidden=d, positions=rows, uncounted=why).having(sizes)


def blueprint(s: Spec[Perceiver]) -> Block:
    d, of, head = s.hidden, s.own, s.head
    known, values = of.qk_channels, of.v_channels

    def across(q: int, kv: int, wider: int, keyed: int, valued: int) -> Block:
        width = keyed or (q if of.by_query else kv)
        return _layer(q, kv, width, valued or width, q, wider * q, crossed=True)

    def within(layer: Layer) -> Block:
        width = values or known or d
        return _layer(d, d, known or d, width, width, layer.dense.width)

    inputs, children = _inputs(s)
    encoder = block(cross_attention=across(d, inputs, of.wider, known, values), self_attends=stack(s.layers, within))
    latents = block("embedding", latents=Tensor((of.num_latents, d)))
    body = block(embeddings=latents, encoder=encoder, input_preprocessor=Block(children) if children else None)
    if head == "base":
        return body
    if head == "masked_lm":
        table = block("embedding", position_embeddings=Tensor((s.positions or 0, inputs)))
        asked = across(inputs, d, 1, _KEYS, inputs)
        decoder = block(output_position_encodings=table, decoding_cross_attention=asked)
        words = block("lm_head", bias=Tensor((s.vocab,)))
        return block(perceiver=Block({**body.children, "decoder": decoder}), embedding_decoder=words)
    if head == "image_to_image":
        made = Linear(inputs, _FLOW, True, "other")
        decoder = block(decoding_cross_attention=across(inputs, d, 1, 0, 0), final_layer=made)
    else:
        table = block("embedding", position_embeddings=Tensor((1, d)))
        asked, made = across(d, d, 1, 0, 0), Linear(d, s.labels, True, "other")
        decoder = block(output_position_encodings=table, decoding_cross_attention=asked, final_layer=made)
    return block(perceiver=Block({**body.children, "decoder": block(decoder=decoder)}))


def _layer(q: int, kv: int, width: int, values: int, out: int, wide: int, *, crossed: bool = False) -> Block:
    """A layer whose queries are from q channels, keys and values from kv, and whose output has `out`."""
    inner = block(
        layernorm1=layer_norm(q),
        layernorm2=layer_norm(kv) if crossed else None,
        query=Linear(q, width, True),
        key=Linear(kv, width, True),
        value=Linear(kv, values, True),
    )
    network = block("mlp", dense1=Linear(q, wide, True), dense2=Linear(wide, q, True))
    outer = block("attention", self=inner, output=block(dense=Linear(values, out, True)))
    return block(attention=outer, layernorm=layer_norm(q), mlp=network)


def _inputs(s: Spec[Perceiver]) -> tuple[int, dict[str, Node]]:
    """The channels of what the latents attend to, and the tensors that make it."""
    of, waves = s.own, 2 * _BANDS + 1  # a sine and a cosine for each band, and the place itself
    if s.head in ("masked_lm", "sequence_classification"):
        words, rows = embedding(s.vocab, of.d_model), embedding(s.positions or 0, of.d_model)
        return of.d_model, {"embeddings": words, "position_embeddings": rows}
    if s.head == "image_to_image":
        return _CHANNELS + of.dimensions * waves, {"conv_after_patches": Linear(_PATCH, _CHANNELS, True, "embedding")}
    if s.head != "image_classification":
        return of.d_model, {}
    way = _IMAGES[of.way]
    if way == "Fourier":
        return _COLOURS + 2 * waves, {}
    if way == "ConvProcessing":
        convnet = block(conv=conv(_COLOURS, _CHANNELS, 7), batchnorm=batch_norm(_CHANNELS))
        return _CHANNELS + 2 * waves, {"convnet": convnet}
    places = of.image_size * of.image_size
    return 2 * _LEARNED, {
        "convnet_1x1": conv(_COLOURS, _LEARNED, 1, bias=True),
        "position_embeddings": block("embedding", position_embeddings=Tensor((places, _LEARNED))),
        "positions_projection": Linear(_LEARNED, _LEARNED, True, "embedding"),
    }
