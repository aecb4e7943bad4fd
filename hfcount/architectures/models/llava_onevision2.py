"""LLaVA-OneVision 2: OneVision's encoder, whose patches are merged, before any language model (no paper; its published code)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import layer_norm, mlp, rms_norm, stack
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.architectures.layers.vision import fused_square_attention, patch_convolution
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

# modeling_llava_onevision2.py and configuration_llava_onevision2.py of lmms-lab's checkpoints, llava_onevision2.py of
# vllm-project/vllm 0.33.0, which takes Qwen3 as language model, a norm with biases, and neither head nor places
MODEL_TYPES = ("llava_onevision2",)
IGNORED = ("image_token_id", "video_token_id", "vision_end_token_id", "vision_start_token_id")


def spec(c: Config) -> Spec:
    inner = c.part("text_config")
    text = families.part(c, "text_config", inner.str("model_type", default="qwen3"))
    vision = families.part(c, "vision_config", "llava_onevision2_vision")
    if vision.output != text.hidden:
        message = (
            f"out_hidden_size of vision_config is {vision.output:,}, and hidden_size of text_config {text.hidden:,}."
        )
        c.cannot_run("contradiction", message, "vision_config", "Correct one of them.")
    heads = keys.named(("ForConditionalGeneration", "Model"))
    return keys.composite(c, text, {"vision": vision}, heads=heads).replace(tied=text.tied)


def blueprint(s: Spec) -> Block:
    return towers_in_model(s, families.base(s), visual=families.tower(s, "vision"))


class OneVisionEncoder(Sizes):
    """Whether norms have no bias, whether a head pools, and how many places along a side are learned, if any."""

    plain: bool
    use_head: bool = flag(absent=False)
    places: int | None


_ABSENT = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "num_channels": 3,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "out_hidden_size": 1024,
}


def vision_spec(c: Config) -> Spec[OneVisionEncoder]:
    """OneVision's encoder of images and videos, with rotary positions."""
    c.assuming(_ABSENT)
    placed = c.bool("use_patch_position_encoding", default=False)
    kind = c.str("patch_position_encoding_type", default="absolute")
    if placed and kind != "absolute":
        message = f"patch_position_encoding_type is {kind}, but must be absolute."
        raise c.error("unknown-kind", message, "patch_position_encoding_type", observed=kind)
    places = c.int("max_position_embeddings", default=8192) if placed else None
    plain = c.str("layer_norm_type", default="layer_norm") == "rms_norm"
    sizes = OneVisionEncoder.read(c, plain=plain, places=places and keys.dim("n_p", places))
    patches = keys.patches(c, merge=c.int("spatial_merge_size"))
    return keys.tower(c, patches=patches, out=c.int("out_hidden_size")).having(sizes)


def vision_blueprint(s: Spec[OneVisionEncoder]) -> Block:
    d, of, out = s.hidden, s.own, s.output
    norm, merged = rms_norm(d) if of.plain else layer_norm(d), s.seen.merged(d)

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width)
        return block(self_attn=fused_square_attention(d), layer_norm1=norm, mlp=network, layer_norm2=norm)

    places = block("embedding", weight=Tensor((of.places, out))) if of.places else None
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
            pos_emb_h=places,
            pos_emb_w=places,
        ),
    )


def _pooling(s: Spec[OneVisionEncoder]) -> Block:
    """A probe that attends to all patches."""
    d, width = s.hidden, s.layers[0].layer.dense.width
    attention = block(in_proj_weight=Tensor((3 * d, d)), in_proj_bias=Tensor((3 * d,)), out_proj=Linear(d, d, True))
    return block("other", probe=Tensor((1, 1, d)), attention=attention, norm=rms_norm(d), mlp=mlp(d, width))


PARTS = (families.Family(("llava_onevision2_vision",), vision_spec, vision_blueprint),)
