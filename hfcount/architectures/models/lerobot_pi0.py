"""π0 and π0.5 as LeRobot has them: PaliGemma, and a smaller Gemma beside it that gives actions (arXiv:2410.24164)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import altered
from hfcount.mapper import Config, Sizes, size
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Repeat, Tied, block

# modeling_pi0.py of huggingface/lerobot, 0.4.4; modeling_pi05.py beside it, both with a branch of transformers 4.53
MODEL_TYPES = ("lerobot_pi0", "lerobot_pi05")
IGNORED = (
    "input_features", "output_features", "n_action_steps", "n_obs_steps", "empty_cameras", "rtc_config",
    "num_inference_steps", "time_sampling_beta_alpha", "time_sampling_beta_beta", "time_sampling_scale",
    "time_sampling_offset", "min_period", "max_period", "compile_model", "compile_mode",
    "freeze_vision_encoder", "train_expert_only", "tokenizer_max_length",
)  # fmt: skip
SPELLINGS = {r"^(?!model\.)": "model."}

_PROJECTED = 2048  # whatever the language model's width is
_NO_TOKENS = "it gives a chunk of actions at once, and no tokens"
_NORMS = ("input_layernorm", "post_attention_layernorm", "norm")


class Pi(Sizes):
    max_state_dim: int = size("d_s", absent=32)
    max_action_dim: int = size("d_a", absent=32)


def spec(c: Config) -> Spec[Pi]:
    text, acts = families.part(c, "text_config", "gemma"), families.part(c, "expert_config", "gemma")
    parts = {"vision": families.part(c, "vision_config", "siglip_vision_model"), "action": acts}
    sizes = Pi.read(c)
    model = keys.composite(c, text, parts, tied=True, heads=("ForConditionalGeneration",))
    return model.replace(tied=True, uncounted=_NO_TOKENS).having(sizes)


def blueprint(s: Spec[Pi]) -> Block:
    acts = s.part("action")
    w, steered = acts.hidden, s.family == "lerobot_pi05"
    body = altered(families.tree(acts.replace(head="base")), embed_tokens=None)
    both = block(
        paligemma=_paligemma(s),
        gemma_expert=block(model=_steered(body, w) if steered else body, lm_head=Linear(w, acts.vocab)),
    )
    inner, time = (1, "time_mlp") if steered else (2, "action_time_mlp")
    states = None if steered else Linear(s.own.max_state_dim, w, True, "projector")
    around = {f"{time}_in": Linear(inner * w, w, True, "projector"), f"{time}_out": Linear(w, w, True, "projector")}
    model = block(
        paligemma_with_expert=both,
        action_in_proj=Linear(s.own.max_action_dim, w, True, "projector"),
        action_out_proj=Linear(w, s.own.max_action_dim, True, "projector"),
        state_proj=states,
    )
    return block(model=Block({**model.children, **around}))


def _paligemma(s: Spec[Pi]) -> Block:
    """PaliGemma under the names of transformers 4.53."""
    tower = families.tower(s, "vision")
    vision_width = Linear(s.part("vision").hidden, _PROJECTED, True)
    # Of two names for one tensor, safetensors keeps the first by the alphabet.
    table = Tied("model.paligemma_with_expert.paligemma.lm_head.weight", (s.vocab, s.hidden))
    return block(
        model=block(
            vision_tower=tower.replace(children={"vision_model": Block(tower.children)}),
            multi_modal_projector=block("projector", linear=vision_width),
            language_model=altered(families.base(s), embed_tokens=table),
        ),
        lm_head=Linear(s.hidden, s.vocab, component="embedding"),
    )


def _steered(node: Block, w: int) -> Block:
    """A stack whose norms the time step scales, shifts and gates: dense (3·w, w) in place of a weight."""

    def conditioned(name: str, node: Node) -> Node:
        if name in _NORMS:
            return block("norm", dense=Linear(w, 3 * w, True))
        if isinstance(node, tuple):
            return tuple(conditioned(name, each) for each in node)
        if isinstance(node, Repeat):
            return Repeat(node.indices, conditioned(name, node.body), node.active)
        return _steered(node, w) if isinstance(node, Block) else node

    return Block(
        {name: conditioned(name, child) for name, child in node.children.items()}, node.component, node.repeats
    )
