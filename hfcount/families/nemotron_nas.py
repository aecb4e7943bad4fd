"""DeciLM and Llama-Nemotron: Llama's layers, each as a search left it (arXiv:2411.19146)."""

from hfcount import keys
from hfcount.keys.searched import searched
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, Node, block

MODEL_TYPES = ("nemotron-nas", "deci")  # modeling_decilm.py of nvidia/Llama-3_3-Nemotron-Super-49B-v1
CLASSES = ("DeciLMForCausalLM",)


def spec(c: Config) -> Spec:
    return keys.decoder_spec(c, searched(c))


def blueprint(s: Spec) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden)

    def layer(one: Layer) -> Block:
        mixer: Node | None = gqa(d, one.attention) if one.mixer else None
        network: Node | None = swiglu(d, one.dense.width, one.dense.bias) if one.ffn else None
        if one.traits["linear_attention"]:
            mixer = block("linear_attention", linear_attn=square)
        if one.traits["linear_network"]:
            network = block("mlp", linear_mlp=square)
        return block(
            input_layernorm=rms_norm(d) if mixer else None,
            self_attn=mixer,
            post_attention_layernorm=rms_norm(d) if network else None,
            mlp=network,
        )

    return decoder(s, layer)
