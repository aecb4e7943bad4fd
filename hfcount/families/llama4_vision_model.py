"""Llama 4's vision tower: as CLIP's, with an adapter on merged patches (model card of Llama-4-Scout-17B-16E)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import layer_norm, mlp, stack
from hfcount.parts.classic import mha
from hfcount.parts.vision import patch_projection
from hfcount.spec import Layer, Sizes, Spec, size
from hfcount.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("llama4_vision_model",)  # transformers 5.23: modeling_llama4.py


class Llama4VisionModel(Sizes):
    """What this architecture alone has."""

    projector_input_dim: int = size("d_p")
    vision_output_dim: int = size("d_t")


def spec(c: Config) -> Spec[Llama4VisionModel]:
    rows, out = keys.squares(c) + 1, c.int("projector_output_dim")
    own = Llama4VisionModel.read(c)
    return keys.tower(c, patches=keys.patches(c), positions=rows, out=out, indivisible="run").having(own)


def blueprint(s: Spec[Llama4VisionModel]) -> Block:
    d, out, width = s.hidden, s.output, s.layers[0].layer.dense.width

    def layer(one: Layer) -> Block:
        return block(
            self_attn=mha(d, one.attention, "o_proj"),
            mlp=mlp(d, one.dense.width),
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
        )

    adapter = block("projector", fc1=Linear(width, s.own.projector_input_dim), fc2=Linear(out, out))
    return block(
        class_embedding=Tensor((d,), component="embedding"),
        positional_embedding_vlm=Tensor((s.positions or 0, d), component="embedding"),
        patch_embedding=block(linear=patch_projection(s)),
        layernorm_pre=layer_norm(d),
        layernorm_post=layer_norm(d),
        model=block(layers=stack(s.layers, layer)),
        vision_adapter=block(mlp=adapter),
    )
