"""ProphetNet: a decoder that predicts several tokens at once over a usual encoder (arXiv:2001.04063)."""

from typing import Literal

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, embedding, layer_norm, lm_head, mlp, stack
from hfcount.architectures.layers.classic import positions
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, Tied, block

MODEL_TYPES = ("prophetnet",)  # transformers 5.23: modeling_prophetnet.py
IGNORED = ("relative_max_distance", "disable_ngram_loss")

_HEADS = ("ForConditionalGeneration", "Model", "ForCausalLM")


class Prophetnet(Sizes):
    ngram: int = size("n_g", absent=2)
    num_buckets: int = size("b", absent=32)
    add_cross_attention: bool


def spec(c: Config) -> Spec[Prophetnet]:
    d, rows = c.int("hidden_size"), c.int("max_position_embeddings")

    alone = keys.head_of(c, keys.named(_HEADS))[1] == "causal_lm"

    def side(name: str) -> Layer:
        indivisible: Literal["run", "refused"] = "run" if alone and name == "encoder" else "refused"
        mixer = keys.multi_head(c, d, c.int(f"num_{name}_attention_heads"), indivisible=indivisible)
        return Layer(mixer=mixer, ffn=Dense(width=c.int(f"{name}_ffn_dim")))

    encoder = keys.uniform(side("encoder"), keys.layer_count(c, "num_encoder_layers"))
    decoder = keys.uniform(side("decoder"), keys.layer_count(c, "num_decoder_layers"))
    crossed = c.bool("add_cross_attention", default=True)
    sizes = Prophetnet.read(c, add_cross_attention=crossed)
    parts = {"encoder": Spec(family=c.family, hidden=d, layers=tuple(encoder), causal=False)}
    model = keys.decoder_spec(c, decoder, tied=True, heads=_HEADS, hidden=d, positions=rows, parts=parts)
    return model.replace(uncounted="each token is predicted by several streams, which is not described").having(sizes)


def blueprint(s: Spec[Prophetnet]) -> Block:
    d, norm, square, of = s.hidden, layer_norm(s.hidden), Linear(s.hidden, s.hidden, True), s.own
    attention = block("attention", **{f"{name}_proj": square for name in ("key", "value", "query", "out")})
    table = Tied(f"{'' if s.head == 'base' else 'prophetnet.'}word_embeddings.weight", (s.vocab, d))
    own_table = table if s.tied else embedding(s.vocab, d)

    def layer_block(layer: Layer, decoding: bool) -> Block:
        places = Linear(d, of.num_buckets * layer.attention.heads, True)
        across = decoding and of.add_cross_attention
        return block(
            self_attn=altered(attention, relative_pos_embeddings=places) if decoding else attention,
            self_attn_layer_norm=norm,
            cross_attn=attention if across else None,
            cross_attn_layer_norm=norm if across else None,
            feed_forward=mlp(d, layer.dense.width, up="intermediate", down="output"),
            feed_forward_layer_norm=norm,
        )

    common = block(word_embeddings=own_table, position_embeddings=positions(s), embeddings_layer_norm=norm)
    encoder = altered(common, layers=stack(s.stack("encoder"), lambda layer: layer_block(layer, False)))
    streams, layers = embedding(of.ngram, d), stack(s.layers, lambda layer: layer_block(layer, True))
    decoder = altered(common, ngram_embeddings=streams, layers=layers)
    optional = None if s.head == "causal_lm" else encoder
    body = block(word_embeddings=embedding(s.vocab, d), encoder=optional, decoder=decoder)
    words = lm_head(s, "prophetnet.word_embeddings.weight")
    return body if s.head == "base" else block(prophetnet=body, lm_head=words)
