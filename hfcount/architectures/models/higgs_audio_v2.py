"""Higgs Audio 2: Llama whose layers have a second network for audio tokens (https://huggingface.co/bosonai)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, base, embedding, gqa, pre_norm, rms_norm, swiglu
from hfcount.mapper import Config, Sizes, count, size
from hfcount.spec import Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("higgs_audio_v2",)  # transformers 5.23: modeling_higgs_audio_v2.py
IGNORED = ("audio_stream_bos_id", "audio_stream_eos_id")


class HiggsAudioV2(Sizes):
    num_codebooks: int = count("n_q")
    codebook_size: int = size("|V_a|")


def spec(c: Config) -> Spec[HiggsAudioV2]:
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    sizes = HiggsAudioV2.read(c)
    return keys.decoder_spec(c, layer, heads=("ForConditionalGeneration", "Model")).replace(tied=False).having(sizes)


def blueprint(s: Spec[HiggsAudioV2]) -> Block:
    d, rows = s.hidden, s.own.num_codebooks * s.own.codebook_size

    def layer_block(layer: Layer) -> Block:
        network, norm = swiglu(d, layer.dense.width, layer.dense.bias), rms_norm(d)
        usual = pre_norm(d, self_attn=gqa(d, layer.attention), mlp=network)
        heard = Block(network.children, repeats=0)  # a text token skips it
        more = {"audio_mlp": heard, "audio_input_layernorm": norm, "audio_post_attention_layernorm": norm}
        return Block({**usual.children, **more})

    body = altered(base(s, layer_block), embed_audio_tokens=block(embed_audio_tokens=embedding(rows, d)))
    return body if s.head == "base" else block(model=body, audio_lm_head=Linear(d, rows, component="lm_head"))
