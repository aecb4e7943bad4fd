"""GPT-NeoX, Pythia, Dolly, RedPajama and their reward models (arXiv:2204.06745, arXiv:2304.01373)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, inv_freq, layer_norm, mlp, stack
from hfcount.architectures.layers.classic import causal_mask, fused_attention, generative
from hfcount.mapper import Config
from hfcount.spec import Layer, Record, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("gpt_neox", "gpt_neox_reward_model")  # transformers 5.23: modeling_gpt_neox.py
IGNORED = ("use_parallel_residual",)
SPELLINGS = {r"^embed_out\.": "lm_head."}

_HEADS = keys.named(("ForCausalLM", *keys.GPT_HEADS[1:]), RewardModel="reward")


class GptNeoxLayer(Record):
    rotary: int


def spec(c: Config) -> Spec:
    d, heads, bias = c.int("hidden_size"), c.int("num_attention_heads"), c.bool("attention_bias", default=True)
    mixer = keys.multi_head(c, d, heads, bias=bias)
    share = (c.sub("rope_parameters") or c).share("partial_rotary_factor", "rotary_pct", default=0.25)
    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=True), own=GptNeoxLayer(rotary=int(mixer.head_dim * share)))
    return keys.decoder_spec(c, layer, hidden=d, positions=c.int("max_position_embeddings"), heads=_HEADS)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        attention = fused_attention(d, layer.attention, "query_key_value", "dense")
        mask, rotary = causal_mask(s.positions or 0), inv_freq(layer.sizes(GptNeoxLayer).rotary)
        return block(
            input_layernorm=layer_norm(d),
            post_attention_layernorm=layer_norm(d),
            attention=Block({**attention.children, **mask, "rotary_emb": rotary}, "attention"),
            mlp=mlp(d, layer.dense.width, up="dense_h_to_4h", down="dense_4h_to_h"),
        )

    body = block(embed_in=embedding(s.vocab, d), layers=stack(s.layers, layer_block), final_layer_norm=layer_norm(d))
    reward = block(out_proj=Linear(d, 1, True, "other"))
    return generative(s, "gpt_neox", body, "embed_in", head="embed_out", reward=reward)
