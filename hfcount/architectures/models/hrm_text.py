"""HRM-Text: a slow and a fast stack that run in turns, with norms that have no weights (arXiv:2506.21734)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, stack, with_head
from hfcount.mapper import MAX_LAYERS, Config, Sizes
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("hrm_text",)  # transformers 5.23: modeling_hrm_text.py
SPELLINGS = {r"\.attn\.": ".self_attn."}
MERGED = {
    "mlp.gate_up_proj.weight": ("mlp.gate_proj.weight", "mlp.up_proj.weight"),
    "attn.gqkv_proj.weight": tuple(f"self_attn.{part}_proj.weight" for part in ("gate", "q", "k", "v")),
}


class HrmText(Sizes):
    H_cycles: int
    L_cycles: int


def spec(c: Config) -> Spec[HrmText]:
    heads = c.int("num_attention_heads")
    mixer = keys.multi_head(c, c.int("hidden_size"), heads, bias=c.bool("attention_bias", default=False))
    mixer = mixer.replace(head_dim=c.int("head_dim", default=128))
    count = c.int("num_layers_per_stack", default=None, maximum=MAX_LAYERS) or keys.layer_count(c)
    slow, fast = c.int("H_cycles", default=2), c.int("L_cycles", default=3)
    ffn = keys.dense(c, bias=c.bool("mlp_bias", default=False))
    layer = Layer(mixer=mixer, ffn=ffn, repeats=slow * (fast + 1))  # of both stacks, each with keys of its own
    sizes = HrmText.read(c, H_cycles=slow, L_cycles=fast)
    return keys.decoder_spec(c, keys.uniform(layer, count), heads=("ForCausalLM", "Model")).having(sizes)


def blueprint(s: Spec[HrmText]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, width, network_bias = layer.attention, layer.dense.width, layer.dense.bias
        wide = a.heads * a.head_dim
        # Weights that are one in the checkpoint keep a bias each.
        bias, half = block(bias=Tensor((wide,))), block(bias=Tensor((width,))) if network_bias else None
        biases = block("attention", gate_proj=bias, q_proj=bias, k_proj=bias, v_proj=bias) if a.qkv_bias else None
        network = block(
            "mlp",
            gate_up_proj=Linear(d, 2 * width),
            gate_proj=half,
            up_proj=half,
            down_proj=Linear(width, d, network_bias),
        )
        attention = block("attention", gqkv_proj=Linear(d, 4 * wide), o_proj=Linear(wide, d, a.out_bias))
        return block(attn=attention, self_attn=biases, mlp=network)

    body = block(
        embed_tokens=embedding(s.vocab, d),
        L_module=Block({"layers": stack(s.layers, layer_block)}, repeats=s.own.H_cycles * s.own.L_cycles),
        H_module=Block({"layers": stack(s.layers, layer_block)}, repeats=s.own.H_cycles),
        z_L_init=Tensor((d,)),
    )
    return with_head(s, body)
