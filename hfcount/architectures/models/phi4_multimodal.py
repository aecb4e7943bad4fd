"""Phi-4-multimodal: Phi-4-mini with vision and audio towers inside its embedding (arXiv:2503.01743)."""

from functools import partial

from hfcount.architectures import families, keys
from hfcount.architectures.components.phi import phi3_layer
from hfcount.architectures.components.phi4_conformer import Phi4Conformer, shortened
from hfcount.architectures.layers import altered, base, with_head
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor

MODEL_TYPES = ("phi4_multimodal",)  # transformers 5.23: modeling_phi4_multimodal.py


def spec(c: Config) -> Spec:
    every = Layer(mixer=keys.attention(c), ffn=keys.dense(c))
    parts = {"vision": families.part(c, "vision_config"), "audio": families.part(c, "audio_config")}
    heads, windows = ("ForCausalLM", "Model"), keys.sliding_everywhere(c)
    return keys.decoder_spec(c, every, heads=heads, windows=windows, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def projected(width: int, up: str, down: str) -> dict[str, Node]:
        return {up: Linear(width, d, True, "projector"), down: Linear(d, d, True, "projector")}

    vision_width, heard = s.part("vision").hidden, s.part("audio")
    image = Block(
        {
            "global_img_feature_extensor": Tensor((1, 1, vision_width)),
            "sub_img_feature_extensor": Tensor((1, 1, 1, vision_width)),
            "img_processor": families.tower(s, "vision"),
            **projected(vision_width, "img_projection_up", "img_projection_down"),
        }
    )
    sound: dict[str, Node] = {"encoder": families.tower(s, "audio")}
    for sense in ("speech", "vision_speech"):
        width = heard.hidden * heard.sizes(Phi4MultimodalAudio).downsample_rate
        sound |= projected(width, f"up_proj_for_{sense}", f"down_proj_for_{sense}")
    senses = Block({"image_embed": image, "audio_embed": Block(sound)}, repeats=0)
    return with_head(s, altered(base(s, partial(phi3_layer, d)), embed_tokens_extend=senses))


class Phi4MultimodalAudio(Record):
    """Sizes specific to the tower; `downsample_rate` frames become one token of the language model."""

    conformer: Phi4Conformer
    downsample_rate: int


def audio_spec(c: Config) -> Spec[Phi4MultimodalAudio]:
    """Phi-4-multimodal's audio tower, a conformer with learned distances (arXiv:2503.01743, arXiv:2005.08100)."""
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    reduction, bands = c.int("time_reduction"), c.int("input_size")
    steps, left = shortened(c, reduction, bands)
    distances = keys.dim("n_d", c.int("bias_max_distance"))
    conformer = Phi4Conformer(
        input_size=keys.dim("b", bands),
        bands=keys.computed(c, "b_o", "nemo_final_size", keys.dim("b_o", left)),
        steps=steps,
        nemo_conv_channels=keys.dim("C", c.int("nemo_conv_channels")),
        buckets=distances if c.bool("bias_symmetric") else 2 * distances,
        kernel_size=keys.dim("w", c.int("kernel_size")),
        ext_pw_out_channel=keys.dim("C_g", c.int("ext_pw_out_channel")),
        separable=keys.dim("C_s", c.int("depthwise_separable_out_channel")),
        deep=keys.dim("m_d", c.int("depthwise_multiplier")) * d,
    )
    sizes = Phi4MultimodalAudio(conformer=conformer, downsample_rate=keys.dim("m_r", c.int("downsample_rate")))
    every = Layer(mixer=keys.multi_head(c, d, heads, indivisible="run", own_width=True), ffn=keys.dense(c, bias=True))
    return keys.encoding(c, keys.uniform(every, c.int("num_blocks", maximum=MAX_LAYERS)), hidden=d).having(sizes)


def audio_blueprint(s: Spec[Phi4MultimodalAudio]) -> Block:
    return s.own.conformer.tensors(s)


PARTS = (
    families.Family(("phi4_multimodal_audio",), audio_spec, audio_blueprint, ignored=("feature_layer", "left_chunk")),
)
