"""OPT 125M to 175B, with a narrower embedding in the one that has 350M (arXiv:2205.01068)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import embedding, layer_norm, stack
from hfcount.architectures.layers.classic import fc, generative, mha, positions
from hfcount.mapper import Config, Sizes, flag
from hfcount.spec import Dense, Layer, Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("opt",)  # transformers 5.23: modeling_opt.py

_HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")


class Opt(Sizes):
    word_embed_proj_dim: int
    norms: bool = flag("layer_norm_elementwise_affine", absent=True)
    final_layer_norm: bool


def spec(c: Config) -> Spec[Opt]:
    d, bias = c.int("hidden_size"), c.bool("enable_bias", default=True)
    mixer = keys.multi_head(c, d, c.int("num_attention_heads"), bias=bias)
    before, dropped = c.bool("do_layer_norm_before", default=True), c.bool("_remove_final_layer_norm", default=False)
    sizes = Opt.read(
        c, word_embed_proj_dim=c.int("word_embed_proj_dim", default=d), final_layer_norm=before and not dropped
    )
    # The first two rows of the table of positions are reserved for padding.
    rows = c.int("max_position_embeddings") + 2
    layer = Layer(mixer=mixer, ffn=Dense(width=c.int("ffn_dim"), bias=bias))
    return keys.decoder_spec(c, layer, hidden=d, positions=rows, tied=True, heads=_HEADS).having(sizes)


def blueprint(s: Spec[Opt]) -> Block:
    d, width = s.hidden, s.own.word_embed_proj_dim
    norm = layer_norm(d) if s.own.norms else None

    def layer_block(layer: Layer) -> Block:
        return block(
            self_attn=mha(d, layer.attention),
            self_attn_layer_norm=norm,
            **fc(d, layer.dense.width, layer.dense.bias),
            final_layer_norm=norm,
        )

    body = block(
        embed_tokens=embedding(s.vocab, width),
        embed_positions=positions(s),
        project_out=None if width == d else Linear(d, width, component="embedding"),
        project_in=None if width == d else Linear(width, d, component="embedding"),
        final_layer_norm=norm if s.own.final_layer_norm else None,
        layers=stack(s.layers, layer_block),
    )
    return generative(s, "model", block(decoder=body), "decoder.embed_tokens", width=width)
