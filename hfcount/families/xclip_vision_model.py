"""X-CLIP's vision tower: CLIP's, whose layers pass messages between the frames of a video (arXiv:2208.02816)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import altered, layer_norm, stack
from hfcount.parts.classic import positions
from hfcount.parts.vision import clip_layer, patch_convolution, square_attention
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Tensor, block, obsolete

MODEL_TYPES = ("xclip_vision_model",)  # transformers 5.23: modeling_x_clip.py
IGNORED = (
    *("mit_hidden_size", "mit_intermediate_size", "mit_num_hidden_layers", "mit_num_attention_heads", "num_frames"),
)


def spec(c: Config) -> Spec:
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1, indivisible="built")


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        message = Linear(d, d, True, "attention")
        across = square_attention(d, out="out_proj")
        return altered(clip_layer(d, one), message_fc=message, message_ln=layer_norm(d), message_attn=across)

    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=positions(s),
        position_ids=obsolete(1, s.positions or 0, whole=True),
    )
    encoder = block(layers=stack(s.layers, layer))
    norm = layer_norm(d)
    return block(embeddings=table, encoder=encoder, post_layernorm=norm, pre_layernorm=norm)
