"""RWKV-4: a recurrence in place of attention (arXiv:2305.13048)."""

from hfcount import keys
from hfcount.mapper import Config
from hfcount.spec import Dense, Layer, Spec
from hfcount.tree.block import Block, Linear, Tensor, block
from hfcount.tree.indices import Indices
from hfcount.tree.parts import embedding, layer_norm, lm_head, stack

MODEL_TYPES = ("rwkv",)


def spec(c: Config) -> Spec:
    hidden, count = c.int("hidden_size"), keys.layer_count(c)
    ffn = Dense(width=c.int("intermediate_size", default=4 * hidden))
    first, rest = Indices.upto(1), Indices.of(range(1, count))
    layers = keys.split(c, (first, lambda: Layer(ffn=ffn, extras={"first": 1})), (rest, lambda: Layer(ffn=ffn)))
    extras = {"attention_hidden_size": c.int("attention_hidden_size", default=hidden)}
    return keys.frame(c, layers, heads=("ForCausalLM", "Model"), extras=extras)


def blueprint(s: Spec) -> Block:
    d, inner = s.hidden, s.extras["attention_hidden_size"]
    mix = Tensor((1, 1, d))

    def layer(one: Layer) -> Block:
        width = one.dense.width
        attention = block(
            "linear_attention",
            time_decay=Tensor((inner,)),
            time_first=Tensor((inner,)),
            time_mix_key=mix,
            time_mix_value=mix,
            time_mix_receptance=mix,
            key=Linear(d, inner),
            value=Linear(d, inner),
            receptance=Linear(d, inner),
            output=Linear(inner, d),
        )
        feed_forward = block(
            "mlp",
            time_mix_key=mix,
            time_mix_receptance=mix,
            key=Linear(d, width),
            receptance=Linear(d, d),
            value=Linear(width, d),
        )
        return block(
            pre_ln=layer_norm(d) if one.extras.get("first") else None,
            ln1=layer_norm(d),
            attention=attention,
            ln2=layer_norm(d),
            feed_forward=feed_forward,
        )

    body = block(embeddings=embedding(s.vocab, d), blocks=stack(s.layers, layer), ln_out=layer_norm(d))
    return body if s.head == "base" else Block({"rwkv": body, "head": lm_head(s, "rwkv.embeddings.weight")})
