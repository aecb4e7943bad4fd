"""GLiClass: an encoder reads labels beside the text that they are for, and scores each (arXiv:2508.07662)."""

from hfcount.architectures import families, keys
from hfcount.architectures.layers import embedding
from hfcount.architectures.layers.composite import as_tower
from hfcount.architectures.layers.temporal import lstm
from hfcount.errors import UnknownArchitecture
from hfcount.mapper import Config, Sizes, derived, flag
from hfcount.spec import Spec
from hfcount.spec.tree.nodes import Block, Linear, Node, Tensor, block

# gliclass/model.py, layers.py, scorers.py and config.py of Knowledgator/GLiClass 0.1.21
MODEL_TYPES = ("GLiClass",)
CLASSES = ("GLiClassModel",)
IGNORED = tuple(
    "calibrator_beta_max calibrator_dropout calibrator_hidden_size calibrator_use_bias"
    " class_token_pooling contrastive_loss_coef dropout embed_class_token encoder_layer_id encoder_model"
    " encoder_model_name extract_text_features focal_loss_alpha focal_loss_gamma"
    " focal_loss_reduction freeze_media_encoders label_model_config label_model_name layer_wise"
    " logit_scale_init_value max_labels_alloc max_num_classes multimodal normalize_features pooling_strategy"
    " projector_hidden_act prompt_first recurrent_bptt_steps recurrent_confidence_coef recurrent_confidence_margin"
    " recurrent_confidence_mode recurrent_halt_threshold recurrent_improvement_coef recurrent_improvement_margin"
    " recurrent_inference recurrent_inference_max_steps recurrent_min_steps recurrent_read_text recurrent_steps"
    " scorer_attn_dropout scorer_encoder_num_layers scorer_full_sequence scorer_mlp_hidden_size scorer_num_heads"
    " shuffle_labels use_embedding_projection".split()
)

_ENCODERS = ("deberta-v2", "modernbert", "bert", "roberta")
_SCORERS = ("simple", "weighted-dot", "mlp")
_WIDE, _SEGMENTS = 256, 3  # of the scorer's network, whatever scorer_mlp_hidden_size says, and of tokens


class Gliclass(Sizes):
    """`inner` is how wide the projectors are between their layers."""

    inner: int
    scorer: str
    recurrent: bool = flag("use_lstm", absent=False)
    squeezed: bool = flag("squeeze_layers", absent=False)
    segmented: bool = flag("use_segment_embeddings", absent=False)
    calibrated: bool = derived(lambda c: c.bool("use_calibrator", default=False))


def spec(c: Config) -> Spec[Gliclass]:
    named = keys.head_of(c, keys.named(("Model",)))[0]
    encoder = c.part("encoder_config")
    kind, form = encoder.str("model_type", default="deberta-v2"), c.str("architecture_type", default="uni-encoder")
    scorer = c.str("scorer_type", default="simple")
    if kind not in _ENCODERS or form != "uni-encoder" or scorer not in _SCORERS:
        message = f"GLiClass is described as a uni-encoder of type {', '.join(_ENCODERS)}, with a scorer of"
        raise UnknownArchitecture(f"{c.where}: {message} {', '.join(_SCORERS)}.")
    rows = c.int("vocab_size", default=None)
    resized = encoder.varied("", {"vocab_size": int(rows)}, "vocab_size") if rows else encoder
    model = families.read(resized, kind)
    sizes = Gliclass.read(c, inner=keys.dim("d_i", c.int("hidden_size", default=None) or model.hidden), scorer=scorer)
    if sizes.calibrated:
        raise UnknownArchitecture(f"{c.where}: GLiClass is described without a calibrator.")
    outer = model.replace(family=c.family, architecture=named, parts={"text": model.replace(head="base")})
    return outer.replace(heads=("base",), head="base", tied=False, dtype=c.dtype() or model.dtype).having(sizes)


def blueprint(s: Spec[Gliclass]) -> Block:
    d, of = s.hidden, s.own
    projector = as_tower(block(linear_1=Linear(d, of.inner, True), linear_2=Linear(of.inner, d, True)), "projector")
    squeeze: Node | None = None
    if of.squeezed:
        layers = s.depth
        half = layers // 2
        squeeze = block(
            "other",
            squeeze=Linear(d, 1, True),
            W1=Linear(layers, half, True),
            W2=Linear(half, layers, True),
            output_projection=Linear(d, d, True),
        )
    model = block(
        text_projector=projector,
        classes_projector=projector,
        scorer=_scorer(of.scorer, of.inner),
        lstm=block("other", lstm=lstm(of.inner, of.inner // 2, 1, both=True)) if of.recurrent else None,
        layer_wise_attention=squeeze,
        logit_scale=Tensor((), component="other"),
        encoder_model=families.base(s),
        segment_embeddings=embedding(_SEGMENTS, d) if of.segmented else None,
    )
    return block(model=model)


def _scorer(kind: str, d: int) -> Block | None:
    if kind == "weighted-dot":
        chain = Block({"0": Linear(3 * d, 4 * d, True), "3": Linear(4 * d, 1, True)})
        twice = Linear(d, 2 * d, True)
        return block("other", proj_text=twice, proj_label=twice, out_mlp=chain)
    if kind == "mlp":
        half = _WIDE // 2
        chain = Block({"0": Linear(2 * d, _WIDE, True), "2": Linear(_WIDE, half, True), "4": Linear(half, 1, True)})
        return block("other", mlp=chain)
    return None
