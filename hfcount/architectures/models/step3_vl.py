"""Step 3: its language model, and CLIP's layers as a tower, whose grid two convolutions halve twice."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, stack
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.vision import convolution, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("step3_vl",)  # step3_vl.py of vllm-project/vllm 0.33.0
IGNORED = ("understand_projector_stride", "hidden_size", "image_token_len", "patch_token_len", "vision_select_layer")
REPLACES_PLACEHOLDERS = True


class Step3Vl(Sizes):
    projector_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[Step3Vl]:
    towers = {"vision": families.part(c, "vision_config", "step3_vision_encoder")}
    model = keys.composite(
        c, families.part(c, "text_config", "step3_text"), towers, heads=("ForConditionalGeneration",)
    )
    return model.having(Step3Vl.read(c))


def blueprint(s: Spec[Step3Vl]) -> Block:
    vision, tree = s.part("vision"), families.tree(s.part("text").replace(head="causal_lm", tied=s.tied))
    wide = vision.output
    return block(
        **tree.children,
        vision_model=families.tower(s, "vision"),
        vit_downsampler=as_tower(convolution(vision.hidden, wide, 2), "projector"),
        vit_downsampler2=as_tower(convolution(wide, 2 * wide, 3), "projector"),
        vit_large_projector=Linear(2 * wide, s.hidden, s.own.projector_bias, "projector"),
    )


class Step3Vision(Sizes):
    """The numbers of patches that a table has places for."""

    places: int


def vision_spec(c: Config) -> Spec[Step3Vision]:
    """Step 3's vision tower: CLIP's layers with one projection of queries, keys and values."""
    sizes = Step3Vision.read(c, places=keys.squares(c))
    return keys.tower(c, patches=keys.patches(c), out=c.int("output_hidden_size")).having(sizes)


def vision_blueprint(s: Spec[Step3Vision]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = block("attention", qkv_proj=Linear(d, 3 * d, True), out_proj=Linear(d, d, True))
        return block(
            layer_norm1=layer_norm(d),
            self_attn=attention,
            layer_norm2=layer_norm(d),
            mlp=mlp(d, layer.dense.width),
        )

    table = block(
        "embedding",
        class_embedding=Tensor((1, d)),
        patch_embedding=patch_convolution(s),
        position_embedding=block(weight=Tensor((s.own.places + 1, d))),
    )
    return block(embeddings=table, transformer=block(layers=stack(s.layers, layer_block)))


PARTS = (families.Family(("step3_vision_encoder",), vision_spec, vision_blueprint, ignored=("output_hidden_size",)),)
