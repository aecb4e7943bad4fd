"""Repaired checkpoints, loaded by transformers: every weight is the one that was saved."""

from pathlib import Path

import pytest
from test_fix import CONFIG, FP8, INDEX, Spoil, content, each, fix, maps, prefixed, says

_EXTRA = "the oracle is not installed; `pip install -e '.[oracle]'` brings torch and transformers"
torch = pytest.importorskip("torch", reason=_EXTRA)
transformers = pytest.importorskip("transformers", reason=_EXTRA)

SIZES = {
    "vocab_size": 320,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
}

CASES: dict[str, Spoil] = {
    "sizes": says(vocab_size=300, num_key_value_heads=4),
    "layers": says(num_hidden_layers=5, layer_types=["full_attention"] * 5),
    "a head that is shared": says(tie_word_embeddings=True),
    "settings of a quantisation": says(quantization_config=FP8),
    "a prefix": prefixed("module._orig_mod."),
    "no index": content(INDEX, None),
    "an index of other files": maps(lambda names: names.update(dict.fromkeys(names, "a-1-of-9.safetensors"))),
    "a prefix, a size and no index": each(prefixed("model."), says(vocab_size=300), content(INDEX, None)),
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved") / "m"
    torch.manual_seed(0)
    model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**SIZES)).to(torch.bfloat16)
    model.save_pretrained(folder, max_shard_size="200KB")
    return folder


@pytest.mark.parametrize("spoil", CASES.values(), ids=CASES)
def test_it_loads_as_it_was(saved: Path, spoil: Spoil, tmp_path: Path) -> None:
    from shutil import copytree

    folder = copytree(saved, tmp_path / "m")
    spoil(folder)
    assert fix(folder, "--write") == 0
    assert (folder / CONFIG).read_bytes() == (saved / CONFIG).read_bytes()
    loaded, info = transformers.Qwen3ForCausalLM.from_pretrained(folder, output_loading_info=True, dtype="auto")
    assert not any(info.values())
    wanted = transformers.Qwen3ForCausalLM.from_pretrained(saved, dtype="auto").state_dict()
    assert {name: torch.equal(one, wanted[name]) for name, one in loaded.state_dict().items()} == dict.fromkeys(
        wanted, True
    )
