"""LLaVA-OneVision 2: an encoder whose patches are merged before a language model (no paper; its published code)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block
from hfcount.text import shown

# modeling_llava_onevision2.py and modeling_llava_onevision2_moe.py of EvolvingLMMs-Lab/LLaVA-OneVision-2,
# llava_onevision2.py of vllm-project/vllm 0.33.0, which takes Qwen3 as language model, a norm with biases, and no head
MODEL_TYPES = ("llava_onevision2", "llava_onevision2_moe")
CLASSES = ("LlavaOnevision2ForConditionalGeneration",)
IGNORED = ("frame_windows_size", "patch_position_encoding_type", "temporal_patch_size", "tokens_per_second")


def spec(c: Config) -> Spec:
    inner = c.part("text_config")
    usual = "qwen3_moe" if c.family == "llava_onevision2_moe" else "qwen3"
    text = families.part(c, "text_config", inner.str("model_type", default=usual))
    tied = c.bool("tie_word_embeddings", default=False)
    if (other := inner.bool("tie_word_embeddings", default=tied)) != tied:
        raise UnknownArchitecture(
            f"{c.where}: tie_word_embeddings is {shown(tied)}, and {shown(other)} in text_config; its code and"
            " vLLM 0.33 do not read the same one. Write the same in both."
        )
    vision = families.part(c, "vision_config", "llava_onevision2_vision")
    if vision.output != text.hidden:
        message = (
            f"out_hidden_size of vision_config is {vision.output:,}, and hidden_size of text_config {text.hidden:,}."
        )
        c.cannot_run("contradiction", message, "vision_config", "Correct one of them.")
    heads = keys.named(("ForConditionalGeneration", "Model"))
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=tied)


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))


class OneVisionEncoder(Sizes):
    """Whether norms have no bias, and whether a head pools what is seen."""

    plain: bool
    use_head: bool = flag(absent=False)


_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_channels": 3,
    "patch_size": 14,
    "out_hidden_size": 1024,
}


def vision_spec(c: Config) -> Spec[OneVisionEncoder]:
    """OneVision's encoder of images and videos, with rotary positions."""
    c.assuming(_ABSENT)
    if c.bool("use_patch_position_encoding", default=False):
        raise UnknownArchitecture(f"{c.where}: use_patch_position_encoding is of earlier code, and is not described.")
    plain = c.str("layer_norm_type", default="layer_norm") == "rms_norm"
    sizes = OneVisionEncoder.read(c, plain=plain)
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    return keys.tower(c, patches=patches, out=c.int("out_hidden_size")).having(sizes)


def vision_blueprint(s: Spec[OneVisionEncoder]) -> Block:
    d, of, out = s.hidden, s.own, s.output
    norm, merged = rms_norm(d) if of.plain else layer_norm(d), s.seen.merged(d)

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width)
        return block(self_attn=fused_square_attention(d), layer_norm1=norm, mlp=network, layer_norm2=norm)

    return block(
        embeddings=block(patch_embedding=patch_convolution(s, bias=False)),
        layernorm_pre=norm,
        encoder=block(layers=stack(s.layers, layer_block)),
        layernorm_post=norm if of.use_head else None,
        head=_pooling(s) if of.use_head else None,
        merger=block(
            "projector",
            ln_q=layer_norm(d),
            mlp=Block({"0": Linear(merged, merged, True), "2": Linear(merged, out, True)}),
        ),
    )


def _pooling(s: Spec[OneVisionEncoder]) -> Block:
    """A probe that attends to all patches."""
    d, width = s.hidden, s.layers[0].layer.dense.width
    attention = block(in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, True))
    return block("other", probe=Tensor((1, 1, d)), attention=attention, norm=rms_norm(d), mlp=mlp(d, width))


PARTS = (families.Family(("llava_onevision2_vision",), vision_spec, vision_blueprint),)
