"""Qwen2.5-Omni and Qwen3-Omni: a thinker that writes text, a talker that says it, a vocoder (arXiv:2503.20215)."""

from itertools import product

from hfcount.architectures import families, keys
from hfcount.architectures.components.vocoders import VoiceEncoder, halved, snake
from hfcount.architectures.layers import (
    altered,
    embedding,
    gqa,
    inv_freq,
    layer_norm,
    pre_norm,
    rms_norm,
    stack,
    swiglu,
)
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.composite import rebased, towers_beside_model
from hfcount.architectures.layers.conversions import packed
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import MAX_LAYERS, Config, Sizes, part, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, block

# transformers 5.23: modeling_qwen2_5_omni.py, modeling_qwen3_omni_moe.py
MODEL_TYPES = ("qwen2_5_omni", "qwen3_omni_moe")
CLASSES = ("Qwen2_5OmniModel",)
SPELLINGS = {
    r"^thinker\.(audio_tower\.|visual\.)": r"thinker.model.\1",
    r"^thinker\.model\.(?!language_model\.|visual\.|audio_tower\.)": "thinker.model.language_model.",
}
MERGED = packed()


def spec(c: Config) -> Spec:
    thinker, parts = families.part(c, "thinker_config"), dict[str, Spec]()
    if c.bool("enable_audio_output", default=True):
        second = c.family == "qwen2_5_omni"
        parts["talker"] = families.part(c, "talker_config", "" if second else "qwen3_omni_moe_talker")
        parts["waves"] = (
            families.part(c, "token2wav_config")
            if second
            else families.part(c, "code2wav_config", "qwen3_omni_moe_code2wav")
        )
    heads = keys.named(("ForConditionalGeneration",), OmniModel="conditional_generation")  # as it was released
    model = keys.composite(c, thinker, parts, key="thinker_config", heads=heads)
    return model.replace(tied=thinker.tied)


def blueprint(s: Spec) -> Block:
    senses: dict[str, Node] = {}
    for name in ("talker", "waves"):
        if name in s.parts:
            tower = families.tree(s.parts[name].replace(head=s.parts[name].heads[0]))
            called = "token2wav" if s.family == "qwen2_5_omni" else "code2wav"
            senses[name if name == "talker" else called] = tower.replace(component="audio", repeats=0)
    text = s.part("text").replace(head="conditional_generation", tied=s.tied)
    return block(thinker=rebased(families.tree(text), "thinker"), **senses)


def thinker_spec(c: Config) -> Spec:
    """The thinkers of Qwen2.5-Omni and Qwen3-Omni: a language model with towers for images and sound."""
    towers = {sense: families.part(c, f"{sense}_config") for sense in ("vision", "audio")}
    heads, tied = ("ForConditionalGeneration", "Model"), c.bool("tie_word_embeddings", default=False)
    return keys.composite(c, families.part(c, "text_config"), towers, heads=heads).replace(tied=tied)


def thinker_blueprint(s: Spec) -> Block:
    senses = {"audio_tower": families.tower(s, "audio"), "visual": families.tower(s, "vision")}
    return towers_beside_model(s, families.base(s), **senses)


class Qwen25OmniTalker(Sizes):
    embedding_size: int = size("d_e")


def talker_spec(c: Config) -> Spec[Qwen25OmniTalker]:
    """Qwen2.5-Omni's talker: Qwen2 over codes of speech, which it embeds as wide as the thinker does."""
    layer = Layer(mixer=keys.attention(c, qkv_bias=True), ffn=keys.dense(c))
    sizes = Qwen25OmniTalker.read(c)
    heads, windows = ("ForConditionalGeneration", "Model"), keys.sliding_later(c, first=28)
    return keys.decoder_spec(c, layer, heads=heads, windows=windows).replace(tied=False).having(sizes)


def talker_blueprint(s: Spec[Qwen25OmniTalker]) -> Block:
    d, wide = s.hidden, s.own.embedding_size

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    body = block(embed_tokens=embedding(s.vocab, wide), layers=stack(s.layers, layer_block), norm=rms_norm(d))
    if s.head == "base":
        return body
    return block(
        thinker_to_talker_proj=Linear(wide, d, True, "projector"),
        model=body,
        codec_head=Linear(d, s.vocab, component="lm_head"),
    )


