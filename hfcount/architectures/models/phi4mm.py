"""Phi-4-multimodal as it was released: towers inside the embedding, an adapter for each sense (arXiv:2503.01743)."""

import re

from hfcount.architectures import families, keys
from hfcount.architectures.components.phi4_conformer import Phi4Conformer, shortened
from hfcount.architectures.layers import altered, base, fused_qkv, inv_freq, pre_norm, with_head
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import Dense, Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# modeling_phi4mm.py of microsoft/Phi-4-multimodal-instruct, speech_conformer_encoder.py of
# microsoft/Phi-4-multimodal-instruct
MODEL_TYPES = ("phi4mm",)
IGNORED = tuple(
    "compression_rate crop_size enable_gradient_checkpointing full_attn_mod img_processor interpolate_factor "
    "lora_alpha".split()
)


# The tower is the implementation's, whatever the config says: SigLIP So400m/14 of 448 pixels.
_SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 27,
    "num_attention_heads": 16,
    "num_channels": 3,
    "image_size": 448,
    "patch_size": 14,
}


class Phi4MM(Record):
    """Sizes specific to Phi-4-multimodal's release: how its senses are joined, and the rank of an adapter for each.

    `joined` patches become one token, with separators if `separated`; so do `downsample_rate` frames.
    """

    joined: int
    separated: bool
    downsample_rate: int
    vision_rank: int
    speech_rank: int


def spec(c: Config) -> Spec[Phi4MM]:
    layer = Layer(mixer=keys.attention(c, derived=True), ffn=keys.dense(c))
    senses = c.part("embd_layer")
    image, audio = senses.part("image_embd_layer"), senses.part("audio_embd_layer")
    parts = {
        "vision": families.read(c.part("vision", defaults=_SIGLIP), "siglip_vision_model"),
        "audio": families.part(c.part("audio_processor"), "config", "phi4mm_audio"),
    }
    for lora in (image, audio):
        if lora.str("projection_cls", default="linear") != "mlp" or lora.bool("use_qformer", default=False):
            raise UnknownArchitecture(f"{c.where}: phi4mm is described with projections of two layers alone.")
    fine, parted = (image.bool(name, default=False) for name in ("use_hd_transform", "with_learnable_separator"))
    if fine != parted:
        raise image.error(
            "contradiction",
            "use_hd_transform and with_learnable_separator must agree.",
            "use_hd_transform",
            "Correct one.",
        )
    sizes = Phi4MM(
        joined=4 if fine and not image.str("image_token_compression_cls", default="") else 1,
        separated=parted,
        downsample_rate=keys.dim("m_r", audio.int("downsample_rate", default=1)),
        vision_rank=keys.dim("r_v", _rank(c, "vision")),
        speech_rank=keys.dim("r_s", _rank(c, "speech")),
    )
    heads = ("ForCausalLM", "Model", "ForSequenceClassification")
    model = keys.decoder_spec(c, layer, heads=heads, parts=parts, windows=keys.sliding_everywhere(c))
    return model.having(sizes)


def _rank(c: Config, sense: str) -> int:
    """The rank of an adapter, which must be one of all projections of the language model."""
    lora = c.part(f"{sense}_lora")
    if not {"qkv", "o", "gate_up", "down"} <= set(re.findall("gate_up|[a-z]+", lora.str("layer"))):
        raise UnknownArchitecture(f"{lora.where}: {sense}_lora is described as one of all projections alone.")
    return lora.int("r")


