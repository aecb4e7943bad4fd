"""Hunyuan 4 with a vision tower, whose patches convolutions merge (https://huggingface.co/tencent/Hy4)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.hunyuan_vision import RELEASED as VISION
from hfcount.architectures.components.hy_v4 import RELEASED as TEXT
from hfcount.architectures.components.hy_v4 import HyV4, body, hy_v4_spec, mixing
from hfcount.architectures.layers import altered, mlp, pre_norm, rms_norm, stack, with_head
from hfcount.architectures.layers import layer_norm as norm
from hfcount.architectures.layers.classic import mha, positions
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

MODEL_TYPES = ("hy_v4_vl",)  # transformers 5.24: modeling_hy_v4_vl.py
SPELLINGS = {**TEXT, **VISION, r"patch_merger\.norm\.": "patch_merger.before_rms."}


def spec(c: Config) -> Spec:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    tied = c.bool("tie_word_embeddings", default=False)
    model = keys.composite(c, text, towers, heads=("ForConditionalGeneration", "Model"))
    return model.replace(tied=tied)


def blueprint(s: Spec) -> Block:
    text, vision = families.base(s), s.part("vision")
    if s.head == "base":
        # Norms get their early names back only beside a head.
        tower = families.tree(vision.replace(adapted=False))
        return block(language_model=text, vision_tower=tower.replace(component="vision", repeats=0))
    return Block({**with_head(s, text).children, "vit": families.tower(s, "vision")})


def text_spec(c: Config) -> Spec[HyV4]:
    """Hunyuan 4's language model, under the tower's names of what joins residual streams."""
    return hy_v4_spec(c)


def text_blueprint(s: Spec[HyV4]) -> Block:
    several = s.own.hc_mult
    join = block("other", **mixing("hc_head_", several, several * s.hidden, 1))
    return with_head(s, altered(body(s), hc_head=block(hc_pre=join)))


class HyV4Vision(Sizes):
    within: int


def vision_spec(c: Config) -> Spec[HyV4Vision]:
    """Hunyuan 4's vision tower: patches with learnt places, merged by convolutions with a mark behind each row."""
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    side = c.int("max_image_size") // patches.side
    tower = keys.tower(c, patches=patches, positions=side * side + 1, out=c.int("out_hidden_size"))
    return tower.replace(adapted=c.nested).having(HyV4Vision.read(c, within=c.nested))


def vision_blueprint(s: Spec[HyV4Vision]) -> Block:
    d, out, within = s.hidden, s.output, s.own.within
    up, down = ("dense_h_to_4h", "dense_4h_to_h") if within else ("fc1", "fc2")

    def layer_block(layer: Layer) -> Block:
        attention, network = mha(d, layer.attention, "o_proj"), mlp(d, layer.dense.width, up=up, down=down)
        if s.adapted:
            return pre_norm(d, norm, self_attn=attention, mlp=network)
        return block(layer_norm1=norm(d), self_attn=attention, layer_norm2=norm(d), mlp=network)

    wide = s.seen.merged(d)
    first, second = convolution(d, wide, s.seen.merge), convolution(wide, out, 1)
    merging = {"proj": Block({"0": first, "2": second})} if within else {"proj_conv": first, "proj_out": second}
    before = {"norm" if within else "before_rms": rms_norm(d)}
    merger = Block({**merging, **before, "image_newline": Tensor((out,))}, "projector")
    return Block(
        {
            "embeddings": block(patch_embedding=patch_convolution(s), position_embedding=positions(s)),
            "layers": stack(s.layers, layer_block),
            "perceive" if within else "patch_merger": merger,
        }
    )


PARTS = (
    families.Family(("hy_v4_vl_text",), text_spec, text_blueprint, spellings=TEXT),
    families.Family(("hy_v4_vl_vision",), vision_spec, vision_blueprint, ignored=("num_key_value_heads",)),
)
