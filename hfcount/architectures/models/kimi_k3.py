"""Kimi K3: Kimi Linear's layers with more gates, and a tower for images and videos."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import mlp, rms_norm, stack
from hfcount.architectures.layers.composite import llava
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, derived, flag, size
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# kimi_k3.py of ml-explore/mlx-lm 0.32.2, kimi_k3/ of Blaizzy/mlx-vlm 0.7.10, kimi_k3_vl.py of sgl-project/sglang 0.5.23
MODEL_TYPES = ("kimi_k3",)
PREDICTORS = ("KimiK3MTPModel",)
IGNORED = ("image_placeholder",)
SPELLINGS = {r"^language_model\.(?=layers\.)": "language_model.model."}
REPLACES_PLACEHOLDERS = True


def spec(c: Config) -> Spec:
    text, vision = (families.part(c, "text_config", "kimi_k3_text"), families.part(c, "vision_config", "moonvit3d"))
    model = keys.composite(c, text, {"vision": vision}, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    vision = s.part("vision")
    of = vision.sizes(MoonVit3d)
    vision_width = of.projected * of.merged
    proj = Block({"0": Linear(vision_width, vision_width), "2": Linear(vision_width, s.hidden)})
    projector = block("projector", proj=proj, post_norm=rms_norm(s.hidden))
    return llava(s, families.base(s), vision_tower=families.tower(s, "vision"), mm_projector=projector)


def _merged(c: Config) -> int:
    sides = c.ints("merge_kernel_size", default=(2, 2), least=1)
    return sides[0] * sides[-1]


class MoonVit3d(Sizes):
    """Sizes of Kimi K3's vision tower; `inner` is the width of its attention, `projected` what is projected."""

    init_pos_emb_height: int = size("n_h", absent=64)
    init_pos_emb_width: int = size("n_w", absent=64)
    merged: int = derived(_merged)
    projected: int
    linear_bias: bool = flag(absent=False)
    attn_bias: bool = flag(absent=False)
    patch_embed_proj_bias: bool = flag(absent=False)


def vision_spec(c: Config) -> Spec[MoonVit3d]:
    """Kimi K3's vision tower: attention wider than the layers, RMS norms, and a learned table of places."""
    d, heads = c.int("vt_hidden_size", default=1024), c.int("vt_num_attention_heads", default=12)
    inner = c.int("qkv_hidden_size", default=None) or d
    each = keys.divides(c, "vt_num_attention_heads", heads, "qkv_hidden_size", inner)
    for key, known in (("norm_type", "rmsnorm"), ("mlp_type", "mlp2")):
        c.choice(key, (known,), known)
    sizes = MoonVit3d.read(c, projected=c.int("mm_hidden_size", default=None) or d)
    layer = Layer(
        mixer=GQA(heads=heads, kv_heads=heads, head_dim=each, qkv_bias=sizes.attn_bias, out_bias=sizes.attn_bias),
        ffn=Dense(width=c.int("vt_intermediate_size", default=4096), bias=sizes.linear_bias),
    )
    layers = keys.uniform(layer, keys.layer_count(c, "vt_num_hidden_layers"))
    return keys.encoding(c, layers, hidden=d, patches=Patches(side=c.int("patch_size", default=14), channels=3)).having(
        sizes
    )


def vision_blueprint(s: Spec[MoonVit3d]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        return block(
            norm0=rms_norm(d),
            norm1=rms_norm(d),
            wqkv=Linear(d, 3 * (a.heads * a.head_dim), a.qkv_bias, component="attention"),
            wo=Linear(a.heads * a.head_dim, d, a.out_bias, component="attention"),
            mlp=mlp(d, layer.dense.width, layer.dense.bias, up="fc0", down="fc1"),
        )

    table = block("embedding", weight=Tensor((of.init_pos_emb_height, of.init_pos_emb_width, d)))
    patches = block(proj=patch_convolution(s, bias=of.patch_embed_proj_bias), pos_emb=table)
    return block(patch_embed=patches, encoder=block(blocks=stack(s.layers, layer_block), final_layernorm=rms_norm(d)))


PARTS = (
    families.Family(
        ("moonvit3d",),
        vision_spec,
        vision_blueprint,
        ignored=(
            "activation_func",
            "init_pos_emb_time",
            "merge_type",
            "mm_projector_type",
            "pos_emb_interpolation_mode",
            "pos_emb_type",
            "projector_hidden_act",
            "projector_ln_eps",
            "text_hidden_size",
            "video_attn_type",
        ),
    ),
)
