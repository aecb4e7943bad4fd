"""Qianfan-OCR's vision tower: InternViT, under its own names within the whole model (arXiv:2603.13398)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, rms_norm, stack
from hfcount.parts.vision import fused_square_attention, patch_convolution
from hfcount.spec import Layer, Sizes, Spec, flag
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("qianfan_ocr_vision",)  # transformers 5.23: modeling_qianfan_ocr.py
IGNORED = ("use_absolute_position_embeddings",)


class QianfanOcrVision(Sizes):
    """What this architecture alone has."""

    attention_bias: bool = flag()
    use_qk_norm: bool = flag()
    use_mask_token: bool = flag()
    use_mean_pooling: bool = flag()
    use_absolute_position_embeddings: bool = flag()
    rms_norm: bool
    within: int


def spec(c: Config) -> Spec[QianfanOcrVision]:
    own = QianfanOcrVision.read(c, rms_norm=c.str("norm_type") == "rms_norm", within=c.nested)
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(own)


def blueprint(s: Spec[QianfanOcrVision]) -> Block:
    d, of, scale, within = s.hidden, s.own, Tensor((1, 1, s.hidden)), s.own.within
    norm = rms_norm(d) if of.rms_norm else layer_norm(d)
    bias, normed = of.attention_bias, rms_norm(d) if of.use_qk_norm else None
    into, out = Linear(d, d, bias), Linear(d, d, True)
    own = block("attention", q_proj=into, k_proj=into, v_proj=into, projection_layer=out, q_norm=normed, k_norm=normed)

    def layer(one: Layer) -> Block:
        network, branch = mlp(d, one.dense.width), Tensor((d,))
        if not within:
            norms = {"layernorm_before": norm, "layernorm_after": norm}
            return block(attention=own, mlp=network, **norms, lambda_1=branch, lambda_2=branch)
        fused = fused_square_attention(d, bias)
        more = block("attention", q_norm=normed, k_norm=normed) if normed else None
        return block(attn=fused, attention=more, mlp=network, norm1=norm, norm2=norm, ls1=branch, ls2=branch)

    token, table = ("class_embedding", "position_embedding") if within else ("cls_token", "position_embeddings")
    patches, places = patch_convolution(s), Tensor((1, s.positions or 0, d))
    embeddings = {
        token: scale,
        **({"mask_token": scale} if of.use_mask_token else {}),
        **({"patch_embedding": patches} if within else {"patch_embeddings": block(projection=patches)}),
        **({table: places} if of.use_absolute_position_embeddings else {}),
    }
    layers, last = stack(s.layers, layer), None if of.use_mean_pooling else layer_norm(d)
    return block(
        embeddings=Block(embeddings, "embedding"),
        encoder=block(layers=layers) if within else None,
        layers=None if within else layers,
        layernorm=last,
    )
