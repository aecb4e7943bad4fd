"""DeepSeek-OCR 2's second tower: Qwen2's layers without a table of words, over patches and queries."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("deepseek_ocr2_encoder",)  # transformers 5.23: modeling_deepseek_ocr2.py
IGNORED = ("vocab_size",)


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    layers, windows = keys.uniform(layer, keys.layer_count(c)), keys.sliding_later(c, first=28)
    return keys.encoding(c, layers, hidden=c.int("hidden_size"), windows=windows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, one.attention), mlp=swiglu(d, one.dense.width))

    body = block(layers=stack(s.layers, layer), norm=rms_norm(d))
    return block(model=block(model=body)) if s.place else body  # in a tower the names are those of the release
