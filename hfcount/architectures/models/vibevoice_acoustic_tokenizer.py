"""VibeVoice's tokenizers: stages of ConvNeXt's layers along time, into a latent and back (arXiv:2508.19205)."""

from hfcount.architectures import keys
from hfcount.architectures.components.codecs import ratios
from hfcount.architectures.layers import altered, rms_norm
from hfcount.architectures.layers.temporal import conv, upsampling
from hfcount.mapper import MAX_LAYERS, Config, Sizes, size
from hfcount.spec import Head, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block

# transformers 5.23: modeling_vibevoice_acoustic_tokenizer.py
MODEL_TYPES = (
    "vibevoice_acoustic_tokenizer",
    "vibevoice_acoustic_tokenizer_encoder",
    "vibevoice_acoustic_tokenizer_decoder",
)


class VibeVoiceTokenizer(Sizes):
    """Sizes specific to VibeVoice's tokenizers: stages of so many layers, and between them a step by each ratio."""

    ratios: tuple[int, ...]
    depths: tuple[int, ...]
    channels: int = size("C_a")
    kernel_size: int = size("w")
    num_filters: int = size("F")
    ffn_expansion: int = size("z")


def spec(c: Config) -> Spec[VibeVoiceTokenizer]:
    steps, depths = ratios(c, "downsampling_ratios"), c.ints("depths")
    if len(depths) != len(steps) + 1 or any(not 0 <= depth <= MAX_LAYERS for depth in depths):
        text = f"depths has {len(depths):,} entries, but must have one more than downsampling_ratios, {len(steps):,}."
        raise c.error("list-length", text, "depths", "Correct one of them.")
    layers = tuple(keys.dim(f"N_s{number}", depth) for number, depth in enumerate(depths))
    sizes = VibeVoiceTokenizer.read(c, ratios=steps, depths=layers)
    known: dict[str, Head] = {"EncoderModel": "base", "DecoderModel": "base"}
    return keys.encoding(c, [], known, hidden=c.int("hidden_size")).having(sizes)


def blueprint(s: Spec[VibeVoiceTokenizer]) -> Block:
    if s.family.endswith("encoder"):
        return _encoder(s)
    if s.family.endswith("decoder"):
        return _decoder(s, backwards=False)
    return block(encoder=_encoder(s), decoder=_decoder(s, backwards=True))


def _encoder(s: Spec[VibeVoiceTokenizer]) -> Block:
    sizes, width, layers = s.own, s.own.num_filters, dict[str, Block]()
    first, *later = sizes.depths
    stem = block(conv=block(conv=conv(sizes.channels, width, sizes.kernel_size)), stage=_stage(sizes, width, first))
    for number, (ratio, depth) in enumerate(zip(sizes.ratios, later, strict=True)):
        coarser = block(conv=conv(width, 2 * width, 2 * ratio))
        width = 2 * width
        layers[str(number)] = block(conv=coarser, stage=_stage(sizes, width, depth))
    head = block(conv=conv(width, s.hidden, sizes.kernel_size))
    return block("convolution", stem=stem, conv_layers=Block(layers), head=head)


def _decoder(s: Spec[VibeVoiceTokenizer], backwards: bool) -> Block:
    """The decoder; the depths of one that is part of the whole count `backwards`."""
    sizes, times, layers = s.own, len(s.own.ratios), dict[str, Block]()
    first, *later = reversed(sizes.depths) if backwards else sizes.depths
    before = sizes.num_filters * 2**times
    stem = block(conv=block(conv=conv(s.hidden, before, sizes.kernel_size)), stage=_stage(sizes, before, first))
    for number, (ratio, depth) in enumerate(zip(reversed(sizes.ratios), later, strict=True)):
        width = sizes.num_filters * 2 ** (times - number - 1)
        finer = block(convtr=upsampling(before, width, 2 * ratio))
        layers[str(number)] = block(convtr=finer, stage=_stage(sizes, width, depth))
        before = width
    head = block(conv=conv(before, sizes.channels, sizes.kernel_size))
    return block("convolution", stem=stem, conv_layers=Block(layers), head=head)


def _stage(of: VibeVoiceTokenizer, width: int, depth: int) -> Repeat:
    wide, scale = of.ffn_expansion * width, Tensor((width,))
    norm = rms_norm(width)
    network = block("mlp", linear1=Linear(width, wide, True), linear2=Linear(wide, width, True))
    layer = block(norm=norm, ffn_norm=norm, ffn=network, mixer=block(conv=conv(1, width, of.kernel_size)))
    return Repeat(Indices.below(depth), altered(layer, gamma=scale, ffn_gamma=scale))
