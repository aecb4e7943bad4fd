"""DBRX: the matrices of all experts stacked in one tensor (DBRX model card)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, fused_qkv, inv_freq, layer_norm, stack, with_head
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.spec import GQA, Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("dbrx",)  # transformers 5.23: modeling_dbrx.py


def spec(c: Config) -> Spec:
    attn, ffn = (c.sub(part) or Config({}, f"{c.where}: {part}", c.family) for part in ("attn_config", "ffn_config"))
    hidden, heads = c.int("d_model", "hidden_size"), c.int("n_heads", "num_attention_heads")
    if hidden % heads:
        raise c.error(
            "not-divisible",
            f"d_model {hidden:,} is not a multiple of n_heads {heads:,}.",
            "d_model",
            "Correct one of them.",
        )
    mixer = GQA(heads=heads, kv_heads=attn.int("kv_n_heads"), head_dim=hidden // heads)
    experts, active = ffn.int("moe_num_experts"), ffn.int("moe_top_k")
    if active > experts:
        text = f"moe_top_k {active:,} exceeds moe_num_experts {experts:,}."
        raise ffn.error("out-of-range", text, "moe_top_k", "Correct one of them.")
    layer = Layer(mixer=mixer, ffn=MoE(experts=experts, active=active, width=ffn.int("ffn_hidden_size")))
    every = Indices.below(c.int("n_layers", "num_hidden_layers", maximum=MAX_LAYERS))
    return keys.decoder_spec(c, [Layers(indices=every, layer=layer)], hidden=hidden, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, m = layer.attention, layer.moe
        attention = block("attention", Wqkv=fused_qkv(d, a), out_proj=Linear(d, d), rotary_emb=inv_freq(a.head_dim))
        matrix = Tensor((m.experts * m.width, d), component="experts", active=(m.active, m.experts))
        return block(
            norm_attn_norm=block(norm_1=layer_norm(d, False), attn=attention, norm_2=layer_norm(d, False)),
            ffn=block(
                router=block("router", layer=Linear(d, m.experts)),
                experts=block(mlp=block("experts", w1=matrix, v1=matrix, w2=matrix)),
            ),
        )

    body = block(wte=embedding(s.vocab, d), blocks=stack(s.layers, layer_block), norm_f=layer_norm(d, False))
    return with_head(s, body, prefix="transformer", table="wte")
