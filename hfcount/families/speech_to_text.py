"""Speech2Text: convolutions over a spectrogram before a sequence-to-sequence transformer (arXiv:2010.05171)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.parts import embedding, layer_norm, lm_head, stack
from hfcount.parts.seq2seq import bart_layer
from hfcount.parts.temporal import conv
from hfcount.spec import Spec
from hfcount.tree.nodes import Block, block

MODEL_TYPES = ("speech_to_text",)  # transformers 5.23: modeling_speech_to_text.py
IGNORED = ("max_source_positions", "max_target_positions", "scale_embedding")


def spec(c: Config) -> Spec:
    kernels, count = c.ints("conv_kernel_sizes"), c.int("num_conv_layers")
    if len(kernels) != count:
        said = f"conv_kernel_sizes has {len(kernels):,} entries and num_conv_layers is {count:,}."
        raise c.error(said, "num_conv_layers", "Correct one of them.", expected=len(kernels), observed=int(count))
    traits = {
        "convolutions": len(kernels),
        "conv_channels": keys.sized("C", c.int("conv_channels")),
        "frame": c.int("input_feat_per_channel") * c.int("input_channels"),
        **{f"kernel.{number}": keys.sized(f"w{number + 1}", kernel) for number, kernel in enumerate(kernels)},
    }
    heads = ("ForConditionalGeneration", "Model")
    return keys.sequence_to_sequence(c, heads=heads, positions=None, traits=traits)


def blueprint(s: Spec) -> Block:
    d, of, before = s.hidden, s.traits, s.traits["frame"]
    convolutions = dict[str, Block]()
    for number in range(of["convolutions"]):
        width = of["conv_channels"] if number < of["convolutions"] - 1 else 2 * d
        convolutions[str(number)] = conv(before, width, of[f"kernel.{number}"])
        before = of["conv_channels"] // 2
    encoder = block(
        conv=block("embedding", conv_layers=Block(convolutions)),
        layers=stack(s.stack("encoder"), lambda one: bart_layer(d, one, False)),
        layer_norm=layer_norm(d),
    )
    layers = stack(s.layers, lambda one: bart_layer(d, one, True))
    decoder = block(embed_tokens=embedding(s.vocab, d), layers=layers, layer_norm=layer_norm(d))
    body = block(encoder=encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, lm_head=lm_head(s, "model.decoder.embed_tokens.weight"))
