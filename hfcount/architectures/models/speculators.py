"""Drafts of a layer like their target's: one that predicts further tokens (MTP), and EAGLE's (arXiv:2401.15077)."""

from hfcount.architectures import families, keys
from hfcount.architectures.components.drafts import LAYER, SAID, Draft, Needs, series
from hfcount.architectures.layers import rms_norm
from hfcount.architectures.layers.stacks import altered
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, flag
from hfcount.spec import GQA, Layer, Layers, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Repeat, Tensor, block
from hfcount.text import printable

# core.py of vllm-project/speculators 0.9.0 (models/mtp); eagle.py of its 0.3.0
MODEL_TYPES = ("speculators_mtp", "speculators_eagle")
CLASSES = ("MTPDraftModel", "EagleSpeculator")
IGNORED = ("transformer_layer_architecture", "inputs", *SAID)

_NEAR = 10_000  # layers before the last: there are never so many
_MTP = ("qwen3", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")


class Speculators(Draft):
    layernorms: bool = flag(absent=False)
    fusion_bias: bool = flag(absent=False)

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=s.hidden, alike=s.family == "speculators_mtp")


def spec(c: Config) -> Spec[Speculators]:
    ahead = c.family == "speculators_mtp"
    text = families.part(c, LAYER)
    if ahead and text.family not in _MTP:
        message = f"{LAYER} is of type {printable(text.family, 60)}, and mtp has layers of {', '.join(_MTP)} alone."
        raise UnknownArchitecture(f"{c.where}: {message}")
    if ahead and (count := c.int("num_nextn_predict_layers", default=1)) != 1:
        message = f"num_nextn_predict_layers is {count:,}, and speculators builds one layer."
        raise c.error(
            "out-of-range", message, "num_nextn_predict_layers", "Correct it.", expected=1, observed=int(count)
        )
    layer = _attending(text) if ahead else text.layers[0].layer
    if layer is None:
        raise UnknownArchitecture(f"{c.where}: {LAYER}: {printable(text.family, 60)} has no layer of attention.")
    layers = Layers(indices=Indices.below(1), layer=layer)
    heads = keys.named(DraftModel="causal_lm", Speculator="causal_lm")
    part = text.replace(layers=(layers,), head="base")
    model = keys.decoder_spec(
        c.part(LAYER), [layers], whole=c, vocab=text.vocab, hidden=text.hidden, heads=heads, parts={"text": part}
    )
    return model.replace(tied=False, layer_count=1).having(Speculators.read(c))


def _attending(text: Spec) -> Layer | None:
    """The last layer of softmax attention, whose like predicts; None if there is none near the end."""
    full = [layer for layer in text.layers if isinstance(layer.layer.mixer, GQA)]
    last = int(text.depth) - 1
    for number in range(last, max(last - _NEAR, -1), -1):
        for part in full:
            if number in part.indices:
                return part.layer
    return None


def blueprint(s: Spec[Speculators]) -> Block:
    d, of = s.hidden, s.own
    (layer,) = series(families.base(s))
    words = block(
        embed_tokens=block("embedding", weight=Tensor((s.vocab, d), presence="spare")),
        lm_head=Linear(d, s.vocab, component="lm_head", presence="spare"),
    )
    if s.family == "speculators_mtp":
        predicting = altered(
            layer,
            hidden_layernorm=rms_norm(d),
            token_layernorm=rms_norm(d),
            input_proj=Linear(2 * d, d, component="projector"),
            final_layernorm=rms_norm(d),
        )
        head = Linear(d, s.vocab, component="lm_head", presence="spare")
        return altered(words, verifier_lm_head=head, mtp_layers=Repeat(Indices.below(1), predicting))
    norm = rms_norm(d) if of.layernorms else None
    return altered(
        words,
        embedding_layernorm=norm,
        fusion_fc=Linear(2 * d, d, of.fusion_bias, "projector"),
        transformer=layer if of.layernorms else altered(layer, input_layernorm=None),
        pre_lm_head_layernorm=norm,
    )
