"""ruGPT-3 XL: GPT-3 with learned positions, biases throughout, and sparse attention by a mask (arXiv:2309.10931)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, gqa, layer_norm, mlp, pre_norm, stack, with_head
from hfcount.architectures.layers.classic import positions
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("rugpt3xl",)  # modeling_rugpt3xl.py of evilfreelancer/ruGPT3XL
IGNORED = (
    "sparse_mode",
    "sparse_block_size",
    "sparse_num_local_blocks",
    "sparse_num_global_blocks",
    "sparse_num_different_global_patterns",
    "attn_implementation",
    "embedding_dropout",
    "output_dropout",
)


def spec(c: Config) -> Spec:
    mixer = keys.multi_head(c, c.int("hidden_size"), c.int("num_attention_heads"), indivisible="built")
    layer, rows = Layer(mixer=mixer, ffn=keys.dense(c, bias=True)), c.int("max_position_embeddings")
    return keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"), positions=rows)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        network = mlp(d, layer.dense.width, layer.dense.bias, "up_proj", "down_proj")
        return pre_norm(d, layer_norm, self_attn=altered(gqa(d, layer.attention), rotary_emb=None), mlp=network)

    body = block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, layer_block),
        norm=layer_norm(d),
    )
    return with_head(s, body)
