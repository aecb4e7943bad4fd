"""LLaMA 1 to 3.2, and many models built like it, such as Granite 3 (arXiv:2302.13971, arXiv:2407.21783)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import decoder, gqa, pre_norm, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block

# transformers 5.23: modeling_llama.py, modeling_granite.py, modeling_emu3.py, modeling_granite4_vision.py,
# modeling_granite_docling.py, modeling_paddleocr_vl.py
# and, for TeleChat 3, telechat3.py of ml-explore/mlx-lm 0.32.2
MODEL_TYPES = (
    "llama",
    "granite",
    "telechat3",
    "emu3_text_model",
    "granite4_vision_text",
    "granite_docling_text",
    "paddleocr_vl_text",
)
CLASSES = ("TorchNativeLlamaForCausalLM", "LlamaEmbeddingModel")
IGNORED = ("max_sequence_length",)
RETYPED = {"llama": ("draft_vocab_size", None, "llama_eagle3")}  # as EAGLE's code writes it, under the target's class

# LlamaConfig checks what GraniteConfig and those made of it do not.
_UNEVEN: dict[str, keys.Indivisible] = {"granite": "run", "granite4_vision_text": "run"}


def spec(c: Config) -> Spec:
    bias, indivisible = c.bool("attention_bias", default=False), _UNEVEN.get(c.family, "refused")
    mixer = keys.attention(c, bias=bias, indivisible=indivisible)
    return keys.decoder_spec(c, Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False))))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width, layer.dense.bias))

    return decoder(s, layer_block, question_answering="transformer")