class Qwen25OmniAudioEncoder(Sizes):
    num_mel_bins: int = size("b")


def audio_spec(c: Config) -> Spec[Qwen25OmniAudioEncoder]:
    """Qwen2.5-Omni's audio encoder: Whisper's layers without a table of positions, then a projection."""
    d, width = c.int("d_model"), Dense(width=c.int("encoder_ffn_dim"), bias=True)
    layer = Layer(mixer=keys.multi_head(c, d, c.int("encoder_attention_heads")), ffn=width)
    layers, out = keys.uniform(layer, c.int("encoder_layers", maximum=MAX_LAYERS)), c.int("output_dim")
    sizes = Qwen25OmniAudioEncoder.read(c)
    return keys.encoding(c, layers, hidden=d, out=out).having(sizes)


def audio_blueprint(s: Spec[Qwen25OmniAudioEncoder]) -> Block:
    d, out = s.hidden, s.output

    def layer_block(layer: Layer) -> Block:
        a = layer.attention
        attention = altered(mha(d, a), k_proj=Linear(d, a.heads * a.head_dim))
        return altered(bart_layer(d, layer, False), self_attn=attention)

    return block(
        conv1=conv(s.own.num_mel_bins, d, 3, component="embedding"),
        conv2=conv(d, d, 3, component="embedding"),
        audio_bos_eos_token=embedding(2, out),
        layers=stack(s.layers, layer_block),
        ln_post=layer_norm(d),
        proj=Linear(d, out, True, "projector"),
    )


def token2wav_spec(c: Config) -> Spec:
    """Qwen2.5-Omni's way from codes to sound: a diffusion transformer, then BigVGAN (arXiv:2503.20215)."""
    mels = families.part(c, "dit_config")
    parts = {"mels": mels, "waves": families.part(c, "bigvgan_config")}
    return keys.encoding(c, mels.layers, hidden=mels.hidden, parts=parts)


def token2wav_blueprint(s: Spec) -> Block:
    mels, waves = families.tree(s.part("mels")), families.tree(s.part("waves"))
    return block(code2wav_dit_model=mels, code2wav_bigvgan_model=waves)


_FREQUENCIES = 256  # of the step's time


class Qwen2_5OmniDit(Sizes):
    voice: VoiceEncoder = part(VoiceEncoder)
    mel_dim: int = size("b")
    num_embeds: int = size("n_e")
    emb_dim: int = size("d_e")
    enc_emb_dim: int = size("d_n")


