"""VibeVoice's tokenizers: stages of ConvNeXt's layers along time, into a latent and back (arXiv:2508.19205)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, rms_norm
from hfcount.parts.temporal import conv, upsampling
from hfcount.spec import Head, Spec
from hfcount.tree.indices import Indices
from hfcount.tree.nodes import Block, Linear, Repeat, Tensor, block

# transformers 5.23: modeling_vibevoice_acoustic_tokenizer.py
MODEL_TYPES = (
    "vibevoice_acoustic_tokenizer",
    "vibevoice_acoustic_tokenizer_encoder",
    "vibevoice_acoustic_tokenizer_decoder",
)

_SIZES = {"channels": "C_a", "kernel_size": "w", "num_filters": "F", "ffn_expansion": "z"}


def spec(c: Config) -> Spec:
    ratios, depths = keys.ratios(c, "downsampling_ratios"), c.ints("depths")
    if len(depths) != len(ratios) + 1 or any(not 0 <= depth <= MAX_LAYERS for depth in depths):
        said = f"depths has {len(depths):,} entries, and must have one more than downsampling_ratios, {len(ratios):,}."
        raise c.error(said, "depths", "Correct one of them.")
    traits: dict[str, int] = {key: keys.sized(letter, c.int(key)) for key, letter in _SIZES.items()}
    traits |= {"ratios": len(ratios), **{f"ratio.{number}": ratio for number, ratio in enumerate(ratios)}}
    traits |= {f"depth.{number}": keys.sized(f"N_s{number}", depth) for number, depth in enumerate(depths)}
    known: dict[str, Head] = {"EncoderModel": "base", "DecoderModel": "base"}
    return keys.encoding(c, [], known, hidden=c.int("hidden_size"), traits=traits)


def blueprint(s: Spec) -> Block:
    if s.family.endswith("encoder"):
        return _encoder(s)
    if s.family.endswith("decoder"):
        return _decoder(s, backwards=False)
    return block(encoder=_encoder(s), decoder=_decoder(s, backwards=True))


def _encoder(s: Spec) -> Block:
    of, width, layers = s.traits, s.traits["num_filters"], dict[str, Block]()
    stem = block(conv=block(conv=conv(of["channels"], width, of["kernel_size"])), stage=_stage(s, width, 0))
    for number in range(of["ratios"]):
        coarser = block(conv=conv(width, 2 * width, 2 * of[f"ratio.{number}"]))
        width = 2 * width
        layers[str(number)] = block(conv=coarser, stage=_stage(s, width, number + 1))
    head = block(conv=conv(width, s.hidden, of["kernel_size"]))
    return block("convolution", stem=stem, conv_layers=Block(layers), head=head)


def _decoder(s: Spec, backwards: bool) -> Block:
    """The decoder; the depths of one that is part of the whole count `backwards`."""
    of, count, layers = s.traits, int(s.traits["ratios"]), dict[str, Block]()

    def place(number: int) -> int:
        return count - number if backwards else number

    before = of["num_filters"] * 2**count
    stem = block(conv=block(conv=conv(s.hidden, before, of["kernel_size"])), stage=_stage(s, before, place(0)))
    for number in range(count):
        width = of["num_filters"] * 2 ** (count - number - 1)
        finer = block(convtr=upsampling(before, width, 2 * of[f"ratio.{count - number - 1}"]))
        layers[str(number)] = block(convtr=finer, stage=_stage(s, width, place(number + 1)))
        before = width
    head = block(conv=conv(before, of["channels"], of["kernel_size"]))
    return block("convolution", stem=stem, conv_layers=Block(layers), head=head)


def _stage(s: Spec, width: int, number: int) -> Repeat:
    wide, scale = s.traits["ffn_expansion"] * width, Tensor((width,))
    norm = rms_norm(width)
    network = block("mlp", linear1=Linear(width, wide, True), linear2=Linear(wide, width, True))
    layer = block(norm=norm, ffn_norm=norm, ffn=network, mixer=block(conv=conv(1, width, s.traits["kernel_size"])))
    return Repeat(Indices.below(s.traits[f"depth.{number}"]), altered(layer, gamma=scale, ffn_gamma=scale))
