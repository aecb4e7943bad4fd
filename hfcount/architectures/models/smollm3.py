"""SmolLM3: some layers without positions, embedding and head tied (https://huggingface.co/HuggingFaceTB/SmolLM3-3B)."""

from hfcount.architectures import keys
from hfcount.architectures.models.llama import blueprint as blueprint
from hfcount.mapper import Config
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.indices import Indices

MODEL_TYPES = ("smollm3",)  # transformers 5.23: modeling_smollm3.py
IGNORED = ("no_rope_layer_interval", "no_rope_layers")


def spec(c: Config) -> Spec:
    mixer = keys.attention(c, bias=c.bool("attention_bias", default=False))
    marked, count = c.ints("no_rope_layers"), keys.layer_count(c)
    if marked and len(marked) < count:  # each layer looks up its own
        text = f"no_rope_layers has {len(marked):,} entries, and there are {count:,} layers."
        raise c.error(
            "list-length", text, "no_rope_layers", "Correct one of them.", expected=int(count), observed=len(marked)
        )

    def unplaced() -> Indices:
        """The layers without rotary positions: those that no_rope_layers marks with a 0."""
        if marks := c.ints("no_rope_layers"):
            return keys.listing(c, "no_rope_layers", marks, 0, 1)[0]
        return keys.every_nth(c, "no_rope_layer_interval", default=4)

    layer = Layer(mixer=mixer, ffn=keys.dense(c, bias=c.bool("mlp_bias", default=False)))
    windows = keys.sliding(c, unplaced if c.bool("use_sliding_window", default=False) else None)
    return keys.decoder_spec(c, layer, tied=True, windows=windows)