def dit_spec(c: Config) -> Spec[Qwen2_5OmniDit]:
    """Qwen2.5-Omni's diffusion transformer: from codes and a voice, which ECAPA-TDNN reads, to mels."""
    d, heads = c.int("hidden_size"), c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("head_dim"), qkv_bias=True, out_bias=True)
    layer = Layer(mixer=mixer, ffn=Dense(width=d * c.int("ff_mult"), bias=True))
    sizes = Qwen2_5OmniDit.read(c)
    c.confirms(dim=int(d), heads=int(heads), depth=c.int("num_hidden_layers"))  # other names, which no class reads
    layers = keys.uniform(layer, c.int("num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d).having(sizes)


def dit_blueprint(s: Spec[Qwen2_5OmniDit]) -> Block:
    d, of = s.hidden, s.own
    heard = of.mel_dim + of.voice.dim + of.enc_emb_dim + of.emb_dim

    def layer_block(layer: Layer) -> Block:
        inner, width = layer.attention.heads * layer.attention.head_dim, layer.dense.width
        wide, out = Linear(d, inner, True), Block({"0": Linear(inner, d, True)})
        network = {"0": Linear(d, width, True), "3": Linear(width, d, True)}
        return block(
            attn_norm=block("norm", linear=Linear(d, 6 * d, True)),
            attn=block("attention", to_q=wide, to_k=wide, to_v=wide, to_out=out),
            ff=block("mlp", ff=Block(network)),
        )

    times = {"0": Linear(_FREQUENCIES, d, True), "2": Linear(d, d, True)}
    turned = s.layers[0].layer.attention.head_dim if s.layers else None
    return block(
        time_embed=block("embedding", time_mlp=Block(times)),
        text_embed=block(codec_embed=embedding(of.num_embeds + 1, of.emb_dim)),
        input_embed=block("embedding", proj=Linear(heard, d, True), spk_encoder=of.voice.tensors(of.mel_dim)),
        rotary_embed=inv_freq(turned) if turned else None,  # 4.57.1, modeling_qwen2_5_omni.py:2494
        transformer_blocks=stack(s.layers, layer_block),
        norm_out=block("norm", linear=Linear(d, 2 * d, True)),
        proj_out=Linear(d, of.mel_dim, True, "lm_head"),
    )


class BigVGAN(Sizes):
    """Sizes of BigVGAN: so many `steps`, by transposed convolutions of these kernels, and blocks after each."""

    ups: tuple[int, ...]
    steps: int
    blocks: tuple[int, ...]
    mel_dim: int = size("b")


def bigvgan_spec(c: Config) -> Spec[BigVGAN]:
    """BigVGAN of Qwen2.5-Omni: each step lengthens a spectrogram and halves its channels (arXiv:2206.04658)."""
    widths, strides = c.ints("upsample_kernel_sizes"), c.ints("upsample_rates")
    dilations = c.length("resblock_dilation_sizes")
    kernels = c.ints("resblock_kernel_sizes")[:dilations]
    sizes = BigVGAN.read(
        c,
        ups=tuple(keys.dim(f"w{number}", width) for number, width in enumerate(widths[: len(strides)], 1)),
        steps=len(strides),
        blocks=tuple(keys.dim(f"w_r{number}", width) for number, width in enumerate(kernels, 1)),
    )
    return keys.encoding(c, (), hidden=c.int("upsample_initial_channel")).having(sizes)


def bigvgan_blueprint(s: Spec[BigVGAN]) -> Block:
    of, d, three = s.own, s.hidden, Indices.below(3)
    last = halved(d, of.steps)
    ups, blocks = dict[str, Node](), dict[str, Node]()
    for step, kernel in enumerate(of.ups):
        ups[str(step)] = Block({"0": upsampling(halved(d, step), halved(d, step + 1), kernel)})
    for number, (step, kernel) in enumerate(product(range(of.steps), of.blocks)):
        width = halved(d, step + 1)
        same = Repeat(three, conv(width, width, kernel))
        activations = Repeat(Indices.below(2 * 3), block(act=snake(width)))
        blocks[str(number)] = block(convs1=same, convs2=same, activations=activations)
    return block(
        "audio",
        conv_pre=conv(of.mel_dim, d, 7),
        ups=Block(ups),
        resblocks=Block(blocks),
        activation_post=block(act=snake(last)),
        conv_post=conv(last, 1, 7, bias=False),
    )


PARTS = (
    families.Family(
        ("qwen2_5_omni_thinker", "qwen3_omni_moe_thinker"),
        thinker_spec,
        thinker_blueprint,
        spellings={
            r"^thinker\.": "",
            r"^(audio_tower\.|visual\.|language_model\.)": r"model.\1",
            r"^model\.(?!language_model\.|visual\.|audio_tower\.)": "model.language_model.",
        },
    ),
    families.Family(("qwen2_5_omni_talker",), talker_spec, talker_blueprint),
    families.Family(
        ("qwen2_5_omni_audio_encoder",), audio_spec, audio_blueprint, ignored=("max_source_positions", "n_window")
    ),
    families.Family(("qwen2_5_omni_token2wav",), token2wav_spec, token2wav_blueprint),
    families.Family(
        ("qwen2_5_omni_dit",),
        dit_spec,
        dit_blueprint,
        ignored=(
            "block_size",
            "look_ahead_layers",
            "look_backward_layers",
            "repeats",
            "enc_dilations",
            "enc_global_context",
            "enc_lin_neurons",
        ),
    ),
    families.Family(("qwen2_5_omni_bigvgan",), bigvgan_spec, bigvgan_blueprint, ignored=("resblock_dilation_sizes",)),
)
