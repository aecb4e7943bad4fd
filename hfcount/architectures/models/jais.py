"""Jais: GPT-2 with gated networks and biases of attention by distance (arXiv:2308.16149)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import conv1d, positions
from hfcount.mapper import Config, Sizes
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Tensor, block

# modeling_jais.py of inceptionai/jais-13b, jais.py of vllm-project/vllm 0.11
MODEL_TYPES = ("jais",)
IGNORED = tuple(
    "alibi_scaling embeddings_scale mup_embeddings_scale mup_output_alpha mup_scale_qk_dot_by_d mup_width_scale"
    " scale_qk_dot_by_d width_scale n_positions".split()
)


class Jais(Sizes):
    """Whether the network is gated, and positions are told by biases of attention."""

    gated: bool
    alibi: bool


def spec(c: Config) -> Spec[Jais]:
    d = c.int("n_embd", "hidden_size")
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", "num_attention_heads")),
        ffn=Dense(width=c.int("n_inner", default=None) or 4 * d, bias=True),
    )
    layers = keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers"))
    alibi = c.str("position_embedding_type", default="learned") == "alibi"
    sizes = Jais.read(c, gated=c.str("activation_function", default="gelu_new") == "swiglu", alibi=alibi)
    rows = None if alibi else c.int("n_positions", "max_position_embeddings")
    heads = ("LMHeadModel", "Model")
    return keys.decoder_spec(c, layers, hidden=d, tied=True, heads=heads, positions=rows).having(sizes)


def blueprint(s: Spec[Jais]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        network = block(
            "mlp",
            c_fc=conv1d(d, width),
            c_fc2=conv1d(d, width) if s.own.gated else None,
            c_proj=conv1d(width, d),
        )
        return block(
            ln_1=layer_norm(d),
            attn=block("attention", c_attn=conv1d(d, 3 * d), c_proj=conv1d(d, d)),
            ln_2=layer_norm(d),
            mlp=network,
        )

    heads = s.layers[0].layer.attention.heads
    slopes = block(slopes=Tensor((heads, 1), "buffer", "spare", component="attention"))
    body = block(
        wte=embedding(s.vocab, d),
        wpe=None if s.own.alibi else positions(s),
        h=stack(s.layers, layer_block),
        ln_f=layer_norm(d),
        relative_pe=slopes if s.own.alibi else None,
    )
    return body if s.head == "base" else block(transformer=body, lm_head=lm_head(s, "transformer.wte.weight"))
