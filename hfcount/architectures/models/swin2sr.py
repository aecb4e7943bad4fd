"""Swin2SR: layers of Swin version 2 between convolutions, which enlarge an image (arXiv:2209.11345)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, stack
from hfcount.architectures.layers.classic import headed
from hfcount.architectures.layers.convolution import conv
from hfcount.architectures.layers.vision import cosine_layer
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Layers, Patches, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("swin2sr",)  # transformers 5.23: modeling_swin2sr.py
IGNORED = ("num_layers",)

_HEADS = keys.named(("Model",), ForImageSuperResolution="image_to_image")
_WAYS = ("pixelshuffle", "pixelshuffle_aux", "pixelshuffledirect", "nearest+conv")
_JOINS = ("1conv", "3conv")
_FEATURES, _COLOURS = 64, 3


class Swin2sr(Sizes):
    num_channels_out: int
    upsampler: int
    resi_connection: int
    upscale: int
    window_size: int


def spec(c: Config) -> Spec[Swin2sr]:
    d, bias, side = c.int("embed_dim"), c.bool("qkv_bias", default=True), keys.grid(c)
    ffn, layers, depths = Dense(width=c.times("mlp_ratio", d), bias=True), [], c.ints("depths")
    for depth, heads in zip(depths, keys.each(c, "num_heads", len(depths)), strict=True):
        layer = Layer(mixer=keys.multi_head(c, d, heads, qkv_bias=bias), ffn=ffn)
        layers.append(Layers(indices=Indices.below(max(0, depth)), layer=layer))
    channels, scale = c.int("num_channels"), c.int("upscale", maximum=2**16)
    way, join = c.str("upsampler", default=""), c.str("resi_connection", default="")
    if way in _WAYS[:2] and scale != 3 and scale & (scale - 1):
        raise c.error(
            "out-of-range", f"upscale is {scale:,}, but must be 3 or a power of 2.", "upscale", observed=int(scale)
        )
    sizes = Swin2sr.read(
        c,
        num_channels_out=keys.dim("C_o", c.int("num_channels_out", default=channels)),
        upsampler=_WAYS.index(way) if way in _WAYS else len(_WAYS),
        resi_connection=_JOINS.index(join) if join in _JOINS else len(_JOINS),
        upscale=keys.dim("S", scale),
        window_size=keys.dim("w", min(c.int("window_size"), side)),
    )
    rows = side * side + 1 if c.bool("use_absolute_embeddings", default=False) else None
    patches = Patches(side=keys.patches(c).side, channels=channels)
    return keys.imaging(c, layers, _HEADS, hidden=d, positions=rows, patches=patches).having(sizes)


def blueprint(s: Spec[Swin2sr]) -> Block:
    d, of, stages, norm = s.hidden, s.own, dict[str, Block](), layer_norm(s.hidden)
    quarter, same = d // 4, conv(d, d, 3, bias=True)
    slim = Block({"0": _conv(d, quarter), "2": conv(quarter, quarter, 1, bias=True), "4": _conv(quarter, d)})
    joined = [same, slim, None][of.resi_connection]
    # The first convolution makes d channels, so that these patches have as many.
    patches = Block(conv(d, d, s.seen.side, bias=True).children, "embedding")
    for number, part in enumerate(s.layers):
        layers = stack((part,), lambda layer: cosine_layer(d, layer, of.window_size))
        stages[str(number)] = block(layers=layers, conv=joined, patch_embed=block(projection=patches))
    table = Tensor((1, s.positions, d), component="embedding") if s.positions else None
    body = block(
        first_convolution=_conv(s.seen.channels, d),
        embeddings=block(patch_embeddings=block(projection=patches, layernorm=norm), position_embeddings=table),
        encoder=block(stages=Block(stages)),
        layernorm=norm,
        conv_after_body=same,
    )
    return headed(s, "swin2sr", body, image_to_image=_enlarged(s))


def _conv(inputs: int, outputs: int) -> Block:
    return conv(inputs, outputs, 3, bias=True)


def _enlarged(s: Spec[Swin2sr]) -> Block:
    d, of, wide, channels = s.hidden, s.own, _FEATURES, s.seen.channels
    out, scale, same = of.num_channels_out, of.upscale, conv(_FEATURES, _FEATURES, 3, bias=True)
    way = _WAYS[of.upsampler] if of.upsampler < len(_WAYS) else ""
    if not way:
        return block(final_convolution=_conv(d, out))
    if way == "pixelshuffledirect":
        return block(upsample=block(conv=_conv(d, scale * scale * out)))
    started, final = _conv(d, wide), _conv(wide, out)
    if way == "nearest+conv":
        steps = block(conv_up1=same, conv_up2=same, conv_hr=same)
        return block(upsample=block(conv_before_upsample=started, **steps.children, final_convolution=final))
    doubled = {f"convolution_{number}": _conv(wide, 4 * wide) for number in range(int(scale).bit_length() - 1)}
    steps = block(convolution=_conv(wide, 9 * wide)) if scale == 3 else Block(doubled)
    beside = way == "pixelshuffle_aux"
    return block(
        upsample=block(
            conv_bicubic=_conv(channels, wide) if beside else None,
            conv_before_upsample=started,
            conv_aux=_conv(wide, channels) if beside else None,
            conv_after_aux=Block({"0": _conv(_COLOURS, wide)}) if beside else None,
            upsample=steps,
            final_convolution=final,
        )
    )
