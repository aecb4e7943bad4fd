"""RWKV-4: a recurrence in place of attention (arXiv:2305.13048)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, lm_head, stack
from hfcount.mapper import Config
from hfcount.spec import RWKV, Dense, Layer, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, Tensor, block

MODEL_TYPES = ("rwkv",)  # transformers 5.23: modeling_rwkv.py


def spec(c: Config) -> Spec:
    hidden, count = c.int("hidden_size"), keys.layer_count(c)
    mixer = RWKV(width=c.int("attention_hidden_size", default=hidden))
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("intermediate_size", default=4 * hidden)))
    first, rest = Indices.below(1), Indices.span(1, count)
    layers = keys.split((first, lambda: layer.replace(first=True)), (rest, lambda: layer))
    return keys.decoder_spec(c, layers, heads=("ForCausalLM", "Model"))


def blueprint(s: Spec) -> Block:
    d = s.hidden
    mix = Tensor((1, 1, d))

    def time_mix(m: RWKV) -> Block:
        return block(
            "linear_attention",
            time_decay=Tensor((m.width,)),
            time_first=Tensor((m.width,)),
            time_mix_key=mix,
            time_mix_value=mix,
            time_mix_receptance=mix,
            key=Linear(d, m.width),
            value=Linear(d, m.width),
            receptance=Linear(d, m.width),
            output=Linear(m.width, d),
        )

    def layer_block(layer: Layer) -> Block:
        width = layer.dense.width
        feed_forward = block(
            "mlp",
            time_mix_key=mix,
            time_mix_receptance=mix,
            key=Linear(d, width),
            receptance=Linear(d, d),
            value=Linear(width, d),
        )
        return block(
            pre_ln=layer_norm(d) if layer.first else None,
            ln1=layer_norm(d),
            attention=time_mix(layer.mixer) if isinstance(layer.mixer, RWKV) else None,
            ln2=layer_norm(d),
            feed_forward=feed_forward,
        )

    body = block(embeddings=embedding(s.vocab, d), blocks=stack(s.layers, layer_block), ln_out=layer_norm(d))
    return body if s.head == "base" else Block({"rwkv": body, "head": lm_head(s, "rwkv.embeddings.weight")})
