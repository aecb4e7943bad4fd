"""Qwen3.5, dense or with routed experts, with its vision tower or without (model card of Qwen/Qwen3.5-27B)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import base, gated_moe, gqa, network, rms_norm, with_draft, with_head
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.mixers import gated_delta_net
from hfcount.mapper import Config
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.spec.tree.nodes import Block, block

# transformers 5.23: modeling_qwen3_5.py, modeling_qwen3_5_moe.py
# and, for Clef and D3, whose own heads are in files of their own, clef_flash.py and d3.py of vllm-project/vllm 0.33
MODEL_TYPES = ("qwen3_5", "qwen3_5_text", "qwen3_5_moe", "qwen3_5_moe_text")
CLASSES = ("ClefFlashForJointSchema", "D3ForSequenceClassification")
PREDICTORS = ("Qwen3_5MTP", "Qwen3_5MoeMTP", "Qwen3_5ForCausalLMMTP")
WITHIN = dict.fromkeys(("qwen3_5_text", "qwen3_5_moe_text"), ("model.language_model.", "model."))
MERGED = packed()

_ENDINGS = ("ForConditionalGeneration", "Model", "ForSequenceClassification", "ForTokenClassification")
_HEADS = keys.named(("ForCausalLM", *_ENDINGS))
_SEEING = keys.named(_ENDINGS, ForJointSchema="conditional_generation", D3ForSequenceClassification="base")


def spec(c: Config) -> Spec:
    sees, routed = not c.family.endswith("_text"), "_moe" in c.family
    text = c.part("text_config") if sees else c
    bias = text.bool("attention_bias", default=False)
    text.bool("attn_output_gate", default=True)  # configs have it, and the architecture knows no other attention
    full = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, gated=True, head_dim=256)
    ffn = keys.gated_moe(text) if routed else keys.dense(text)
    places = keys.every_nth(text, "full_attention_interval", default=4)
    mixers = keys.mixed(text, full, keys.delta_net(text), keys.kinds(text), places)
    layers = keys.combined(mixers, keys.uniform(Layer(ffn=ffn), keys.layer_count(text)))
    parts = keys.drafts(text, "mtp_num_hidden_layers", Layer(mixer=full, ffn=ffn))
    if sees:
        parts["vision"] = families.part(c, "vision_config")
    return keys.decoder_spec(text, layers, whole=c, heads=_SEEING if sees else _HEADS, parts=parts)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        linear = gated_delta_net(d, mixer) if isinstance(mixer, DeltaNet) else None
        return block(
            input_layernorm=rms_norm(d),
            linear_attn=linear,
            self_attn=None if linear else gqa(d, layer.attention),
            post_attention_layernorm=rms_norm(d),
            mlp=network(d, layer, lambda m: gated_moe(d, m)),
        )

    def model(proper: Spec) -> Block:
        text = base(proper, layer_block)
        if "vision" not in s.parts:
            return with_head(s, text)
        body = block(visual=families.tower(s, "vision"), language_model=text)
        return with_head(s, body, table="language_model.embed_tokens")

    return with_draft(s, model, layer_block)
