"""Higgs Audio 2: Llama whose layers have a second network for audio tokens (https://huggingface.co/bosonai)."""

from hfcount import keys
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.parts import altered, base, embedding, gqa, pre_norm, rms_norm, swiglu
from hfcount.spec import Layer, Spec
from hfcount.tree.nodes import Block, Linear, block

MODEL_TYPES = ("higgs_audio_v2",)  # transformers 5.23: modeling_higgs_audio_v2.py
IGNORED = ("audio_stream_bos_id", "audio_stream_eos_id")


def spec(c: Config) -> Spec:
    layer = Layer(mixer=keys.attention(c, bias=c.bool("attention_bias")), ffn=keys.dense(c, bias=c.bool("mlp_bias")))
    traits = {
        "num_codebooks": keys.sized("n_q", c.int("num_codebooks", maximum=MAX_LAYERS)),
        "codebook_size": keys.sized("|V_a|", c.int("codebook_size")),
    }
    return keys.decoder_spec(c, layer, heads=("ForConditionalGeneration", "Model"), traits=traits).but(tied=False)


def blueprint(s: Spec) -> Block:
    d, rows = s.hidden, s.traits["num_codebooks"] * s.traits["codebook_size"]

    def layer(one: Layer) -> Block:
        network, norm = swiglu(d, one.dense.width, one.dense.bias), rms_norm(d)
        usual = pre_norm(d, self_attn=gqa(d, one.attention), mlp=network)
        heard = Block(network.children, repeats=0)  # a text token skips it
        more = {"audio_mlp": heard, "audio_input_layernorm": norm, "audio_post_attention_layernorm": norm}
        return Block({**usual.children, **more})

    body = altered(base(s, layer), embed_audio_tokens=block(embed_audio_tokens=embedding(rows, d)))
    return body if s.head == "base" else block(model=body, audio_lm_head=Linear(d, rows, component="lm_head"))
