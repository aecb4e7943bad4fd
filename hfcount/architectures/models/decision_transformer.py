"""Decision Transformer: GPT-2 over returns, states and actions (arXiv:2106.01345)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import causal_mask, gpt_layer, positions
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("decision_transformer",)  # transformers 5.23: modeling_decision_transformer.py


class DecisionTransformer(Sizes):
    """Sizes specific to the decision transformer: the widths of states and actions, and the moments of an episode."""

    state_dim: int = size("d_s")
    act_dim: int = size("d_a")
    max_ep_len: int = size("n_t")


def spec(c: Config) -> Spec[DecisionTransformer]:
    d, rows = c.int("hidden_size"), c.int("n_positions", "max_position_embeddings")
    crossed = c.bool("add_cross_attention", default=False)
    layer = Layer(
        mixer=keys.multi_head(c, d, c.int("n_head", "num_attention_heads")),
        ffn=Dense(width=c.int("n_inner", default=4 * d), bias=True),
        cross_attention=crossed,
    )
    sizes = DecisionTransformer.read(c)
    layers, why = (
        keys.uniform(layer, keys.layer_count(c, "n_layer", "num_hidden_layers")),
        keys.ACROSS if crossed else "",
    )
    return keys.decoder_spec(c, layers, hidden=d, positions=rows, heads=("Model",), uncounted=why).having(sizes)


def blueprint(s: Spec[DecisionTransformer]) -> Block:
    d, of, norm = s.hidden, s.own, layer_norm(s.hidden)

    def layer_block(layer: Layer) -> Block:
        crossed = layer.cross_attention
        return gpt_layer(d, layer.dense.width, norm, causal_mask(s.positions or 0), crossed)

    encoder = block(wte=embedding(s.vocab, d), wpe=positions(s), h=stack(s.layers, layer_block), ln_f=norm)
    states, actions = of.state_dim, of.act_dim
    return block(
        encoder=encoder,
        embed_timestep=embedding(of.max_ep_len, d),
        embed_return=Linear(1, d, True, "embedding"),
        embed_state=Linear(states, d, True, "embedding"),
        embed_action=Linear(actions, d, True, "embedding"),
        embed_ln=norm,
        predict_state=Linear(d, states, True, "other"),
        predict_action=Block({"0": Linear(d, actions, True, "other")}),
        predict_return=Linear(d, 1, True, "other"),
    )
