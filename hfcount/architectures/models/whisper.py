"""Whisper: an encoder of spectrograms and a decoder of texts, keys without biases (arXiv:2212.04356)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.architectures.layers.classic import classifier, mha, positions
from hfcount.architectures.layers.seq2seq import bart_layer
from hfcount.mapper import Config, Sizes, flag, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("whisper",)  # transformers 5.23: modeling_whisper.py
IGNORED = ("mask_time_length", "mask_time_min_masks", "mask_feature_length", "median_filter_width")

_HEADS = keys.named(
    ("ForConditionalGeneration", "Model", "ForCausalLM"),
    Encoder="encoder",
    ForAudioClassification="sequence_classification",
)


class Whisper(Sizes):
    """What a classifier of recordings has; `summed` says whether it reads a weighted sum of all layers."""

    summed: bool = flag("use_weighted_layer_sum", absent=False)
    classifier_proj_size: int = size(absent=256)


def spec(c: Config) -> Spec[Whisper]:
    encoder = families.read(c.as_part(), "whisper_encoder")
    model = keys.sequence_to_sequence(c, heads=_HEADS, positions=c.int("max_target_positions"), encoder=encoder)
    alone = model.head in ("encoder", "sequence_classification")
    return (model.replace(causal=False, uncounted="") if alone else model).having(Whisper.read(c))


def blueprint(s: Spec[Whisper]) -> Block:
    d, encoder = s.hidden, families.tree(s.part("encoder"))

    def layer_block(layer: Layer) -> Block:
        attention = Block({**mha(d, layer.attention).children, "k_proj": Linear(d, d)}, "attention")
        return Block({**bart_layer(d, layer, True).children, "self_attn": attention, "encoder_attn": attention})

    decoder = block(
        embed_tokens=embedding(s.vocab, d),
        embed_positions=positions(s),
        layers=stack(s.layers, layer_block),
        layer_norm=layer_norm(d),
    )
    if s.head == "encoder":
        return encoder
    if s.head == "sequence_classification":
        wide, count = s.own.classifier_proj_size, sum(part.indices.count for part in s.stack("encoder"))
        weights = Tensor((count + 1,)) if s.own.summed else None
        projector = Linear(d, wide, True, "other")
        return block(layer_weights=weights, encoder=encoder, projector=projector, classifier=classifier(s, wide))
    body = block(encoder=None if s.head == "causal_lm" else encoder, decoder=decoder)
    return body if s.head == "base" else block(model=body, proj_out=lm_head(s, "model.decoder.embed_tokens.weight"))
