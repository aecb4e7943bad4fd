"""HunYuan-VL and HunyuanOCR: a vision transformer before Hunyuan (arXiv:2511.19575)."""

from dataclasses import replace

from hfcount import families, keys
from hfcount.mapper import Config
from hfcount.parts import base, gqa, pre_norm, swiglu, with_head
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("hunyuan_vl",)  # transformers 5.23: modeling_hunyuan_vl.py
SPELLINGS = {
    r"mlp\.dense_h_to_4h\.": "mlp.fc1.",
    r"mlp\.dense_4h_to_h\.": "mlp.fc2.",
    r"^vit\.layers\.(\d+)\.input_layernorm\.": r"vit.layers.\1.layer_norm1.",
    r"^vit\.layers\.(\d+)\.post_attention_layernorm\.": r"vit.layers.\1.layer_norm2.",
    r"perceive\.proj\.0\.": "perceive.proj_conv.",
    r"perceive\.proj\.2\.": "perceive.proj_out.",
    r"perceive\.": "patch_merger.",
    r"^model\.(?!language_model\.|vit\.|vision_tower\.)": "model.language_model.",
    r"^(model\.)?vit\.": "model.vision_tower.",
}


def spec(c: Config) -> Spec:
    nested = c.sub("text_config")
    text = nested or c.as_part("text_config")  # early configs have its keys beside the others
    mixer = keys.attention(text, bias=text.bool("attention_bias", default=False), qk_norm=True)
    towers = {"vision": families.part(c, "vision_config").replace(out=text.int("hidden_size"))}
    heads, layer = ("ForConditionalGeneration", "Model"), Layer(mixer=mixer, ffn=keys.dense(text))
    whole = keys.decoder_spec(text, layer, whole=c, heads=heads, parts=towers)
    tied = c.bool("tie_word_embeddings", default=True)
    return whole.replace(tied=tied or nested is None or nested.bool("tie_word_embeddings", default=True))


def blueprint(s: Spec) -> Block:
    d, vision = s.hidden, s.parts["vision"]

    def layer(one: Layer) -> Block:
        attention = gqa(d, one.attention, norms=("query_layernorm", "key_layernorm"))
        return pre_norm(d, self_attn=attention, mlp=swiglu(d, one.dense.width))

    text = base(s, layer)
    if s.head != "base":
        return Block({**with_head(s, text).children, "vit": families.tower(s, "vision")})
    # Norms get their early names back only beside a head.
    later = families.tree(vision.replace(adapted=False))
    return block(language_model=text, vision_tower=replace(later, component="vision", repeats=0))
