"""Swin: stages of attention within shifted windows, each stage wider and coarser (arXiv:2103.14030)."""

from functools import partial

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, backbones, layer_norm, stack
from hfcount.architectures.layers.attention import Indivisible
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.vision import patch_convolution, stage_norms
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer, obsolete

# transformers 5.23: modeling_swin.py, modeling_donut_swin.py, modeling_maskformer_swin.py
MODEL_TYPES = ("swin", "donut-swin", "maskformer-swin")
IGNORED = ("stage_names", "num_layers", "hidden_size", "image_size", "path_norm")
CONVERTED = ("swin",)
SPELLINGS = {
    **{rf"attention\.self\.{name}\.": f"attention.{name[0]}_proj." for name in ("query", "key", "value")},
    r"attention\.self\.(relative_position_bias_table)$": r"attention.relative_position_bias.\1",
    r"attention\.output\.dense\.": "attention.o_proj.",
    r"intermediate\.dense\.": "mlp.fc1.",
    r"output\.dense\.": "mlp.fc2.",
    r"(?<=\.)swin\.(embeddings|encoder)\.": r"\1.",
}

_HEADS = keys.named(("ForImageClassification", "Model"), ForMaskedImageModeling="masked_image", Backbone="backbone")


class Swin(Sizes):
    window_size: int = size("w")
    encoder_stride: int = size("S", absent=32)


def spec(c: Config) -> Spec[Swin]:
    first, stages = c.int("embed_dim"), c.length("depths") or 0
    heads = keys.each(c, "num_heads", stages, default=(3, 6, 12, 24))
    widths = [first * 2 ** min(number, 32) for number in range(len(heads))]
    bias = c.bool("qkv_bias", default=True)
    indivisible: Indivisible = "built" if c.family == "swin" else "refused"  # transformers 5.24, modeling_swin.py:406
    wide = partial(c.times, "mlp_ratio", default=4)
    layers = keys.stages(c, widths, wide, heads, bias=bias, indivisible=indivisible)
    sizes = Swin.read(c)
    places = tuple(backbones.features(c, len(layers)))
    more = int(c.family == "donut-swin")  # a row for a first token that Donut does not have
    rows = keys.squares(c) + more if c.bool("use_absolute_embeddings", default=False) else None
    d = layers[-1].layer.width
    model = keys.decoder_spec(c, layers, vocab=0, hidden=d, heads=_HEADS, layer_count=None)
    return model.replace(causal=False, positions=rows, patches=keys.patches(c), given_out=places).having(sizes)


def blueprint(s: Spec[Swin]) -> Block:
    window, first = s.own.window_size, s.layers[0].layer.width
    side = 2 * window - 1

    def layer_block(layer: Layer) -> Block:
        a, d, wide = layer.attention, layer.width, layer.dense.width
        into, squares = Linear(d, d, a.qkv_bias), window * window
        # Which row of the table belongs to a pair of places.
        pairs = obsolete(squares, squares) if s.family == "swin" else buffer(squares, squares, whole=True)
        table = Tensor((side * side, a.heads))
        projections = block(
            query=into, key=into, value=into, relative_position_bias_table=table, relative_position_index=pairs
        )
        return block(
            layernorm_before=layer_norm(d),
            attention=block("attention", self=projections, output=block(dense=Linear(d, d, True))),
            layernorm_after=layer_norm(d),
            intermediate=block("mlp", dense=Linear(d, wide, True)),
            output=block("mlp", dense=Linear(wide, d, True)),
        )

    stages = dict[str, Block]()
    for number, part in enumerate(s.layers):
        four = 4 * part.layer.width
        coarser = block("other", reduction=Linear(four, four // 2), norm=layer_norm(four))
        last = number == len(s.layers) - 1
        stages[str(number)] = block(blocks=stack((part,), layer_block), downsample=None if last else coarser)
    embeddings = block(
        "embedding",
        patch_embeddings=block(projection=patch_convolution(s, width=first)),
        position_embeddings=Tensor((1, s.positions, first)) if s.positions else None,
        mask_token=Tensor((1, 1, first)) if s.head == "masked_image" else None,
        norm=layer_norm(first),
    )
    d, stride, first_family = s.hidden, s.own.encoder_stride, s.family == "swin"
    norm = None if s.family == "donut-swin" else layer_norm(d)
    body = block(embeddings=embeddings, encoder=block(layers=Block(stages)), layernorm=norm)
    pixels = stride * stride * s.seen.channels
    image = {"0": block("other", weight=Tensor((pixels, d, 1, 1)), bias=Tensor((pixels,)))}
    if s.head == "backbone":
        widths = [part.layer.width for part in s.layers]
        if s.family == "maskformer-swin":
            every = {str(number): layer_norm(width) for number, width in enumerate(widths)}
            return block(model=body, hidden_states_norms=Block(every))
        norms = stage_norms(s, [first, *widths])
        # Nothing reads the norm behind the last stage: it is stored, and need not be there.
        unread = Tensor((d,), presence="dispensable")
        left = block(layernorm=block("norm", weight=unread, bias=unread))
        return Block({**altered(body, layernorm=None, swin=left).children, **norms.children})
    heads = {"masked_image": block(decoder=Block(image)), "image_classification": block(classifier=classifier(s))}
    return headed(s, "swin" if first_family else "donut", body, **heads)