def blueprint(s: Spec[Phi4MM]) -> Block:
    d, sizes = s.hidden, s.own
    ranks = {"vision": sizes.vision_rank, "speech": sizes.speech_rank}
    adapted = s.head == "causal_lm"  # the other classes build none

    def lora(linear: Linear) -> Node:
        if not adapted:
            return linear
        down = {sense: Linear(linear.inputs, rank) for sense, rank in ranks.items()}
        up = {sense: Linear(rank, linear.outputs) for sense, rank in ranks.items()}
        return block(base_layer=linear, lora_A=Block(down, repeats=0), lora_B=Block(up, repeats=0))

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        out, rotary = lora(Linear(a.heads * a.head_dim, d)), inv_freq(a.head_dim)
        attention = block("attention", qkv_proj=lora(fused_qkv(d, a)), o_proj=out, rotary_emb=rotary)
        wide, narrow = lora(Linear(d, 2 * width)), lora(Linear(width, d))
        return pre_norm(d, self_attn=attention, mlp=block("mlp", gate_up_proj=wide, down_proj=narrow))

    def projection(inputs: int) -> Block:
        return Block({"0": Linear(inputs, d, True), "2": Linear(d, d, True)}, "projector")

    vision_width = sizes.joined * s.part("vision").hidden
    image: dict[str, Node] = {"img_processor": families.tower(s, "vision"), "img_projection": projection(vision_width)}
    if sizes.separated:
        image |= {"glb_GN": Tensor((1, 1, vision_width)), "sub_GN": Tensor((1, 1, 1, vision_width))}
    heard = projection(sizes.downsample_rate * s.part("audio").hidden)
    audio = block(encoder=families.tower(s, "audio"), audio_projection=block(speech=heard, vision=heard))
    senses = Block({"image_embed": Block(image, "vision"), "audio_embed": audio}, repeats=0)
    return with_head(s, altered(base(s, layer_block), embed_tokens_extend=senses))


def audio_spec(c: Config) -> Spec[Phi4Conformer]:
    """Phi-4-multimodal's audio tower as its release reads and names it (arXiv:2503.01743, arXiv:2005.08100)."""
    d, reduction = c.int("attention_dim", default=256), c.int("time_reduction", default=4)
    bands, channels = c.int("input_size"), c.part("nemo_conv_settings").int("conv_channels", default=256)
    steps, left = shortened(c, reduction, bands)
    bias = c.part("relative_attention_bias_args")
    distances = keys.dim("n_d", bias.int("t5_bias_max_distance", default=1000))
    wide, separable = c.int("ext_pw_out_channel", default=0), c.int("depthwise_seperable_out_channel", default=256)
    usual = (
        c.str("input_layer", default="nemo_conv") == "nemo_conv",
        c.int("ext_pw_kernel_size", default=1) == 1,
        c.int("attention_group_size", default=1) == 1,
        c.bool("bias_in_glu", default=True),
        not c.bool("batch_norm", default=False),
        not c.bool("linear_glu_in_convm", default=False),
        wide == separable == d,
    )
    if not all(usual):
        raise UnknownArchitecture(f"{c.where}: phi4mm's audio tower is described with its usual convolutions alone.")
    inner = c.part("encoder_embedding_config").int("input_size", default=bands)
    sizes = Phi4Conformer(
        input_size=keys.dim("b", inner),
        bands=keys.dim("b_o", left),
        steps=steps,
        nemo_conv_channels=keys.dim("C", channels),
        buckets=distances if bias.bool("t5_bias_symmetric", default=False) else 2 * distances,
        kernel_size=keys.dim("w", c.int("kernel_size", default=3)),
        ext_pw_out_channel=keys.dim("C_g", wide),
        separable=keys.dim("C_s", separable),
        deep=keys.dim("m_d", c.int("depthwise_multiplier", default=1)) * d,
    )
    mixer = keys.multi_head(c, d, c.int("attention_heads", default=4))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("linear_units", default=2048), bias=True))
    count = c.int("num_blocks", default=6, maximum=MAX_LAYERS)
    return keys.encoding(c, keys.uniform(layer, count), hidden=d).having(sizes)


def audio_blueprint(s: Spec[Phi4Conformer]) -> Block:
    return s.own.tensors(s, released=True)


PARTS = (
    families.Family(
        ("phi4mm_audio",),
        audio_spec,
        audio_blueprint,
        ignored=("activation_checkpointing", "causal", "cnn_layer_norm", "left_chunk"),
    ),
)
