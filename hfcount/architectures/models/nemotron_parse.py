"""Nemotron Parse: RADIO, a neck that joins places along a line, and mBART's decoder without positions (its card)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import backbones, embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.architectures.models.radio import Radio
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import MAX_LAYERS, Config, Sizes, count
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tensor, block

# model.py of NVIDIA-NeMo/Automodel, nemotron_parse.py of vllm-project/vllm 0.33
MODEL_TYPES = ("nemotron_parse",)
CLASSES = ("NemotronParseForConditionalGeneration",)
IGNORED = (
    "class_token_start_idx",
    "encoder_attention_heads",
    "encoder_ffn_dim",
    "encoder_layers",
    "image_size",
    "max_sequence_length",
    "scale_embedding",
    "vocab_size",
)

# Of the decoder, by its class.
_ABSENT = {
    "vocab_size": 250027,
    "d_model": 1024,
    "decoder_layers": 12,
    "decoder_attention_heads": 16,
    "decoder_ffn_dim": 4096,
}
_SEEN, _SUMMED, _NECK, _JOINED = 1280, 3840, 1024, 4  # of the neck, whatever the config says


class NemotronParse(Sizes):
    """Sizes specific to Nemotron Parse: pairs of projections that predict further tokens."""

    num_extra_heads: int = count("e", absent=0)


def spec(c: Config) -> Spec[NemotronParse]:
    encoder, inner = c.part("encoder"), c.part("decoder").assuming(_ABSENT)
    if not encoder.given("args"):
        text = "encoder has no args, and the sizes of its tower stand in another repository."
        raise UnknownArchitecture(f"{c.where}: {text}")
    vision = backbones.only(c, families.part(c, "encoder", "radio"), "radio")
    summed = vision.hidden * vision.sizes(Radio).summaries
    if (vision.hidden, summed) != (_SEEN, _SUMMED):
        text = (
            f"the neck reads {_SEEN:,} and {_SUMMED:,} elements, and the tower gives {vision.hidden:,} and {summed:,}."
        )
        c.cannot_run("contradiction", text, "encoder", "Correct the tower's args.")
    d = inner.int("d_model")
    if d != _NECK:
        text = f"d_model of decoder is {d:,}, and the neck gives {_NECK:,} elements."
        c.cannot_run("contradiction", text, "decoder", "Correct it.")
    mixer = keys.multi_head(inner, d, inner.int("decoder_attention_heads"), bias=True)
    ffn = Dense(width=inner.int("decoder_ffn_dim"), bias=True)
    layer = Layer(mixer=mixer, ffn=ffn, cross_attention=True)
    layers = keys.uniform(layer, inner.int("decoder_layers", maximum=MAX_LAYERS))
    rows, heads = inner.int("vocab_size"), ("ForConditionalGeneration",)
    model = keys.decoder_spec(
        inner, layers, whole=c, heads=heads, hidden=d, vocab=rows, uncounted=keys.ACROSS, parts={"vision": vision}
    )
    return model.replace(tied=keys.tied_anywhere(c, inner)).having(NemotronParse.read(c))


def blueprint(s: Spec[NemotronParse]) -> Block:
    d, pairs = s.hidden, s.own.num_extra_heads
    further = Repeat(Indices.below(pairs), Linear(d, d, True)) if pairs else None
    neck: dict[str, Node] = {
        "conv1": block(weight=Tensor((_NECK, _SEEN, 1)), bias=Tensor((_NECK,))),
        "layer_norm1": layer_norm(_NECK),
        "conv2": block(weight=Tensor((_NECK, _NECK, 1, _JOINED))),
        "layer_norm2": layer_norm(_NECK),
        "sum_proj": Linear(_SUMMED, _NECK, True),
        "layer_norm3": layer_norm(_NECK),
    }
    parts = {
        name: part.replace(component="projector") for name, part in neck.items() if isinstance(part, Block | Linear)
    }
    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        layers=stack(s.layers, lambda layer: bart_layer(d, layer, True)),
        layernorm_embedding=layer_norm(d),
        layer_norm=layer_norm(d),
        extra_heads=further,
        extra_proj=further,
    )
    return block(
        encoder=Block({"model_encoder": families.tower(s, "vision"), **parts}, repeats=0),
        decoder=decoder,
        lm_head=lm_head(s, "decoder.embed_tokens.weight"),
    )
