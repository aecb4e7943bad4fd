"""Qianfan-OCR: InternViT, two projections and any language model, under InternVL's names (arXiv:2603.13398)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, lm_head, mlp, rms_norm, stack
from hfcount.architectures.layers.conversions import qkv
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("qianfan_ocr",)  # transformers 5.23: modeling_qianfan_ocr.py
IGNORED = ("image_seq_length", "vision_feature_layer")
SPELLINGS = {
    r"^vision_model\.": "model.vision_tower.",
    r"encoder\.layers\.": "layers.",
    r"\.ls([12])$": r".lambda_\1",
    r"\.attn\.proj\.": ".attention.projection_layer.",
    r"\.attn\.qkv\.": ".attention.qkv.",
    r"\.norm1\.": ".layernorm_before.",
    r"\.norm2\.": ".layernorm_after.",
    r"\.embeddings\.class_embedding$": ".embeddings.cls_token",
    r"\.embeddings\.position_embedding$": ".embeddings.position_embeddings",
    r"\.embeddings\.patch_embedding\.": ".embeddings.patch_embeddings.projection.",
    r"^language_model\.model\.": "model.language_model.",
    r"^language_model\.lm_head\.": "lm_head.",
    r"^mlp1\.0\.": "model.multi_modal_projector.layer_norm.",
    r"^mlp1\.1\.": "model.multi_modal_projector.linear_1.",
    r"^mlp1\.3\.": "model.multi_modal_projector.linear_2.",
}
MERGED = {f"attn.qkv.{end}": qkv("attention", end) for end in ("weight", "bias")}


class QianfanOcr(Sizes):
    downsample_ratio: int


def spec(c: Config) -> Spec[QianfanOcr]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    merged = keys.inverse(c, "m", "downsample_ratio", default=0.5)
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return (
        keys.composite(c, text, towers, heads=heads)
        .replace(tied=tied)
        .having(QianfanOcr.read(c, downsample_ratio=merged))
    )


def blueprint(s: Spec[QianfanOcr]) -> Block:
    d, side, text = s.hidden, s.own.downsample_ratio, families.base(s)
    vision_width = side * side * s.part("vision").hidden
    if not {"embed_tokens", "layers", "norm"} <= text.children.keys():
        family = s.part("text").family
        raise UnknownArchitecture(f"qianfan_ocr: text_config: {family} is not built of a table, layers and a norm.")
    layers = block(layers=text.children["layers"])
    body = block(embed_tokens=text.children["embed_tokens"], encoder=layers, norm=text.children["norm"])
    norm, first, second = layer_norm(vision_width), Linear(vision_width, d, True), Linear(d, d, True)
    tower = families.tower(s, "vision")
    if s.head == "base":
        projector = Block({"layer_norm": norm, "linear_1": first, "linear_2": second}, "projector", 0)
        return block(vision_tower=tower, multi_modal_projector=projector, language_model=body)
    projector = Block({"0": norm, "1": first, "3": second}, "projector", 0)
    head = lm_head(s, "language_model.model.embed_tokens.weight")
    return block(vision_model=tower, mlp1=projector, language_model=block(model=body, lm_head=head))


class QianfanOcrVision(Sizes):
    attention_bias: bool = flag()
    use_qk_norm: bool = flag()
    use_mask_token: bool = flag()
    use_mean_pooling: bool = flag()
    use_absolute_position_embeddings: bool = flag()
    rms_norm: bool
    within: int


def vision_spec(c: Config) -> Spec[QianfanOcrVision]:
    """Qianfan-OCR's vision tower: InternViT, under its own names within the whole model (arXiv:2603.13398)."""
    sizes = QianfanOcrVision.read(
        c, rms_norm=c.choice("norm_type", ("layer_norm", "rms_norm")) == "rms_norm", within=c.nested
    )
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1).having(sizes)


def vision_blueprint(s: Spec[QianfanOcrVision]) -> Block:
    d, of, scale, within = s.hidden, s.own, Tensor((1, 1, s.hidden)), s.own.within
    norm = rms_norm(d) if of.rms_norm else layer_norm(d)
    bias, normed = of.attention_bias, rms_norm(d) if of.use_qk_norm else None
    into, out = Linear(d, d, bias), Linear(d, d, True)
    attention = block(
        "attention", q_proj=into, k_proj=into, v_proj=into, projection_layer=out, q_norm=normed, k_norm=normed
    )

    def layer_block(layer: Layer) -> Block:
        network, branch = mlp(d, layer.dense.width), Tensor((d,))
        if not within:
            norms = {"layernorm_before": norm, "layernorm_after": norm}
            return block(attention=attention, mlp=network, **norms, lambda_1=branch, lambda_2=branch)
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
    layers, last = stack(s.layers, layer_block), None if of.use_mean_pooling else layer_norm(d)
    return block(
        embeddings=Block(embeddings, "embedding"),
        encoder=block(layers=layers) if within else None,
        layers=None if within else layers,
        layernorm=last,
    )


PARTS = (
    families.Family(
        ("qianfan_ocr_vision",), vision_spec, vision_blueprint, ignored=("use_absolute_position_embeddings",)
    ),
)
