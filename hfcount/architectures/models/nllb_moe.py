"""NLLB-MoE: M2M-100 with experts in every few layers (arXiv:2207.04672)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, mlp
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.seq2seq import bart, switched
from hfcount.mapper import MAX_LAYERS, Config
from hfcount.mapper.sizes import Sizes, flag
from hfcount.spec import Layer, Layers, MoE, Spec
from hfcount.spec.tree.indices import Indices
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("nllb-moe",)  # transformers 5.23: modeling_nllb_moe.py
IGNORED = tuple(
    "expert_capacity router_ignore_padding_tokens normalize_router_prob_before_dropping batch_prioritized_routing"
    " moe_eval_capacity_token_fraction moe_token_dropout second_expert_policy router_z_loss_coef"
    " scale_embedding".split()
)

_HEADS = ("ForConditionalGeneration", "Model")


class NllbMoe(Sizes):
    router_bias: bool = flag(absent=False)


def spec(c: Config) -> Spec[NllbMoe]:
    whole = keys.sequence_to_sequence(c, heads=_HEADS, positions=None)
    experts = c.int("num_experts", default=128, maximum=keys.MOST_EXPERTS)
    own = NllbMoe.read(c)

    def layers(side: str, given: tuple[Layers, ...]) -> tuple[Layers, ...]:
        one, step = given[0].layer, c.int(f"{side}_sparse_step", default=4, minimum=0, maximum=MAX_LAYERS)
        count = keys.layer_count(c, f"{side}_layers")
        moe = MoE(experts=experts, active=min(2, experts), width=one.dense.width, bias=True)
        sparse = Indices.span(step - 1, count, step) if step else Indices.below(0)
        rest = Indices.below(count).difference(sparse)
        return tuple(keys.split((rest, lambda: one), (sparse, lambda: one.replace(ffn=moe))))

    encoder = whole.part("encoder")
    parts = {"encoder": encoder.replace(layers=layers("encoder", encoder.layers))}
    return whole.replace(layers=layers("decoder", whole.layers), parts=parts).having(own)


def blueprint(s: Spec[NllbMoe]) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden)

    def network(one: Layer) -> Block:
        if not isinstance(one.ffn, MoE):
            return mlp(d, one.dense.width)
        m = one.moe
        gate = Linear(d, m.experts, s.own.router_bias, "router")
        return block(router=block(classifier=gate), experts=switched(d, m, "fc1", "fc2"))

    def layer_block(one: Layer, crossed: bool) -> Block:
        return block(
            self_attn=mha(d, one.attention),
            self_attn_layer_norm=norm,
            cross_attention=mha(d, one.attention) if crossed else None,
            cross_attention_layer_norm=norm if crossed else None,
            ffn=network(one),
            ff_layer_norm=norm,
        )

    # Positions are computed.
    whole = bart(s, first_norm=False, last_norm=True, layer=layer_block, tables=block())
    return altered(whole, final_logits_bias=None)
