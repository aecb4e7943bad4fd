"""Gemma 3n: residual streams, low-rank residuals, an embedding for every layer (model card of google/gemma-3n-E4B)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components import gemma
from hfcount.architectures.components.gemma import network_widths, shares_kv
from hfcount.architectures.layers import base, layer_norm, rms_norm, stack, swiglu, with_head
from hfcount.architectures.layers.composite import towers_in_model
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Dense, Layer, Layers, Record, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

MODEL_TYPES = ("gemma3n", "gemma3n_text")  # transformers 5.23: modeling_gemma3n.py
IGNORED = ("vision_soft_tokens_per_image",)
WITHIN = {"gemma3n_text": ("model.language_model.", "model.")}

_BRANCHES = ("input", "post_attention", "pre_feedforward", "post_feedforward")


class Senses(Record):
    """The rows of the tables of what it sees and hears."""

    vision: int
    audio: int


class Gemma3n(Sizes):
    hidden_size_per_layer_input: int = size("d_l", absent=256)
    vocab_size_per_layer_input: int = size("|V_l|", absent=262_144)
    altup_num_inputs: int = size(absent=4)
    laurel_rank: int = size("r", absent=64)
    senses: Senses | None = None


def spec(c: Config) -> Spec[Gemma3n]:
    text = c if c.family == "gemma3n_text" else c.part("text_config")
    bias = text.bool("attention_bias", default=False)
    mixer = keys.attention(text, qkv_bias=bias, out_bias=bias, qk_norm=True, head_dim=256)
    widths = network_widths(text)
    layers = [Layers(indices=where, layer=Layer(mixer=mixer, ffn=Dense(width=width))) for width, where in widths]
    lent = shares_kv(text, layers, default=15)
    sizes = Gemma3n.read(text)
    windows = keys.sliding(text, lambda: keys.all_but_every_nth(text, 5), default=512)
    if text is c:
        model = keys.decoder_spec(c, lent, tied=True, heads=("ForCausalLM", "Model"), windows=windows)
        return model.having(sizes)
    towers = {sense: families.part(c, f"{sense}_config") for sense in ("vision", "audio")}
    vision_width = keys.dim("|V_v|", c.part("vision_config").int("vocab_size", default=128))
    heard = keys.dim("|V_a|", c.part("audio_config").int("vocab_size", default=128))
    heads = ("ForConditionalGeneration", "Model", "ForCausalLM")
    model = keys.decoder_spec(text, lent, whole=c, tied=True, heads=heads, windows=windows, parts=towers)
    return model.having(sizes.replace(senses=Senses(vision=vision_width, audio=heard)))


def blueprint(s: Spec[Gemma3n]) -> Block:
    d, norm, of = s.hidden, rms_norm(s.hidden), s.own

    def layer_block(layer: Layer) -> Block:
        named = block(
            self_attn=gemma.lending_attention(d, layer.attention, shares_kv=layer.shares_kv),
            mlp=swiglu(d, layer.dense.width),
            **{f"{branch}_layernorm": norm for branch in _BRANCHES},
            altup=_altup(d, of.altup_num_inputs),
            laurel=_laurel(d, of.laurel_rank),
        )
        return Block({**named.children, **gemma.per_layer_input(d, of.hidden_size_per_layer_input)})

    tables = gemma.per_layer_tables(d, s.depth, of.vocab_size_per_layer_input, of.hidden_size_per_layer_input)
    body = Block({**base(s, layer_block).children, **tables, **_altup_projections(d, of.altup_num_inputs)})
    if of.senses is None or s.head == "causal_lm":
        return with_head(s, body)
    towers = {"vision_tower": families.tower(s, "vision"), "audio_tower": families.tower(s, "audio")}
    embedders = {
        f"embed_{sense}": gemma.soft_embedder(rows, s.parts[sense].hidden, d, "projector")
        for sense, rows in (("vision", of.senses.vision), ("audio", of.senses.audio))
    }
    return towers_in_model(s, body, **towers, **embedders)


class Sampling(Record):
    """A convolution over the spectrogram: its channels, and height and width of its kernel."""

    channels: int
    height: int
    width: int


class Gemma3nAudio(Sizes):
    """Sizes specific to the tower: two convolutions, which leave so many `bands`, and the kernel of its layers."""

    convolutions: tuple[Sampling, ...]
    bands: int
    kernel: int = size("w", "conf_conv_kernel_size")


def audio_spec(c: Config) -> Spec[Gemma3nAudio]:
    """Gemma 3n's audio tower, a conformer: convolutions over the spectrogram, then layers (arXiv:2303.01037)."""
    d, channels = c.int("hidden_size"), c.ints("sscp_conv_channel_size", default=(128, 32))
    kernels, strides = _pairs(c, "sscp_conv_kernel_size", 3), _pairs(c, "sscp_conv_stride_size", 2)
    bands = c.int("input_feat_size")
    if len(channels) != 2:
        raise c.error("list-length", "sscp_conv_channel_size must have 2 entries.", "sscp_conv_channel_size")
    samplings = list[Sampling]()
    for number, ((height, width), (_, stride), wide) in enumerate(zip(kernels, strides, channels, strict=True), 1):
        bands = keys.dim("b", (bands + 2 - width) // stride + 1)
        sides = {"height": keys.dim(f"w_h{number}", height), "width": keys.dim(f"w_w{number}", width)}
        samplings.append(Sampling(channels=keys.dim(f"C{number}", wide), **sides))
    sizes = Gemma3nAudio.read(c, convolutions=tuple(samplings), bands=bands)
    mixer = keys.multi_head(c, d, c.int("conf_num_attention_heads"), bias=False, indivisible="built")
    layer = Layer(mixer=mixer, ffn=Dense(width=4 * d))
    layers = keys.uniform(layer, c.int("conf_num_hidden_layers", maximum=MAX_LAYERS))
    return keys.encoding(c, layers, hidden=d).having(sizes)


def _pairs(c: Config, key: str, usual: int) -> list[list[int]]:
    pairs = c.entries(key) or [[usual, usual]] * 2
    good = [
        isinstance(pair, list) and len(pair) == 2 and all(type(number) is int and number > 0 for number in pair)
        for pair in pairs
    ]
    if len(pairs) != 2 or not all(good):
        raise c.error("list-length", f"{key} must have 2 entries of 2 sizes each.", key)
    return pairs


def audio_blueprint(s: Spec[Gemma3nAudio]) -> Block:
    d, sizes, norm = s.hidden, s.own, rms_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        width, inner = layer.dense.width, layer.attention.heads * layer.attention.head_dim
        two = {"ffw_layer_1": Linear(d, width), "ffw_layer_2": Linear(width, d)}
        network = Block({"pre_layer_norm": norm, **two, "post_layer_norm": norm}, "mlp")
        into = Linear(d, inner)
        attention = block(
            per_dim_scale=Tensor((layer.attention.head_dim,)),
            relative_position_embedding=block(pos_proj=into),
            q_proj=into,
            k_proj=into,
            v_proj=into,
        )
        convolution = block(
            pre_layer_norm=norm,
            linear_start=Linear(d, 2 * d),
            depthwise_conv1d=block(weight=Tensor((d, 1, sizes.kernel))),
            conv_norm=norm,
            linear_end=Linear(d, d),
        )
        return block(
            ffw_layer_start=network,
            attention=block("attention", pre_attn_norm=norm, attn=attention, post=Linear(d, d), post_norm=norm),
            lconv1d=convolution,
            ffw_layer_end=network,
            norm=norm,
        )

    sampling: dict[str, Node] = {}
    before = 1
    for number, convolution in enumerate(sizes.convolutions):
        weight = Tensor((convolution.channels, before, convolution.height, convolution.width))
        sampling[f"conv_{number}"] = block(conv=block(weight=weight), norm=layer_norm(convolution.channels, bias=False))
        before = convolution.channels
    sampling["input_proj_linear"] = Linear(before * sizes.bands, d)
    return block(subsample_conv_projection=Block(sampling, "embedding"), conformer=stack(s.layers, layer_block))


def _altup(d: int, streams: int) -> Block:
    """Alternating updates (arXiv:2301.13310): a layer computes one of `streams` and predicts the others.

    Tensors: correct_output_scale (d), correction_coefs (streams, streams), prediction_coefs (streams², streams),
    modality_router (streams, d), router_norm (d).
    """
    return block(
        "other",
        correct_output_scale=Tensor((d,)),
        correction_coefs=Linear(streams, streams),
        prediction_coefs=Linear(streams, streams * streams),
        modality_router=Linear(d, streams),
        router_norm=rms_norm(d),
    )


def _altup_projections(d: int, streams: int) -> dict[str, Node]:
    """Projections from the embedding to the further streams and back: (d, d) each, streams - 1 times."""
    square = Repeat(Indices.below(streams - 1), Linear(d, d, component="other"))
    return {"altup_projections": square, "altup_unembed_projections": square}


def _laurel(d: int, rank: int) -> Block:
    """A learned residual of low rank (arXiv:2411.07501).

    Tensors: linear_left (rank, d), linear_right (d, rank), post_laurel_norm (d).
    """
    return block("other", linear_left=Linear(d, rank), linear_right=Linear(rank, d), post_laurel_norm=rms_norm(d))


PARTS = (
    families.Family(
        ("gemma3n_audio",),
        audio_spec,
        audio_blueprint,
        ignored=tuple(
            "conf_attention_chunk_size conf_attention_context_left conf_attention_context_right "
            "conf_reduction_factor vocab_offset vocab_size".split()
        ),
    ),
)
