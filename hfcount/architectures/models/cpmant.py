"""CPM-Ant: a Chinese model with learned prompts and relative positions within and between segments."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, rms_norm, stack
from hfcount.architectures.layers.classic import headed
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import GQA, Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("cpmant",)  # transformers 5.23: modeling_cpmant.py
IGNORED = ("position_bias_max_distance",)


class Cpmant(Sizes):
    prompts: int
    segment_types: int = size("n_s", absent=32)
    buckets: int = size("b", "position_bias_num_buckets", absent=512)


def spec(c: Config) -> Spec[Cpmant]:
    heads = c.int("num_attention_heads")
    mixer = GQA(heads=heads, kv_heads=heads, head_dim=c.int("dim_head", default=128))
    prompts = keys.dim("n_p", c.int("prompt_types", default=32))
    length = keys.dim("t_p", c.int("prompt_length", default=32))
    sizes = Cpmant.read(c, prompts=prompts * length)
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("dim_ff", default=10240)))
    model = keys.decoder_spec(c, layer, heads=("ForCausalLM", "Model"))
    # The reference never ties them: the embedding also has the prompts.
    return model.replace(tied=False, uncounted="a prompt of its own stands before every text").having(sizes)


def blueprint(s: Spec[Cpmant]) -> Block:
    d, of = s.hidden, s.own

    def layer_block(layer: Layer) -> Block:
        a, width = layer.attention, layer.dense.width
        into, wide = Linear(d, a.heads * a.head_dim), Linear(d, width)
        out = Linear(a.heads * a.head_dim, d)
        attention = block("attention", project_q=into, project_k=into, project_v=into, attention_out=out)
        network = block("mlp", w_in=block(w_0=wide, w_1=wide), w_out=Linear(width, d))
        return block(
            self_att=block(layernorm_before_attention=rms_norm(d), self_attention=attention),
            ffn=block(layernorm_before_ffn=rms_norm(d), ffn=network),
        )

    segments, heads = of.segment_types, s.layers[0].layer.attention.heads
    body = block(
        input_embedding=embedding(s.vocab + of.prompts, d),
        segment_embedding=embedding(segments, d),
        position_bias=block("attention", relative_attention_bias=Tensor((segments * segments + of.buckets, heads))),
        encoder=block(layers=stack(s.layers, layer_block), output_layernorm=rms_norm(d)),
    )
    return headed(s, "cpmant", body, causal_lm=block(lm_head=Linear(d, s.vocab, component="lm_head")))
