"""Rewrites adapter targets for the fused experts of transformers 5.23, as PEFT does.

Source: peft 0.21, utils/transformers_weight_conversion.py.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hfcount.checkpoints.adapter.modules import ModuleSet
from hfcount.checkpoints.adapter.settings import Settings
from hfcount.checkpoints.adapter.targets import ALL_LINEAR, Patterns, Refused, choose
from hfcount.mapper.loader_differences import NEWER
from hfcount.verifier.loaders.labels import PEFT


@dataclass(frozen=True, slots=True)
class Rewrite:
    """How PEFT rewrites the targets of a mixture whose experts transformers 5.23 joins.

    Args:
        names: the parameter in memory by the name of an expert's projection, or of the router.
        joined: the parameters that hold two projections, with these.
    """

    names: Mapping[str, str]
    joined: Mapping[str, tuple[str, ...]]


_MIXTRAL = Rewrite(
    {"gate": "gate.weight", "w1": "gate_up_proj", "w3": "gate_up_proj", "w2": "down_proj"},
    {"gate_up_proj": ("w1", "w3")},
)
_QWEN2 = Rewrite(
    {"gate": "gate.weight", "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "down_proj": "down_proj"},
    {"gate_up_proj": ("gate_proj", "up_proj")},
)
REWRITES: Mapping[str, Rewrite] = {
    **dict.fromkeys(("minimax", "minimax_m2", "mixtral"), _MIXTRAL),
    **dict.fromkeys(
        (
            "afmoe",
            "beam",
            "cohere2_moe",
            "deepseek_v2",
            "deepseek_v3",
            "deepseek_v32",
            "dots1",
            "ernie4_5_moe",
            "exaone_moe",
            "flex_olmo",
            "glm4_moe",
            "glm4_moe_lite",
            "glm4v_moe",
            "glm_moe_dsa",
            "hunyuan_v1_moe",
            "longcat_flash",
            "mellum",
            "olmoe",
            "qwen3_moe",
            "qwen3_next",
            "qwen3_omni_moe",
            "qwen3_omni_moe_text",
            "qwen3_omni_moe_thinker",
            "solar_open",
        ),
        _QWEN2,
    ),
}
"""By model_type; transformers 5.23, conversion_mapping.py: the types that it converts like Mixtral or Qwen2-MoE."""

CONVERTED = REWRITES.keys() | frozenset(
    """
    altclip aria aria_text audioflamingo3 axk1 axk2 aya_vision bailing_hybrid cohere_asr colqwen2 cosmos3_edge
    cosmos3_omni d_fine deepseek_ocr2 deepseek_v4 deformable_detr dinov3_convnext dinov3_vit
    dots3_note_audio_encoder dots3_note_vision_encoder emu3 ernie4_5_vl_moe esm flint fuyu gemma3 gemma3n_text
    gemma4_unified glm5_next glm5_next_text glmasr got_ocr2 gradium_phonon_tts granite_speech granite_speech_plus
    granitemoe granitemoehybrid granitemoeshared gte hrm_text hunyuan_vl hy_v3 hy_v4 hyperclovax_vision_v2 inkling2
    inkling2_text inkling_mm_model internvl jamba jev jina_embeddings_v3 kimi_k25 kimi_linear kolibri1 laguna
    lfm2_moe lfm3 lfm3_vl_vision llava llava_next llava_next_video llava_onevision lw_detr maskformer mimo_v2_flash
    minimax_m3_vl mistral3 mistral_large4 mistral_large4_text mlcd mllama molmo2 musicflamingo nemo_speechlm
    nemotron_h nomic_bert olmo_hybrid paddleocr_vl paligemma phimoe pi0 pixio pp_chart2table pp_doclayout_v2
    pp_doclayout_v3 pp_doclayout_v4 qianfan_ocr qwen2_5_omni_thinker qwen2_audio qwen2_moe qwen3_5_moe_text
    qwen3_5_text qwen3_vl_moe qwen4_exp_text radio rt_detr rt_detr_v2 sam3_tracker sam3_tracker_video sapiens2
    shieldgemma2 step3p5_vision step3p7 swin t5gemma2_encoder timesfm2_5 timm_wrapper tipsv2 tipsv2_dpt
    unlimited_ocr vibevoice_asr video_llava videomae vipllava voxtral voxtral_realtime yolos
    """.split()
)
"""The types whose weights transformers 5.23 converts by rules of their own: PEFT adds its prefix where it lacks."""


def rewritten(settings: Settings, rewrite: Rewrite, modules: Sequence[ModuleSet], patterns: Patterns) -> Settings:
    """The settings with projections of experts named as the parameters that hold them."""
    targets = settings.targets
    if isinstance(targets, str):
        targets = tuple(sorted(_spelled_out(settings, rewrite, modules, patterns)))
        if not targets:
            return settings
    kept, parameters, hit = [], dict.fromkeys(settings.parameters), set[str]()
    for target in targets or ():
        old = next((name for name in rewrite.names if target == name or target.endswith(f".{name}")), None)
        if old is None:
            kept.append(target)
        else:
            parameters[rewrite.names[old]] = None
            hit.add(old)
    ranks = dict(settings.ranks)
    for new, parts in rewrite.joined.items():
        missing = [part for part in parts if part not in hit]
        if missing and len(missing) < len(parts):
            there = next(part for part in parts if part in hit)
            raise Refused(
                f"target_modules names {there} of the experts but not {missing[0]}: {NEWER} holds both in {new}, and"
                f" {PEFT} refuses one without the other"
            )
        if not missing:
            ranks[rf".*\.{re.escape(new)}"] = settings.number("r", 8) * len(parts)
    return replace(settings, targets=tuple(kept), parameters=tuple(parameters), ranks=ranks)


def _spelled_out(settings: Settings, rewrite: Rewrite, modules: Sequence[ModuleSet], patterns: Patterns) -> set[str]:
    """The last names of what a regular expression or `all-linear` names, among them projections of experts."""
    names = {target.path.rpartition(".")[2] for target in choose(settings, modules, patterns).targets}
    if isinstance(settings.targets, str) and settings.targets.lower() == ALL_LINEAR:
        return names | rewrite.names.keys()
    pattern = str(settings.targets)
    for module in modules:
        first = next(module.paths(), "")
        olds = [old for old, new in rewrite.names.items() if new in module.tensors]
        for name in (*module.tensors, *olds):
            if patterns.matches(pattern, f"{first}.{name}", "target_modules"):
                names.add(name)
    return names
