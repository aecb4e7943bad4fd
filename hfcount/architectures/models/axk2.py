"""A.X K2: gated latent attention to tokens that an indexer selects, balanced experts, norms with a gate of low rank."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, decoder, indexer, mla, network, rms_norm, shared_moe
from hfcount.architectures.layers.conversions import packed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Layer, MoE, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("axk2",)  # transformers 5.23: modeling_axk2.py
SPELLINGS = {
    r"layernorm\.W_down\.": "layernorm.mlp.fc1.",
    r"layernorm\.W_up\.": "layernorm.mlp.fc2.",
    r"self_attn\.q_b_proj\.": "self_attn.q_gate_proj.",
}
MERGED = packed()


class Axk2(Sizes):
    gated_norm_rank: int = size("r_n")


def spec(c: Config) -> Spec[Axk2]:
    mixer, _ = keys.indexed(c, keys.mla(c))
    layers = keys.networks(c, keys.dense_and_stepped(c), lambda: keys.deepseek_moe(c), mixer)
    return keys.decoder_spec(c, layers).having(Axk2.read(c))


def blueprint(s: Spec[Axk2]) -> Block:
    d, rank = s.hidden, s.own.gated_norm_rank
    gated = block("norm", W_down=Linear(d, rank), W_up=Linear(rank, d), norm=rms_norm(d))

    def layer_block(layer: Layer) -> Block:
        a = layer.latent
        queries = 2 * (a.q_lora_rank or 0)  # and the gates of the output, from two halves
        outputs = a.heads * (a.nope_dim + a.rope_dim + a.value_dim)
        return block(
            input_layernorm=gated,
            self_attn=altered(mla(d, a), q_b_proj=Linear(queries, outputs), indexer=indexer(d, a)),
            post_attention_layernorm=gated if isinstance(layer.ffn, MoE) else rms_norm(d),
            mlp=network(d, layer, lambda m: shared_moe(d, m, balanced=True)),
        )

    return decoder(s, layer_block)
