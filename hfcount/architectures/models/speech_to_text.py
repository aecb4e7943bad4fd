"""Speech2Text: convolutions over a spectrogram before a sequence-to-sequence transformer (arXiv:2010.05171)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.layers.temporal import conv
from hfcount.mapper import Config, Sizes, derived, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, block

MODEL_TYPES = ("speech_to_text",)  # transformers 5.23: modeling_speech_to_text.py
IGNORED = ("max_source_positions", "max_target_positions", "scale_embedding")


class SpeechToText(Sizes):
    """Sizes specific to Speech2Text: convolutions of these kernels over frames of `frame` elements."""

    kernels: tuple[int, ...]
    conv_channels: int = size("C")
    frame: int = derived(lambda c: c.int("input_feat_per_channel") * c.int("input_channels"))


def spec(c: Config) -> Spec[SpeechToText]:
    kernels, count = c.ints("conv_kernel_sizes"), c.int("num_conv_layers")
    if len(kernels) != count:
        text = f"conv_kernel_sizes has {len(kernels):,} entries and num_conv_layers is {count:,}."
        raise c.error(
            "list-length", text, "num_conv_layers", "Correct one of them.", expected=len(kernels), observed=int(count)
        )
    sizes = SpeechToText.read(
        c, kernels=tuple(keys.dim(f"w{number}", kernel) for number, kernel in enumerate(kernels, 1))
    )
    heads = ("ForConditionalGeneration", "Model")
    return keys.sequence_to_sequence(c, heads=heads, positions=None).having(sizes)


def blueprint(s: Spec[SpeechToText]) -> Block:
    d, sizes, before = s.hidden, s.own, s.own.frame
    convolutions = dict[str, Block]()
    for number, kernel in enumerate(sizes.kernels, 1):
        width = sizes.conv_channels if number < len(sizes.kernels) else 2 * d
        convolutions[str(number - 1)] = conv(before, width, kernel)
        before = sizes.conv_channels // 2
    encoder = block(
        conv=block("embedding", conv_layers=Block(convolutions)),
        layers=stack(s.stack("encoder"), lambda layer: bart_layer(d, layer, False)),
        layer_norm=layer_norm(d),
    )
    layers = stack(s.layers, lambda layer: bart_layer(d, layer, True))
    decoder = block(embed_tokens=embedding(s.vocab, d), layers=layers, layer_norm=layer_norm(d))
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.decoder.embed_tokens.weight"))
