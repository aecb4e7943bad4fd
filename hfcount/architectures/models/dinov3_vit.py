"""DINOv3: rotary positions, registers, a scale on each branch (arXiv:2508.10104)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import layer_norm, mlp, stack, swiglu
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dinov3_vit",)  # transformers 5.23: modeling_dinov3_vit.py
IGNORED = ("out_indices", "apply_layernorm", "reshape_hidden_states", "return_class_token")
SPELLINGS = {r"^layer\.": "model.layer."}


class Dinov3Vit(Sizes):
    query_bias: bool = flag(absent=True)
    key_bias: bool = flag(absent=False)
    value_bias: bool = flag(absent=True)
    proj_bias: bool = flag(absent=True)
    mlp_bias: bool = flag(absent=True)
    num_register_tokens: int = size("n_r", absent=0, minimum=0)
    use_gated_mlp: bool = flag(absent=False)


def spec(c: Config) -> Spec[Dinov3Vit]:
    sizes, further = Dinov3Vit.read(c), keys.named(Backbone="base", Encoder="encoder")
    return keys.tower(c, patches=keys.patches(c), further=further, indivisible="built").having(sizes)


def blueprint(s: Spec[Dinov3Vit]) -> Block:
    d, of, scale, norm = s.hidden, s.own, block(lambda1=Tensor((s.hidden,))), layer_norm(s.hidden)
    attention = block(
        "attention",
        q_proj=Linear(d, d, of.query_bias),
        k_proj=Linear(d, d, of.key_bias),
        v_proj=Linear(d, d, of.value_bias),
        o_proj=Linear(d, d, of.proj_bias),
    )

    def layer_block(layer: Layer) -> Block:
        width, bias = layer.dense.width, of.mlp_bias
        plain = mlp(d, width, bias, up="up_proj", down="down_proj")
        network = swiglu(d, width, bias) if of.use_gated_mlp else plain
        return block(norm1=norm, attention=attention, layer_scale1=scale, norm2=norm, mlp=network, layer_scale2=scale)

    layers = stack(s.layers, layer_block)
    if s.head == "encoder":
        return block(layer=layers)
    embeddings = block(
        "embedding",
        cls_token=Tensor((1, 1, d)),
        mask_token=Tensor((1, 1, d)),
        register_tokens=Tensor((1, of.num_register_tokens, d)),
        patch_embeddings=patch_convolution(s),
    )
    return block(embeddings=embeddings, layer=layers, norm=norm)
