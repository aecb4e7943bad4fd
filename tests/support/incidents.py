"""Faults that people met in public, each with its thread and a small checkpoint of the same shape."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from defects import (
    BIN_INDEX,
    CASES,
    HEAD,
    NORM,
    Checkpoint,
    boxed,
    in_blocks,
    predicted_words,
    predicting,
    renaming,
    seeing,
    sharded,
    single,
)
from defects import write as write_case
from valued import VALUED

VERIFY = "hfcount ./my-model"


class Incident(NamedTuple):
    """What was wrong in one public case.

    Args:
        thread: owner/name#number on GitHub.
        wrong: what was wrong, in one sentence.
        code: the finding that says so.
        make: a case of defects.py or valued.py, or a function that makes a checkpoint with the same fault.
        command: what shows it, with the checkpoint in ./my-model.
    """

    thread: str
    wrong: str
    code: str
    make: str | Callable[[], Checkpoint]
    command: str = VERIFY

    @property
    def url(self) -> str:
        """The address of the thread; GitHub leads from an issue's to a pull request's."""
        repository, _, number = self.thread.partition("#")
        return f"https://github.com/{repository}/issues/{number}"

    def write(self, folder: Path) -> None:
        """Makes the checkpoint."""
        if not isinstance(self.make, str):
            self.make().write(folder)
        elif self.make in CASES:
            write_case(self.make, folder)
        else:
            VALUED[self.make].write(folder)


def _reshaped(name: str, axis: int, extent: int) -> Callable[[Checkpoint], None]:
    """Tensors whose name contains this get another extent of an axis."""

    def spoil(checkpoint: Checkpoint) -> None:
        def edit(stored_name: str, dtype: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
            other = (*shape[:axis], extent, *shape[axis + 1 :])
            return dtype, other if name in stored_name else shape

        checkpoint.change(edit)

    return spoil


def _made(checkpoint: Checkpoint, *spoils: Callable[[Checkpoint], None]) -> Checkpoint:
    for spoil in spoils:
        spoil(checkpoint)
    return checkpoint


def index_of_another_sharding() -> Checkpoint:
    """Three whole shards, and an index that names five."""
    checkpoint = sharded()
    names = {name: f"model-0000{number % 5 + 1}-of-00005.safetensors" for number, name in enumerate(checkpoint.tensors)}
    checkpoint.weight_map = names
    return checkpoint


def file_that_the_index_omits() -> Checkpoint:
    """Prediction layers in a file of their own, of which the index says nothing."""
    checkpoint, whole = predicting(False), predicting(True)
    checkpoint.map()
    added = {name: entry for name, entry in whole.tensors.items() if name not in checkpoint.tensors}
    checkpoint.metadata["total_size"] = checkpoint.data
    checkpoint.shards["model-mtp.safetensors"] = added
    return checkpoint


def old_names_of_norms() -> Checkpoint:
    """A BERT whose norms have `gamma` and `beta`."""
    return _made(
        predicted_words(), renaming("LayerNorm.weight", "LayerNorm.gamma"), renaming("LayerNorm.bias", "LayerNorm.beta")
    )


def without_tower() -> Checkpoint:
    """A vision model of which the language model alone was stored."""
    checkpoint = seeing(False, False)
    checkpoint.change(lambda name, *entry: entry if "language_model" in name or name.startswith("lm_head") else None)
    return checkpoint


def flat_part_of_a_rank() -> Checkpoint:
    """The part of one rank under FSDP: matrices flat and cut, norms empty."""
    checkpoint = single()

    def edit(name: str, dtype: str, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        if name == NORM:
            return dtype, (0,)
        return dtype, (shape[0] * shape[-1] // 2,) if name.endswith("embed_tokens.weight") else shape

    checkpoint.change(edit)
    return checkpoint


def padded_vocabulary() -> Checkpoint:
    """50 words, padded to 128 rows."""
    return _made(sharded(), _reshaped("embed_tokens", 0, 128), _reshaped(HEAD, 0, 128))


def layers_of_other_widths() -> Checkpoint:
    """Feed-forward networks that were pruned to another width in each layer."""
    checkpoint = sharded()
    for layer, width in enumerate((16, 18, 14)):
        start = f"layers.{layer}.mlp."
        for name, axis in (("gate_proj", 0), ("up_proj", 0), ("down_proj", 1)):
            _reshaped(f"{start}{name}", axis, width)(checkpoint)
    return checkpoint


def fewer_experts() -> Checkpoint:
    """Experts and routers were cut from 8 to 6, and the config was not told."""
    checkpoint = sharded("qwen3_moe")
    cut = tuple(f".experts.{number}." for number in (6, 7))
    checkpoint.change(lambda name, *entry: None if any(part in name for part in cut) else entry)
    _reshaped("mlp.gate.weight", 0, 6)(checkpoint)
    return checkpoint


def router_of_all_experts() -> Checkpoint:
    """6 experts, as the config says, and routers with rows for 8."""
    return _made(sharded("qwen3_moe", num_experts=6), _reshaped("mlp.gate.weight", 0, 8))


def config_of_another_size() -> Checkpoint:
    """The config of a smaller model of the family."""
    checkpoint = sharded()
    checkpoint.config |= {"hidden_size": 8, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    return checkpoint


def missing_pickled_shard() -> Checkpoint:
    """Two .bin files by their index, the second of which is not there."""
    checkpoint = single()
    files = [f"pytorch_model-0000{number}-of-00002.bin" for number in (1, 2)]
    places = {name: files[number > 4] for number, name in enumerate(checkpoint.tensors)}
    kept = {name: entry for name, entry in checkpoint.tensors.items() if places[name] == files[0]}
    index = {"metadata": {"total_size": checkpoint.data}, "weight_map": places}
    others = {files[0]: boxed(kept), BIN_INDEX: json.dumps(index).encode()}
    return Checkpoint(checkpoint.config, weight_map={}, others=others)


def half_scaled() -> Checkpoint:
    """FP8 in blocks; the scales of the gates of all layers are lost."""
    checkpoint = _made(sharded(), in_blocks)
    checkpoint.change(lambda name, *entry: None if name.endswith("gate_proj.weight_scale_inv") else entry)
    return checkpoint


def odd_heads() -> Checkpoint:
    """Heads that two GPUs cannot share."""
    return sharded(num_attention_heads=3, num_key_value_heads=3)


INCIDENTS: dict[str, tuple[Incident, ...]] = {
    "Files": (
        Incident(
            "microsoft/OmniParser#34",
            "A clone without Git LFS left pointers in the place of weights; safetensors said HeaderTooLarge.",
            "HF003",
            "Git LFS pointer",
        ),
        Incident(
            "unslothai/unsloth#2355",
            "`push_to_hub_merged` uploaded every shard, and not their index.",
            "HF007",
            "several files without an index",
        ),
        Incident(
            "Blaizzy/mlx-vlm#638",
            "A conversion kept the index of its source, which names files that the result does not have.",
            "HF005",
            index_of_another_sharding,
        ),
        Incident(
            "osaurus-ai/vmlx-swift#388",
            "An index was written again from numbered files alone, and lost the file with the prediction layers.",
            "HF006",
            file_that_the_index_omits,
        ),
        Incident(
            "pytorch/torchtitan#3764",
            "A writer followed the index of the source, and left an empty entry for a head that is tied.",
            "HF003",
            "a placeholder for the tied head",
        ),
        Incident(
            "JustVugg/colibri#1479",
            "Tensors of a later file also lay in earlier ones, and which of them count was not said.",
            "HF206",
            "a tensor in two files",
        ),
        Incident(
            "sgl-project/sglang#32279",
            "A download had ended early; SGLang loaded the shards that were there, and left the rest uninitialised.",
            "HF005",
            "a shard is missing",
        ),
        Incident(
            "vllm-project/vllm-omni#6234",
            "Old shards that the index does not name were loaded over those that it names.",
            "HF006",
            "two sets of shards",
        ),
        Incident(
            "mlcommons/inference#1674",
            "The index of .bin files names a file that was not there.",
            "HF005",
            missing_pickled_shard,
        ),
        Incident(
            "hzlsaber/SIDA#23",
            "A .bin file was cut, and torch found no central directory.",
            "HF004",
            "a pickled file that is cut off",
        ),
    ),
    "Names": (
        Incident(
            "huggingface/accelerate#438",
            "The state dict was that of DistributedDataParallel, so that each name began with `module.`.",
            "HF211",
            "saved from DDP",
        ),
        Incident(
            "huggingface/peft#1453",
            "The model was saved with its adapter around it, not merged.",
            "HF211",
            "an adapter alone",
        ),
        Incident(
            "ggml-org/llama.cpp#7924",
            "Norms have `gamma` and `beta`, which transformers reads and the converter did not.",
            "HF209",
            old_names_of_norms,
        ),
        Incident(
            "ml-explore/mlx-lm#722",
            "A head is stored although the config ties it, and a strict loader refused it.",
            "HF203",
            "tied, and a copy of the head",
        ),
        Incident(
            "JustVugg/colibri#1476",
            "A conversion lost whole layers and the last norm.",
            "HF201",
            "a layer within is missing",
        ),
        Incident(
            "modelscope/ms-swift#7848",
            "The config announces a prediction layer that the fine-tune did not store.",
            "HF207",
            "prediction layers that are announced",
        ),
        Incident(
            "vllm-project/vllm-ascend#15531",
            "A prediction layer was stored in part.",
            "HF201",
            "half of a prediction layer",
        ),
        Incident(
            "Blaizzy/mlx-vlm#1958",
            "The weights are the language model's alone, and the config still announces a vision tower.",
            "HF201",
            without_tower,
        ),
    ),
    "Shapes, dtypes and sizes": (
        Incident(
            "huggingface/transformers#34080",
            "One rank saved its own part under FSDP: flat and cut matrices, empty norms.",
            "HF301",
            flat_part_of_a_rank,
        ),
        Incident(
            "safetensors/safetensors#498",
            "Tensors were empty, because ZeRO-3 had not gathered them before they were saved.",
            "HF301",
            "empty, as ZeRO-3 leaves them",
        ),
        Incident(
            "YangRui2015/RiC#19",
            "Tokens were added and the embedding grew, and `vocab_size` stayed.",
            "HF301",
            "rows of the vocabulary",
        ),
        Incident(
            "NVIDIA-NeMo/Megatron-Bridge#625",
            "The vocabulary was padded to a multiple of 128 in the weights, and not in the config.",
            "HF301",
            padded_vocabulary,
        ),
        Incident(
            "VainF/Torch-Pruning#436",
            "The width was pruned and the heads kept, and the config does not say their width.",
            "HF301",
            "head width",
        ),
        Incident(
            "CASIA-LMC-Lab/FLAP#7",
            "Each layer was pruned to another width, which one `intermediate_size` cannot say.",
            "HF301",
            layers_of_other_widths,
        ),
        Incident(
            "vllm-project/llm-compressor#2703",
            "Experts were pruned, and `num_experts` stayed.",
            "HF201",
            fewer_experts,
        ),
        Incident(
            "vllm-project/llm-compressor#2864",
            "Experts were pruned, and the router still has a row for each of the old ones.",
            "HF301",
            router_of_all_experts,
        ),
        Incident(
            "NVIDIA-NeMo/Megatron-Bridge#4676",
            "The config of another size of the family was uploaded.",
            "HF202",
            config_of_another_size,
        ),
        Incident(
            "intel/auto-round#2385",
            "The config says bfloat16, and all weights are stored in float32, twice the size.",
            "HF302",
            "all in float32",
        ),
        Incident(
            "huggingface/huggingface_hub#4221",
            "`total_parameters` counts vectors alone, as one rank sees a model under ZeRO-3.",
            "HF403",
            "total_parameters counts vectors alone",
        ),
    ),
    "Quantised weights": (
        Incident(
            "sgl-project/sglang#23841",
            "Weights were cast to bfloat16, and `quantization_config` stayed.",
            "HF504",
            "FP8 that is announced, and all is dense",
        ),
        Incident(
            "unslothai/unsloth#6200",
            "Scales of one kind of module are missing, and the model writes noise.",
            "HF503",
            half_scaled,
        ),
        Incident(
            "sgl-project/sglang#36158",
            "A module is stored dense, and the list of modules that stay dense does not name it.",
            "HF502",
            "FP8 in blocks, and a module is dense",
        ),
        Incident(
            "vllm-project/llm-compressor#967",
            "Scales of a KV cache are stored, and a loader had no place for them.",
            "HF502",
            "scales of a cache",
        ),
    ),
    "Values": (
        Incident(
            "ICTMCG/Make-Your-Anchor#9",
            "Published weights hold NaN, and every picture was black.",
            "HF901",
            "one value that is not a number",
            f"{VERIFY} --depth data",
        ),
        Incident(
            "NikoNairre/CT-CIG#3",
            "Whole tensors of published weights are NaN.",
            "HF901",
            "every value of a norm is NaN",
            f"{VERIFY} --depth data",
        ),
    ),
    "Adapters": (
        Incident(
            "vllm-project/vllm#7441",
            "An adapter holds a classifier's head, which vLLM refused as no LoRA weight.",
            "HF730",
            "an adapter with a head",
        ),
        Incident(
            "hiyouga/LlamaFactory#3125",
            "An adapter holds an embedding with other rows than its base, and PEFT did not merge it.",
            "HF729",
            "an adapter with more tokens",
        ),
    ),
    "Pipelines, GGUF files, tokenizers and GPUs": (
        Incident(
            "wangyuxinwhy/uniem#130",
            "modules.json names a Dense module whose folder is missing.",
            "HF009",
            "a module of sentence-transformers without its folder",
        ),
        Incident(
            "huggingface/transformers#42544",
            "One part of a pipeline is stored as .bin alone.",
            "HF819",
            "one part pickled",
        ),
        Incident(
            "huggingface/diffusers#7611",
            "The text encoder has another width than the U-Net reads.",
            "HF814",
            "an encoder of another width",
        ),
        Incident(
            "moly-ai/moly-ai#328",
            "A GGUF file was cut by a download that had ended early.",
            "HF004",
            "a GGUF file that is cut",
        ),
        Incident(
            "LostRuins/koboldcpp#1662",
            "The projector was made for a model of another width.",
            "HF712",
            "a GGUF projector of another model",
        ),
        Incident(
            "OpenNMT/CTranslate2#1618",
            "A pad token was added, and the embedding has no row for it.",
            "HF105",
            "padding without a row",
        ),
        Incident(
            "vllm-project/vllm#414",
            "The heads cannot be split over the GPUs of a server.",
            "HF601",
            odd_heads,
            f"{VERIFY} --tp 2",
        ),
    ),
}
"""By what is wrong. A sentence says what the thread says, and the checkpoints are made for this table."""
