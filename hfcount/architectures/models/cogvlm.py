"""CogVLM and CogVLM2: layers with experts of their own for what an image shows, behind EVA-CLIP (arXiv:2311.03079)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered, base, fused_qkv, pre_norm, swiglu, with_head
from hfcount.architectures.layers.composite import gated_projection
from hfcount.architectures.layers.vision import convolution
from hfcount.mapper import Config, Sizes
from hfcount.spec import GQA, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

# modeling_cogvlm.py of THUDM/cogvlm-chat-hf, of THUDM/cogvlm2-llama3-chat-19B and, without the experts for images, of
# THUDM/cogvlm2-llama3-caption, and visual.py beside it
MODEL_TYPES = ("cogvlm", "cogvlm2", "cogvlm_video")
CLASSES = ("CogVLMForCausalLM", "CogVLMVideoForCausalLM")
IGNORED = ("template_version",)


class CogVLM(Sizes):
    """Whether images have experts in the layers, and whether it is of the second generation, which joins patches."""

    experts: bool
    second: bool


def spec(c: Config) -> Spec[CogVLM]:
    video = c.family == "cogvlm_video" or next(iter(c.strs("architectures")), "").startswith("CogVLMVideo")
    second = video or c.family == "cogvlm2" or c.given("num_multi_query_heads")
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"), bias=False)
    if second:
        mixer = mixer.replace(kv_heads=c.int("num_multi_query_heads", default=8))
        if mixer.heads % mixer.kv_heads:
            text = f"num_attention_heads {mixer.heads:,} is not a multiple of num_multi_query_heads {mixer.kv_heads:,}."
            c.cannot_run("not-divisible", text, "num_multi_query_heads", "Correct one of them.")
    towers = {"vision": families.part(c, "vision_config", "glm4v_9b_vision")}
    sizes = CogVLM.read(c, experts=not video, second=second)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c)), parts=towers).having(sizes)


def blueprint(s: Spec[CogVLM]) -> Block:
    d, of, vision_width = s.hidden, s.own, s.part("vision").hidden

    # Each token passes one of two networks, those for images or those for text, which are alike.
    unused = (0, 1)

    def attention(a: GQA) -> Block:
        into, out = fused_qkv(d, a), Linear(a.heads * a.head_dim, d)
        return block(
            "attention",
            rotary_emb=block(inv_freq=buffer((a.head_dim + 1) // 2)),
            vision_expert_query_key_value=into.replace(bias=of.second, active=unused) if of.experts else None,
            vision_expert_dense=out.replace(active=unused) if of.experts else None,
            language_expert_query_key_value=into,
            language_expert_dense=out,
        )

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        wide, narrow = Linear(d, width, active=unused), Linear(width, d, active=unused)
        shown = block("mlp", gate_proj=wide, up_proj=wide, down_proj=narrow) if of.experts else None
        network = block(language_mlp=swiglu(d, width), vision_mlp=shown)
        return pre_norm(d, self_attn=attention(layer.attention), mlp=network)

    width, ends = s.layers[0].layer.dense.width, Tensor((1, 1, d))
    vision = altered(
        families.tower(s, "vision"),
        linear_proj=gated_projection(vision_width, d, width),
        conv=convolution(vision_width, vision_width, 2) if of.second else None,
        boi=ends,
        eoi=ends,
    )
    return with_head(s, altered(base(s, layer_block), vision=vision))
