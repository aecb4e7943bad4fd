"""Hybrid Ling and Ring: Kimi Delta Attention alternating with latent attention, balanced experts."""

from hfcount.architectures import keys
from hfcount.architectures.components import ling
from hfcount.architectures.layers import embedding, network, pre_norm, rms_norm, stack, with_head
from hfcount.architectures.layers.conversions import CONVOLUTION, packed
from hfcount.architectures.layers.mixers import kimi_delta
from hfcount.mapper import Config
from hfcount.spec import MLA, DeltaNet, Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("bailing_hybrid",)  # transformers 5.23: modeling_bailing_hybrid.py
IGNORED = ("moe_renormalize", "num_expert_group")
SPELLINGS = {
    r"^model\.word_embeddings\.": "model.embed_tokens.",
    r"\.attention\.": ".self_attn.",
    r"self_attn\.(f_proj\.|dt_bias$|A_log$)": r"self_attn.forget_gate.\1",
    r"\.self_attn\.dense\.": ".self_attn.o_proj.",
    r"\.mlp\.gate\.expert_bias$": ".mlp.gate.e_score_correction_bias",
}
MERGED = packed() | CONVOLUTION


def spec(c: Config) -> Spec:
    heads = c.int("num_attention_heads")
    linear_heads = c.int("linear_num_heads", default=heads)
    width = c.int("linear_head_dim", default=None) or c.int("head_dim")
    kernel = c.int("linear_conv_kernel_dim", default=None) or c.int("short_conv_kernel_size")
    linear = DeltaNet(key_heads=linear_heads, value_heads=linear_heads, key_dim=width, value_dim=width, kernel=kernel)
    latent = MLA(
        heads=heads,
        q_lora_rank=c.int("q_lora_rank", default=None),
        kv_lora_rank=c.int("kv_lora_rank"),
        nope_dim=c.int("qk_nope_head_dim"),
        rope_dim=c.int("qk_rope_head_dim"),
        value_dim=c.int("v_head_dim"),
        bias=c.bool("attention_bias", default=False),
    )
    mixers = keys.mixed(c, latent, linear, keys.kinds(c), keys.every_nth(c, "layer_group_size"), "linear_attention")
    active, shared = ("num_experts_per_token", "num_experts_per_tok"), ("num_shared_experts", "n_shared_experts")

    def experts() -> MoE:
        return keys.moe(c, "moe_intermediate_size", active=active, shared=shared)

    networks = keys.networks(c, keys.dense_and_sparse(c, "first_k_dense_replace"), experts)
    model = keys.decoder_spec(c, keys.combined(mixers, networks), heads=("ForCausalLM", "Model"))
    return model.replace(tied=False)  # the head is its own, whatever the config says


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def sparse(m: MoE) -> Block:
        return ling.experts(d, m, balanced=True)

    def layer_block(layer: Layer) -> Block:
        mixer = layer.mixer
        linear = kimi_delta(d, mixer, ranked=False, out="dense") if isinstance(mixer, DeltaNet) else None
        return pre_norm(d, attention=linear or ling.latent(d, layer.latent, gated=True), mlp=network(d, layer, sparse))

    # Only the classes with a head store the embedding under its old name.
    table = "embed_tokens" if s.head == "base" else "word_embeddings"
    body = block(layers=stack(s.layers, layer_block), norm=rms_norm(d))
    return with_head(s, Block({table: embedding(s.vocab, d), **body.children}), table=table)
