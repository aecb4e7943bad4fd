"""Models of timm, named as there: Perception Encoder and FastViT.

Source: timm 1.0, models/eva.py, models/fastvit.py.
"""

from hfcount.parts.convolution import batch_norm, conv, depthwise, normed
from hfcount.parts.ffn import mlp
from hfcount.parts.model import stack
from hfcount.parts.norms import layer_norm
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, Tensor, block


def perception_encoder(s: Spec, head: Linear | None) -> Block:
    """Perception Encoder (arXiv:2504.13181): a ViT with rotary positions, and norms and pooling by choice."""
    d, of, norm = s.hidden, s.traits, layer_norm(s.hidden)
    gamma = Tensor((d,), component="other") if of["gammas"] else None

    def layer(one: Layer) -> Block:
        attention = fused_square_attention(d, bool(of["qkv_bias"]))
        network = mlp(d, one.dense.width)
        return block(norm1=norm, attn=attention, gamma_1=gamma, norm2=norm, mlp=network, gamma_2=gamma)

    def tokens(count: int) -> Tensor | None:
        return Tensor((1, count, d), component="embedding") if count else None

    pooling = None
    if "pooled" in of:
        square = Linear(d, d, True)
        pooling = block(
            latent=Tensor((1, 1, d), component="attention"),
            **block("attention", q=square, kv=Linear(d, 2 * d, True), proj=square).children,
            norm=norm,
            mlp=mlp(d, of["pooled"]),
        )
    return block(
        cls_token=tokens(of["class_token"]),
        reg_token=tokens(of["num_reg_tokens"]),
        pos_embed=tokens(s.positions or 0),
        patch_embed=block(proj=patch_convolution(s, bias=not of["norm_pre"])),
        norm_pre=norm if of["norm_pre"] else None,
        blocks=stack(s.layers, layer),
        norm=norm if of["norm"] else None,
        attn_pool=pooling,
        fc_norm=norm if of["fc_norm"] else None,
        head=head,
    )


def fast_vit(s: Spec, head: Linear | None) -> Block:
    """FastViT (arXiv:2303.14189): stages of convolutions, the last of attention; in inference mode branches are one."""
    of, fused, d = s.traits, bool(s.traits["inference_mode"]), s.layers[0].layer.width
    branched, stages = bool(of["batch_normed"]), dict[str, Node]()
    stem = {
        "0": _merged(of["in_chans"], d, 3, fused, branched=branched),
        "1": _merged(d, d, 3, fused, groups=d, branched=branched),
        "2": _merged(d, d, 1, fused, kept=True),
    }
    before = d
    for number, part in enumerate(s.layers):
        d = part.layer.width
        squeezed = d // 4 if of["squeezing"] and number > 1 else 0
        places = {"reparam_conv" if fused else "pos_enc": depthwise(d, _WIDE, bias=True)}
        stages[str(number)] = block(
            downsample=block(proj=_halving(before, d, fused, squeezed)) if number else None,
            pos_emb=Block(places) if part.layer.mixer else None,
            blocks=stack((part,), lambda one: _fast_layer(one, fused, branched)),
        )
        before = d
    out = s.hidden
    final = _merged(before, out, 3, fused, groups=before)
    squeeze = _squeeze(out, out // 16)
    return block(
        stem=Block(stem),
        stages=Block(stages),
        final_conv=block(se=squeeze, **final.children),
        head=block(fc=head) if head else None,
    )


_WIDE, _SMALL = 7, 3  # kernels


def _fast_layer(one: Layer, fused: bool, batch_normed: bool) -> Block:
    d, wide = one.width, one.dense.width
    scale = block("other", gamma=Tensor((d, 1, 1)))
    seen = normed(d, d, _WIDE, groups=d, names=("conv", "bn"))
    network = block("mlp", conv=seen, fc1=conv(d, wide, 1, bias=True), fc2=conv(wide, d, 1, bias=True))
    if one.mixer:
        attention = fused_square_attention(d, bias=False)
        norm = batch_norm(d) if batch_normed else layer_norm(d)
        return block(norm=norm, token_mixer=attention, layer_scale_1=scale, mlp=network, layer_scale_2=scale)
    way = _merged(d, d, _SMALL, False, groups=d, kept=True)
    apart = block(norm=block(identity=batch_norm(d)), mixer=way, layer_scale=scale)
    mixer = block(reparam_conv=depthwise(d, _SMALL, bias=True)) if fused else apart
    return block(token_mixer=mixer, mlp=network, layer_scale=scale)


def _merged(
    inputs: int, outputs: int, side: int, fused: bool, groups: int = 1, branched: bool = True, kept: bool = False
) -> Block:
    """A convolution; unless `fused`, with branches: of one pixel if it is `branched`, and the input if it is `kept`."""
    if fused:
        return block(reparam_conv=conv(inputs, outputs, side, groups=groups, bias=True))
    point = normed(inputs, outputs, 1, groups=groups, names=("conv", "bn"))
    return block(
        identity=batch_norm(inputs) if kept else None,
        conv_kxk=Block({"0": normed(inputs, outputs, side, groups=groups, names=("conv", "bn"))}),
        conv_scale=point if branched and side > 1 else None,
    )


def _halving(inputs: int, d: int, fused: bool, squeezed: int) -> Block:
    """What halves an image: a wide convolution of each channel, perhaps squeezed, and one of pixels."""
    large, small = (normed(inputs, d, side, groups=inputs, names=("conv", "bn")) for side in (_WIDE, _SMALL))
    whole = block(reparam_conv=conv(inputs, d, _WIDE, groups=inputs, bias=True))
    first = whole if fused else block(large_conv=large, small_conv=small)
    squeeze = block(se=_squeeze(d, squeezed)).children if squeezed else {}
    return Block({"0": Block({**first.children, **squeeze}), "1": _merged(d, d, 1, fused, kept=True)})


def _squeeze(d: int, narrow: int) -> Block:
    """Weighs channels by what all places have of them (arXiv:1709.01507)."""
    return block(fc1=conv(d, narrow, 1, bias=True), fc2=conv(narrow, d, 1, bias=True))
