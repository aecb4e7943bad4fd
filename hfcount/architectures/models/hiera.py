"""Hiera: stages of plain attention within units that merge (arXiv:2306.00989)."""

from math import prod

from hfcount.architectures import keys
from hfcount.architectures.layers import backbones, layer_norm, mlp
from hfcount.architectures.layers.classic import classifier, headed
from hfcount.architectures.layers.convolution import conv, led
from hfcount.architectures.layers.stacks import altered
from hfcount.architectures.layers.vision import fused_square_attention
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Record, Spec
from hfcount.spec.tree.dims import scaled
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

MODEL_TYPES = ("hiera",)  # transformers 5.23: modeling_hiera.py
IGNORED = ("patch_padding", "masked_unit_attention", "num_layers", "hidden_size", "normalize_pixel_loss")

_HEADS = keys.named(("ForImageClassification", "Model"), Backbone="backbone")


class HieraLayer(Record):
    """Sizes specific to a layer of Hiera: whether its stage is given out."""

    shown: bool


class HieraDecoder(Record):
    """The decoder that rebuilds images; `fused` are the sides of the kernels that join each scale."""

    depth: int
    hidden: int
    rows: int
    pixels: int
    wide: int
    fused: tuple[tuple[int, ...], ...]


class Hiera(Record):
    """Sizes specific to Hiera; `high` and `wide` are the sides of a patch, `stem` whether its output is given out."""

    num_channels: int
    high: int
    wide: int
    stem: bool
    decoder: HieraDecoder | None


def spec(c: Config) -> Spec[Hiera]:
    first, count, factor = c.int("embed_dim"), len(c.ints("depths")), c.number("embed_dim_multiplier")
    widths = [
        keys.derived_dim(c, f"d{n + 1}", int(first * factor**n), "{embed_dim}" + n * " · {embed_dim_multiplier}")
        for n in range(min(count, 32))
    ]
    image, stride, query = (_sides(c, name) for name in ("image_size", "patch_stride", "query_stride"))
    (high, wide), unit = keys.each(c, "patch_size", 2), c.ints("masked_unit_size", least=1)
    vision_width = backbones.outputs(c, ["stem", *(f"stage{number + 1}" for number in range(count))])
    shown = [HieraLayer(shown=number + 1 in vision_width) for number in range(count)]
    ratio, heads = c.number("mlp_ratio"), keys.each(c, "num_heads", count)
    layers = keys.stages(c, widths, [c.times("mlp_ratio", d) for d in widths], heads, indivisible="built", own=shown)
    places = [tree // step for tree, step in zip(image, stride, strict=False)]
    c.without_effect("num_query_pool")  # on what the encoder holds
    channels = keys.dim("C", c.int("num_channels"))
    d, known, decoder = widths[-1], dict(_HEADS), None
    if c.given("decoder_hidden_size"):
        known["ForPreTraining"] = "pretraining"
        pools = c.int("num_query_pool", minimum=0, maximum=count)
        depth, narrow = c.int("decoder_depth", maximum=MAX_LAYERS), c.int("decoder_hidden_size")
        last = [side // step**pools for side, step in zip(places, query, strict=False)]
        final = [max(1, side // step**pools) for side, step in zip(unit, query, strict=False)]
        pixels = (stride[-1] * query[-1] ** pools) ** len(query) * channels
        fused = tuple(
            tuple(size // step**number // end for size, step, end in zip(unit, query, final, strict=False))
            for number in range(pools)
        )
        wider = scaled(ratio, "mlp_ratio", narrow)
        decoder = HieraDecoder(depth=depth, hidden=narrow, rows=prod(last), pixels=pixels, wide=wider, fused=fused)
    sizes = Hiera(num_channels=channels, high=high, wide=wide, stem=0 in vision_width, decoder=decoder)
    return keys.imaging(c, layers, known, hidden=d, positions=prod(places), uncounted=keys.COARSER).having(sizes)


def _sides(c: Config, name: str) -> list[int]:
    """Height and width; what has other dimensions is built, and sees no image."""
    given = c.ints(name, least=1)
    if len(given) < 2 or (len(given) > 2 and name != "image_size"):  # of which the last ones are not read
        c.cannot_run("list-length", f"{name} has {len(given):,} entries, and images have height and width.", name)
    return given


def blueprint(s: Spec[Hiera]) -> Block:
    of, first, before = s.own, s.layers[0].layer.width, s.layers[0].layer.width
    stages, shown, d = dict[str, Block](), dict[str, Block](), s.hidden
    if of.stem:
        shown["stem"] = layer_norm(first)
    for number, part in enumerate(s.layers):
        width, wide, count = part.layer.width, part.layer.dense.width, part.indices.count
        stages[str(number)] = block(layers=_layers(count, before, width, wide))
        before = width
        if part.layer.sizes(HieraLayer).shown:
            shown[f"stage{number + 1}"] = layer_norm(width)
    projection = conv(of.num_channels, first, of.high, of.wide, bias=True)
    table = Tensor((1, s.positions or 0, first))
    embeddings = block("embedding", patch_embeddings=block(projection=projection), position_embeddings=table)
    body = block(embeddings=embeddings, encoder=block(stages=Block(stages)))
    if s.head == "backbone":
        return altered(body, hidden_states_norms=Block(shown))
    if s.head == "pretraining" and of.decoder:
        return headed(s, "hiera", body, pretraining=_rebuilt(s, of.decoder))
    tree = altered(body, pooler=block(layernorm=layer_norm(d)))
    return headed(s, "hiera", tree, image_classification=block(classifier=classifier(s)))


def _layers(count: int, inputs: int, d: int, wide: int) -> tuple[Node, ...]:
    attention = fused_square_attention(d)
    rest = block(layernorm_before=layer_norm(d), attn=attention, layernorm_after=layer_norm(d), mlp=mlp(d, wide))
    wider = altered(attention, qkv=Linear(inputs, 3 * d, True))
    widening = Linear(inputs, d, True, "attention") if inputs != d else None
    first = altered(rest, layernorm_before=layer_norm(inputs), attn=wider, proj=widening)
    return led(count, first, rest) if count else ()


def _rebuilt(s: Spec[Hiera], of: HieraDecoder) -> Block:
    d, narrow = s.hidden, of.hidden
    widths = [part.layer.width for part in s.layers]
    fusion = {
        str(number): block(
            weight=Tensor((d, width, *sides)),
            bias=Tensor((d,)),
        )
        for number, (width, sides) in enumerate(zip(widths, of.fused, strict=False))
    }
    decoder = block(
        decoder_embeddings=Linear(d, narrow, True, "projector"),
        mask_token=Tensor((1, 1, narrow), component="embedding"),
        decoder_position_embeddings=Tensor((1, of.rows, narrow), component="embedding"),
        decoder_block=block(layers=_layers(of.depth, narrow, narrow, of.wide)),
        decoder_norm=layer_norm(narrow),
        decoder_pred=Linear(narrow, of.pixels, True, "other"),
    )
    heads = block(multi_scale_fusion_heads=Block(fusion))
    return block(encoder_norm=layer_norm(d), multiscale_fusion=heads, decoder=decoder)
