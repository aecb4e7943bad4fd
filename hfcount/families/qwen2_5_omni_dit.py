"""Qwen2.5-Omni's diffusion transformer: from codes and a voice, which ECAPA-TDNN reads, to mels (arXiv:2503.20215)."""

from hfcount import keys
from hfcount.components.vocoders import VoiceEncoder
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, stack
from hfcount.spec import GQA, Dense, Layer, Sizes, Spec, part, size
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_5_omni_dit",)  # transformers 5.23: modeling_qwen2_5_omni.py
IGNORED = ("block_size", "look_ahead_layers", "look_backward_layers", "repeats", "enc_dilations")

_FREQUENCIES = 256  # of the step's time


class Qwen2_5OmniDit(Sizes):
    """What the diffusion transformer alone has."""

    voice: VoiceEncoder = part(VoiceEncoder)
    mel_dim: int = size("b")
    num_embeds: int = size("n_e")
    emb_dim: int = size("d_e")
    enc_emb_dim: int = size("d_n")


def spec(c: Config) -> Spec[Qwen2_5OmniDit]:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("head_dim"), qkv_bias=True, out_bias=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=d * c.int("ff_mult"), bias=True))
    own = Qwen2_5OmniDit.read(c)
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d).having(own)


def blueprint(s: Spec[Qwen2_5OmniDit]) -> Block:
    d, of = s.hidden, s.own
    heard = of.mel_dim + of.voice.dim + of.enc_emb_dim + of.emb_dim

    def layer(one: Layer) -> Block:
        inner, width = one.attention.heads * one.attention.head_dim, one.dense.width
        wide, out = Linear(d, inner, True), Block({"0": Linear(inner, d, True)})
        network = {"0": Linear(d, width, True), "3": Linear(width, d, True)}
        return block(
            attn_norm=block("norm", linear=Linear(d, 6 * d, True)),
            attn=block("attention", to_q=wide, to_k=wide, to_v=wide, to_out=out),
            ff=block("mlp", ff=Block(network)),
        )

    times = {"0": Linear(_FREQUENCIES, d, True), "2": Linear(d, d, True)}
    return block(
        time_embed=block("embedding", time_mlp=Block(times)),
        text_embed=block(codec_embed=embedding(of.num_embeds + 1, of.emb_dim)),
        input_embed=block("embedding", proj=Linear(heard, d, True), spk_encoder=of.voice.tensors(of.mel_dim)),
        transformer_blocks=stack(s.layers, layer),
        norm_out=block("norm", linear=Linear(d, 2 * d, True)),
        proj_out=Linear(d, of.mel_dim, True, "lm_head"),
    )
