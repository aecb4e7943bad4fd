"""NLLB-MoE: M2M-100 with experts in every few layers (arXiv:2207.04672)."""

from hfcount.architectures import keys
from hfcount.architectures.layers import altered, layer_norm, mlp
from hfcount.architectures.layers.classic import mha
from hfcount.architectures.layers.seq2seq import bart, switched
from hfcount.mapper import MAX_LAYERS, Config, Sizes, flag
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
    model = keys.sequence_to_sequence(c, heads=_HEADS, positions=None)
    experts = c.int("num_experts", default=128, maximum=keys.MOST_EXPERTS)
    sizes = NllbMoe.read(c)

    def layers(side: str, given: tuple[Layers, ...]) -> tuple[Layers, ...]:
        layer, step = given[0].layer, c.int(f"{side}_sparse_step", default=4, minimum=0, maximum=MAX_LAYERS)
        count = keys.layer_count(c, f"{side}_layers")
        moe = MoE(experts=experts, active=min(2, experts), width=layer.dense.width, bias=True)
        sparse = Indices.span(step - 1, count, step) if step else Indices.below(0)
        rest = Indices.below(count).difference(sparse)
        return tuple(keys.split((rest, lambda: layer), (sparse, lambda: layer.replace(ffn=moe))))

    encoder = model.part("encoder")
    parts = {"encoder": encoder.replace(layers=layers("encoder", encoder.layers))}
    return model.replace(layers=layers("decoder", model.layers), parts=parts).having(sizes)


def blueprint(s: Spec[NllbMoe]) -> Block:
    d, norm = s.hidden, layer_norm(s.hidden)

    def network(layer: Layer) -> Block:
        if not isinstance(layer.ffn, MoE):
            return mlp(d, layer.dense.width)
        m = layer.moe
        gate = Linear(d, m.experts, s.own.router_bias, "router")
        return block(router=block(classifier=gate), experts=switched(d, m, "fc1", "fc2"))

    def layer_block(layer: Layer, crossed: bool) -> Block:
        return block(
            self_attn=mha(d, layer.attention),
            self_attn_layer_norm=norm,
            cross_attention=mha(d, layer.attention) if crossed else None,
            cross_attention_layer_norm=norm if crossed else None,
            ffn=network(layer),
            ff_layer_norm=norm,
        )

    # Positions are computed.
    body = bart(s, first_norm=False, last_norm=True, layer=layer_block, tables=block())
    return altered(body, final_logits_bias=None)
