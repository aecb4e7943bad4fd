"""MiniCPM-V 2: MiniCPM with SigLIP's tower and a resampler (model card of openbmb/MiniCPM-V-2)."""

from hfcount import keys
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config
from hfcount.parts import decoder, gqa, rms_norm, swiglu
from hfcount.parts.composite import rebased
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Undescribed, block

MODEL_TYPES = ("minicpmv",)  # modeling_minicpmv.py of openbmb/MiniCPM-V-2
IGNORED = ("dim_model_base", "max_slice_nums", "mm_use_im_start_end", "scale_emb", "scale_resolution", "slice_mode")


def spec(c: Config) -> Spec:
    if c.sub("vision_config"):
        raise UnknownArchitecture(
            f"{c.where}: vision_config is given, and of the models of type minicpmv the second version is described,"
            " which has none."
        )
    bias = c.bool("attention_bias", default=False)
    layer = Layer(mixer=keys.attention(c, qkv_bias=bias, out_bias=bias, uneven="refused"), ffn=keys.dense(c))
    return keys.decoder_spec(c, layer, tied=True, heads=keys.named(MiniCPMV="causal_lm"))


def blueprint(s: Spec) -> Block:
    d = s.hidden

    def layer(one: Layer) -> Block:
        return block(
            self_attn=gqa(d, one.attention),
            mlp=swiglu(d, one.dense.width),
            input_layernorm=rms_norm(d),
            post_attention_layernorm=rms_norm(d),
        )

    why = "the vision tower of MiniCPM-V and its resampler are not described"
    return block(llm=rebased(decoder(s, layer), "llm"), vpm=Undescribed(why), resampler=Undescribed(why))
