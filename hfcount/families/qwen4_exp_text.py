"""Qwen4-Exp's language model: Gated DeltaNet and indexed attention, several residual streams, tables of n-grams."""

from hfcount import keys
from hfcount.keys.ngrams import with_ngrams
from hfcount.mapper import Config
from hfcount.parts import altered, embedding, gated_moe, gqa, rms_norm, stack, with_head
from hfcount.parts.conversions import packed
from hfcount.parts.mixers import gated_delta_net
from hfcount.parts.ngrams import gated_residual, ngram_layer
from hfcount.spec import DeltaNet, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen4_exp_text",)  # transformers 5.23: modeling_qwen4_exp.py
WITHIN = {"qwen4_exp_text": ("model.language_model.", "model.")}
IGNORED = ("indexer_budget", "indexer_compress_ratio", "number_of_conv_states", "seed")
MERGED = packed()

_INDEXED = "its indexers also keep keys of their own, and attention reads only the blocks of tokens that they choose"


def spec(c: Config) -> Spec:
    bias = c.bool("attention_bias", default=False)
    full = keys.attention(c, bias=bias, qk_norm=True, gated=True)
    fourth = keys.every_nth(c, "full_attention_interval", default=4)
    mixers = keys.mixed(c, full, keys.delta_net(c), keys.kinds(c), fourth, "full_attention")
    routed = keys.alike(Layer(ffn=keys.gated_moe(c)), keys.layer_count(c))
    traits = {
        "hc_count": keys.sized("m", c.int("hc_count")),
        "hc_lowrank": keys.sized("r_h", c.int("hc_lowrank")),
        "index_heads": keys.sized("h_i", c.int("indexer_n_heads")),
        "index_kv_heads": keys.sized("h_ik", c.int("indexer_kv_heads")),
        "index_dim": keys.sized("h_di", c.int("indexer_head_dim")),
    }
    layers = with_ngrams(c, keys.crossed(mixers, routed))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"), traits=traits, uncounted=_INDEXED)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    streams, rank = of["hc_count"], of["hc_lowrank"]
    index = block(
        index_qk_proj=Linear(d, (of["index_heads"] + of["index_kv_heads"]) * of["index_dim"]),
        q_layernorm=rms_norm(of["index_dim"]),
        k_layernorm=rms_norm(of["index_dim"]),
    )

    def layer(one: Layer) -> Block:
        mixer = one.mixer
        linear = gated_delta_net(d, mixer) if isinstance(mixer, DeltaNet) else None
        return block(
            linear_attn=linear,
            self_attn=None if linear else altered(gqa(d, one.attention), indexer=index),
            mlp=gated_moe(d, one.moe),
            ple=ngram_layer(d, one, streams) if "ple_rows" in one.traits else None,
            attn_hyper_connection=gated_residual(d, streams, rank),
            mlp_hyper_connection=gated_residual(d, streams, rank),
        )

    mixed = gated_residual(d, streams, rank, inject=False)
    body = block(embed_tokens=embedding(s.vocab, d), layers=stack(s.layers, layer), hyper_connection_mixer=mixed)
    return with_head(s, body)
