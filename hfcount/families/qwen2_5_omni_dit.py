"""Qwen2.5-Omni's diffusion transformer: from codes and a voice, which ECAPA-TDNN reads, to mels (arXiv:2503.20215)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import embedding, stack
from hfcount.parts.vocoders import voice_encoder
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("qwen2_5_omni_dit",)  # transformers 5.23: modeling_qwen2_5_omni.py
IGNORED = ("block_size", "look_ahead_layers", "look_backward_layers", "repeats", "enc_dilations")

_SIZES = {
    "mel_dim": "b",
    "num_embeds": "n_e",
    "emb_dim": "d_e",
    "enc_emb_dim": "d_n",
    "enc_dim": "d_s",
    "enc_attention_channels": "C_a",
    "enc_se_channels": "C_s",
}
_FREQUENCIES = 256  # of the step's time


def spec(c: Config) -> Spec:
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("head_dim"), qkv_bias=True, out_bias=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=d * c.int("ff_mult"), bias=True))
    widths, kernels = c.ints("enc_channels"), c.ints("enc_kernel_sizes")
    if len({len(widths), len(kernels), c.length("enc_dilations")}) > 1 or not widths:
        raise c.error("enc_channels, enc_kernel_sizes and enc_dilations must have the same length.", "enc_channels")
    traits: dict[str, int] = {name: keys.sized(letter, c.int(name)) for name, letter in _SIZES.items()}
    traits |= {"convolutions": len(widths), "enc_res2net_scale": c.int("enc_res2net_scale")}
    for number, (width, kernel) in enumerate(zip(widths, kernels, strict=True)):
        traits[f"width.{number}"] = keys.sized(f"C{number + 1}", width)
        traits[f"kernel.{number}"] = keys.sized(f"w{number + 1}", kernel)
    layers = keys.alike(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d, traits=traits)


def blueprint(s: Spec) -> Block:
    d, of = s.hidden, s.traits
    heard = of["mel_dim"] + of["enc_dim"] + of["enc_emb_dim"] + of["emb_dim"]

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
        text_embed=block(codec_embed=embedding(of["num_embeds"] + 1, of["emb_dim"])),
        input_embed=block("embedding", proj=Linear(heard, d, True), spk_encoder=voice_encoder(s)),
        transformer_blocks=stack(s.layers, layer),
        norm_out=block("norm", linear=Linear(d, 2 * d, True)),
        proj_out=Linear(d, of["mel_dim"], True, "lm_head"),
    )
