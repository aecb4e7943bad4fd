"""InternVL's vision tower as transformers names it: a class token, a scale on each branch (arXiv:2504.10479)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, rms_norm, stack
from hfcount.parts.vision import patch_convolution
from hfcount.spec import Layer, Sizes, Spec, flag
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("internvl_vision",)  # transformers 5.23: modeling_internvl.py


class InternvlVision(Sizes):
    """What this architecture alone has."""

    attention_bias: bool = flag()
    use_qk_norm: bool = flag()
    use_mask_token: bool = flag()
    use_mean_pooling: bool = flag()
    use_absolute_position_embeddings: bool = flag()
    rms_norm: bool


def spec(c: Config) -> Spec[InternvlVision]:
    own = InternvlVision.read(c, rms_norm=c.str("norm_type") == "rms_norm")
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(own)


def blueprint(s: Spec[InternvlVision]) -> Block:
    d, of, scale = s.hidden, s.own, Tensor((1, 1, s.hidden))
    norm = rms_norm(d) if of.rms_norm else layer_norm(d)
    into, normed = Linear(d, d, of.attention_bias), rms_norm(d) if of.use_qk_norm else None
    projections = block(q_proj=into, k_proj=into, v_proj=into, projection_layer=Linear(d, d, True)).children
    attention = block("attention", **projections, q_norm=normed, k_norm=normed)

    def layer(one: Layer) -> Block:
        return block(
            attention=attention,
            mlp=mlp(d, one.dense.width),
            layernorm_before=norm,
            layernorm_after=norm,
            lambda_1=Tensor((d,)),
            lambda_2=Tensor((d,)),
        )

    table = block(
        "embedding",
        cls_token=scale,
        mask_token=scale if of.use_mask_token else None,
        patch_embeddings=block(projection=patch_convolution(s)),
        position_embeddings=Tensor((1, s.positions or 0, d)) if of.use_absolute_position_embeddings else None,
    )
    last = None if of.use_mean_pooling else layer_norm(d)
    return block(embeddings=table, encoder=block(layer=stack(s.layers, layer)), layernorm=last)
