"""π0: PaliGemma, and a smaller Gemma beside it that turns states and noise into actions (arXiv:2410.24164)."""

from hfcount.architectures import families, keys
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, block

MODEL_TYPES = ("pi0",)  # transformers 5.23: modeling_pi0.py
SPELLINGS = {
    r"^model\.": "",
    r"^(?=(?:state_proj|action_in_proj|action_time_mlp_(?:in|out))\.)": "embed_action_time.",
    r"^paligemma_with_expert\.paligemma\.model\.language_model\.model\.": "vlm.language_model.",
    r"^paligemma_with_expert\.paligemma\.model\.": "vlm.",
    r"^paligemma_with_expert\.gemma_expert\.lm_head\.": "dit.embed_tokens.",
    r"^paligemma_with_expert\.gemma_expert\.model\.": "dit.",
}


class Pi0(Sizes):
    max_state_dim: int = size("d_s")
    max_action_dim: int = size("d_a")


def spec(c: Config) -> Spec[Pi0]:
    sees, acts = families.part(c, "vlm_config", "paligemma"), families.part(c, "dit_config")
    sizes = Pi0.read(c)
    # Both have one vocabulary.
    parts = {"image": sees, "action": acts.replace(vocab=sees.vocab)}
    return (
        keys.decoder_spec(
            c.part("vlm_config"),
            sees.layers,
            whole=c,
            heads=("ForConditionalGeneration",),
            vocab=sees.vocab,
            hidden=sees.hidden,
            layer_count=sees.layer_count,
            parts=parts,
        )
        .replace(tied=False)
        .having(sizes)
    )


def blueprint(s: Spec[Pi0]) -> Block:
    acts, states, actions = s.part("action"), s.own.max_state_dim, s.own.max_action_dim
    w = acts.hidden
    expert = families.tree(acts.replace(head="base")).children
    body = Block({name: node for name, node in expert.items() if name != "embed_tokens"})
    both = block(
        paligemma=block(model=families.tree(s.part("image").replace(head="base"))),
        gemma_expert=Block({"lm_head": expert["embed_tokens"], "model": body}),
    )
    return block(
        paligemma_with_expert=both,
        state_proj=Linear(states, w, True, "projector"),
        action_in_proj=Linear(actions, w, True, "projector"),
        action_time_mlp_in=Linear(2 * w, w, True, "projector"),
        action_time_mlp_out=Linear(w, w, True, "projector"),
        action_out_proj=Linear(w, actions, True, "projector"),
    )
