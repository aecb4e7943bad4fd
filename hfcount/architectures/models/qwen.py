"""The first Qwen: Llama with fused attention and early tensor names (arXiv:2309.16609)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, fused_qkv, layer_norm, mlp, rms_norm, stack, with_head
from hfcount.architectures.layers.vision import patch_convolution
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import GQA, Dense, Layer, Patches, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block, buffer

# modeling_qwen.py of Qwen/Qwen-7B, of Qwen/Qwen-VL, with visual.py beside it, and of Qwen/Qwen-Audio, with audio.py
MODEL_TYPES = ("qwen",)
IGNORED = ("bf16", "fp16", "fp32", "n_positions", "use_dynamic_ntk", "use_flash_attn", "use_logn_attn")


def spec(c: Config) -> Spec:
    heads = c.int("num_attention_heads", "n_head")
    hidden, bias = c.int("hidden_size", "n_embd"), not c.bool("no_bias", default=True)
    width = c.int("intermediate_size", "ffn_hidden_size")
    if width % 2:
        raise c.error(
            "not-divisible",
            f"intermediate_size {width:,} counts two projections, so it must be even.",
            "intermediate_size",
        )
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("kv_channels", default=128), qkv_bias=True, out_bias=bias)
    depth = keys.layer_count(c, "num_hidden_layers", "n_layer")
    layers = keys.uniform(Layer(mixer=mixer, ffn=Dense(width=width // 2, bias=bias)), depth)
    towers = {"vision": families.part(c, "visual", "qwen_vl_vision")} if c.sub("visual") else {}
    if c.sub("audio"):
        towers["audio"] = families.part(c, "audio", "qwen_audio_encoder")
    # If a config gives both, the table has as many rows as the padded vocabulary.
    padded = c.int("padded_vocab_size", default=None)
    if padded is not None:
        c.without_effect("vocab_size")
    vocab = padded or c.int("vocab_size")
    return keys.decoder_spec(c, layers, heads=("LMHeadModel", "Model"), vocab=vocab, hidden=hidden, parts=towers)


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        a, ffn = layer.attention, layer.dense
        return block(
            ln_1=rms_norm(d),
            attn=block("attention", c_attn=fused_qkv(d, a), c_proj=Linear(a.heads * a.head_dim, d, a.out_bias)),
            ln_2=rms_norm(d),
            mlp=block(
                "mlp",
                w1=Linear(d, ffn.width, ffn.bias),
                w2=Linear(d, ffn.width, ffn.bias),
                c_proj=Linear(ffn.width, d, ffn.bias),
            ),
        )

    visual = families.tower(s, "vision") if "vision" in s.parts else None
    body = block(
        wte=embedding(s.vocab, d),
        h=stack(s.layers, layer_block),
        ln_f=rms_norm(d),
        visual=visual,
        audio=families.tower(s, "audio") if "audio" in s.parts else None,
    )
    return with_head(s, body, prefix="transformer", table="wte")


_QUERIES = 256  # as the implementation has it, and as many places


class QwenVlVision(Sizes):
    n_queries: int


def vision_spec(c: Config) -> Spec[QwenVlVision]:
    """The tower of the first Qwen-VL: OpenCLIP's layers, then a resampler (arXiv:2308.12966)."""
    d = c.int("width")
    return keys.tower(
        c,
        hidden=d,
        ffn=Dense(width=c.times("mlp_ratio", d), bias=True),
        heads=("heads",),
        depth=("layers",),
        patches=Patches(side=c.int("patch_size"), channels=3),
        positions=_QUERIES,
        out=c.int("output_dim"),
    ).having(QwenVlVision.read(c, n_queries=keys.dim("n_q", c.int("n_queries", default=_QUERIES))))


def vision_blueprint(s: Spec[QwenVlVision]) -> Block:
    d, out = s.hidden, s.output

    def attention(width: int, **fused: Tensor | Linear) -> Block:
        return block("attention", **fused, out_proj=Linear(width, width, True))

    def layer_block(layer: Layer) -> Block:
        return block(
            ln_1=layer_norm(d),
            attn=attention(d, in_proj=Linear(d, 3 * d, True)),
            ln_2=layer_norm(d),
            mlp=mlp(d, layer.dense.width, up="c_fc", down="c_proj"),
        )

    queries = Tensor((s.own.n_queries, out))
    pooling = block(
        "projector",
        query=queries,
        pos_embed=queries,
        kv_proj=Linear(d, out),
        attn=attention(out, in_proj_weight=Tensor((3 * out, out)), in_proj_bias=Tensor((3 * out,))),
        ln_q=layer_norm(out),
        ln_kv=layer_norm(out),
    )
    return block(
        conv1=patch_convolution(s, bias=False),
        positional_embedding=Tensor((s.positions or 0, d), component="embedding"),
        ln_pre=layer_norm(d),
        transformer=block(resblocks=stack(s.layers, layer_block)),
        attn_pool=pooling,
        ln_post=layer_norm(out),
        proj=Tensor((out, out), component="projector"),
    )


class QwenAudioEncoder(Sizes):
    """Sizes specific to Qwen-Audio's encoder; `marked` is whether tokens begin and end a sound."""

    n_mels: int = size("b")
    marked: bool = flag("add_audio_bos_eos_token", absent=True)


def audio_spec(c: Config) -> Spec[QwenAudioEncoder]:
    """The encoder of Qwen-Audio: Whisper's under its first names (arXiv:2311.07919)."""
    d = c.int("n_state")
    sizes, layer = QwenAudioEncoder.read(c), Dense(width=4 * d, bias=True)
    rows, out = c.int("n_ctx"), c.int("output_dim", default=512)
    deep = ("n_layer",)
    return keys.tower(c, hidden=d, ffn=layer, heads=("n_head",), depth=deep, positions=rows, out=out).having(sizes)


def audio_blueprint(s: Spec[QwenAudioEncoder]) -> Block:
    d, square = s.hidden, Linear(s.hidden, s.hidden, True)

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        return block(
            attn=block("attention", query=square, key=Linear(d, d), value=square, out=square),
            attn_ln=layer_norm(d),
            mlp=Block({"0": Linear(d, width, True), "2": Linear(width, d, True)}, "mlp"),
            mlp_ln=layer_norm(d),
        )

    def convolution(inputs: int) -> Block:
        return block("embedding", weight=Tensor((d, inputs, 3)), bias=Tensor((d,)))

    marks = Tensor((2, s.output), component="embedding")
    return block(
        conv1=convolution(s.own.n_mels),
        conv2=convolution(d),
        positional_embedding=buffer(s.positions or 0, d, component="embedding"),
        blocks=stack(s.layers, layer_block),
        ln_post=layer_norm(d),
        proj=block("projector", weight=Tensor((s.output, d)), bias=Tensor((s.output,))),
        audio_bos_eos_token=block(weight=marks) if s.own.marked else None,
    )


PARTS = (
    families.Family(("qwen_vl_vision",), vision_spec, vision_blueprint, ignored=("image_size",)),
    families.Family(("qwen_audio_encoder",), audio_spec, audio_blueprint, ignored=("avg_pool",)),
)
