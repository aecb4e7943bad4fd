"""Muse Glimmer's assistant: layers that draft a block of tokens from what several layers of the model give."""

from hfcount.architectures import keys
from hfcount.architectures.components.drafts import Draft, Needs, numbers
from hfcount.architectures.layers import gqa, pre_norm, rms_norm, stack, swiglu
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("muse_glimmer_assistant",)  # transformers 5.23: modeling_muse_glimmer_assistant.py
CLASSES = ("DFlashMuseGlimmerAssistantModel",)
IGNORED = ("block_size",)


class MuseGlimmerAssistant(Draft):
    target_layer_ids: int
    layers: tuple[int, ...]

    def needs(self, s: Spec) -> Needs:
        """The requirements on its target."""
        return Needs(width=int(s.hidden), layers=self.layers, shared=())


def spec(c: Config) -> Spec[MuseGlimmerAssistant]:
    layer = Layer(mixer=keys.attention(c, qk_norm=True), ffn=keys.dense(c))
    # Without a list it reads five layers of the released model.
    listed = numbers(c, "target_layer_ids") if c.given("target_layer_ids") else None
    return keys.encoding(
        c,
        keys.uniform(layer, keys.layer_count(c)),
        hidden=c.int("hidden_size"),
        windows=keys.sliding_everywhere(c),
    ).having(
        MuseGlimmerAssistant.read(
            c, target_layer_ids=keys.dim("n_t", 5 if listed is None else len(listed)), layers=listed or ()
        )
    )


def blueprint(s: Spec[MuseGlimmerAssistant]) -> Block:
    d = s.hidden

    def layer_block(layer: Layer) -> Block:
        return pre_norm(d, self_attn=gqa(d, layer.attention), mlp=swiglu(d, layer.dense.width))

    context = block("projector", fc=Linear(s.own.target_layer_ids * d, d), output_norm_enc=rms_norm(d))
    return block(layers=stack(s.layers, layer_block), norm=rms_norm(d), encoder=context)
