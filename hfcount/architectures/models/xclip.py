"""X-CLIP: CLIP for videos, with layers across frames and prompts that depend on the video (arXiv:2208.02816)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, layer_norm, stack
from hfcount.architectures.layers.classic import positions
from hfcount.architectures.layers.composite import paired
from hfcount.architectures.layers.vision import clip_layer, patch_convolution, square_attention
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count
from hfcount.spec import Dense, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block, obsolete

MODEL_TYPES = ("xclip",)  # transformers 5.23: modeling_x_clip.py
IGNORED = ("prompt_num_attention_heads", "mit_num_attention_heads")


class Xclip(Sizes):
    prompt_layers: int = count("N_p")
    num_frames: int
    mit_hidden_size: int
    mit_intermediate_size: int
    mit_num_hidden_layers: int


def spec(c: Config) -> Spec[Xclip]:
    text, towers = families.part(c, "text_config"), {"vision": families.part(c, "vision_config")}
    v = c.part("vision_config")
    sizes = Xclip.read(
        c,
        num_frames=keys.dim("f", v.int("num_frames")),
        mit_hidden_size=keys.dim("d_m", v.int("mit_hidden_size")),
        mit_intermediate_size=keys.dim("d_mf", v.int("mit_intermediate_size")),
        mit_num_hidden_layers=keys.dim("N_m", v.int("mit_num_hidden_layers", maximum=MAX_LAYERS)),
    )
    out = c.int("projection_dim")
    return keys.composite(c, text, towers, heads=("Model",), out=out).replace(tied=False).having(sizes)


def blueprint(s: Spec[Xclip]) -> Block:
    of, out, vision_width = s.own, s.out or s.hidden, s.part("vision").hidden
    across = of.mit_hidden_size
    layer = Layer(ffn=Dense(width=of.mit_intermediate_size, bias=True))
    layers = Layers(indices=Indices.below(of.mit_num_hidden_layers), layer=layer, letter="N_m")
    frames = Tensor((1, of.num_frames, across))
    encoder = block(layers=stack((layers,), lambda layer: clip_layer(across, layer)))
    into = Linear(out, out)
    # A prompt's network is four times as wide as the prompt.
    network = {"0": Linear(out, 4 * out, True), "3": Linear(4 * out, out, True)}
    cross = block(q_proj=into, k_proj=into, v_proj=into, proj=Linear(out, out, True))
    prompts = block(cross_attn=cross, norm1=layer_norm(out), norm3=layer_norm(out), mlp=Block(network))
    generator = block(
        "other",
        alpha=Tensor((out,)),
        layernorm=layer_norm(out),
        decoder=Repeat(Indices.below(of.prompt_layers), prompts),
    )
    return paired(
        s,
        families.base(s),
        families.tower(s, "vision"),
        prompts_visual_layernorm=layer_norm(vision_width),
        prompts_visual_projection=Tensor((vision_width, out), component="projector"),
        mit=Block({"position_embedding": frames, "encoder": encoder}, "vision", repeats=0),
        prompts_generator=generator,
    )


def vision_spec(c: Config) -> Spec:
    """X-CLIP's vision tower: CLIP's, whose layers pass messages between the frames of a video (arXiv:2208.02816)."""
    return keys.tower(c, patches=keys.patches(c), positions=keys.squares(c) + 1, indivisible="built")


def vision_blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        text = Linear(d, d, True, "attention")
        across = square_attention(d, out="out_proj")
        return altered(clip_layer(d, layer), message_fc=text, message_ln=layer_norm(d), message_attn=across)

    table = block(
        class_embedding=Tensor((d,), component="embedding"),
        patch_embedding=patch_convolution(s, bias=False),
        position_embedding=positions(s),
        position_ids=obsolete(1, s.positions or 0, whole=True),
    )
    encoder = block(layers=stack(s.layers, layer_block))
    norm = layer_norm(d)
    return block(embeddings=table, encoder=encoder, post_layernorm=norm, pre_layernorm=norm)


PARTS = (
    families.Family(
        ("xclip_vision_model",),
        vision_spec,
        vision_blueprint,
        ignored=tuple(
            "mit_hidden_size mit_intermediate_size mit_num_hidden_layers mit_num_attention_heads num_frames".split()
        ),
    ),
)
