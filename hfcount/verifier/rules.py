"""Every rule a checkpoint can break or bend: its code, its name, what it says, why it happens, what to do.

The first digit is the stage: 0 documents, 1 config, 2 names, 3 shapes and dtypes, 4 totals, 5 storage. A name reads as
"allow <name>".
"""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "note"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `what` it reports, `why` that happens, what to `do`."""

    code: str
    name: str
    severity: Severity
    what: str
    why: str
    do: str


RULES = {
    rule.code: rule
    for rule in (
        Rule(
            "HF001",
            "malformed-document",
            "error",
            "config.json or the index is not the JSON it must be.",
            "An interrupted download, a merge by hand, an error page saved as a file, a value of the wrong type.",
            "Download or write the file again.",
        ),
        Rule(
            "HF002",
            "unsafe-shard-name",
            "error",
            "A value of weight_map is not a plain .safetensors file name inside the repo.",
            "A hostile or broken index: such a name could reach outside the folder. Nothing is requested for it.",
            "Write the index again with plain names.",
        ),
        Rule(
            "HF003",
            "invalid-header",
            "error",
            "A safetensors header breaks the format.",
            "A broken writer, a Git LFS pointer or an error page in place of the file.",
            "Write or download the shard again.",
        ),
        Rule(
            "HF004",
            "truncated-shard",
            "error",
            "A shard's size is not 8 + header + data.",
            "An interrupted upload or download.",
            "Upload or download the shard again.",
        ),
        Rule(
            "HF005",
            "missing-shard",
            "error",
            "The index names a file that is not there.",
            "A partial upload, or an index from another conversion.",
            "Upload the file, or write the index again.",
        ),
        Rule(
            "HF101",
            "missing-key",
            "error",
            "The architecture needs a key that config.json lacks.",
            "A config stripped by hand, or a new spelling of the key.",
            "Add the key.",
        ),
        Rule(
            "HF102",
            "unread-key",
            "note",
            "config.json has a key that may bear on shapes and that the architecture's family did not read.",
            "Mostly a leftover; sometimes a variant that hfcount does not know.",
            "If the key changes the model, the family has to read it.",
        ),
        Rule(
            "HF103",
            "inconsistent-config",
            "error",
            "Values of config.json contradict each other, or are out of range.",
            "A config edited by hand or taken from another model.",
            "Correct the value that is wrong.",
        ),
        Rule(
            "HF201",
            "missing-tensor",
            "error",
            "The config describes a tensor that the checkpoint lacks.",
            "A partial upload, a conversion that dropped it, or a config of another size.",
            "Compare the range that is missing with the config: one layer short mostly means a partial upload.",
        ),
        Rule(
            "HF202",
            "unexpected-tensor",
            "error",
            "The checkpoint has a tensor that the config does not describe.",
            "A config of another size or architecture, leftovers of training, or an unconverted layout.",
            "Correct the config, or drop the tensor from the checkpoint.",
        ),
        Rule(
            "HF203",
            "tied-weight-stored",
            "note",
            "A copy of a tied weight is stored.",
            "Writers that do not know the tie save the head beside the embedding it shares.",
            "Nothing: loaders take one. Saving again with transformers drops the copy.",
        ),
        Rule(
            "HF204",
            "buffer-stored",
            "note",
            "A buffer or another tensor that loaders skip is stored.",
            "transformers before 4.32 saved rotary frequencies, and some models their causal masks.",
            "Nothing: loaders skip it. Saving again with transformers drops it.",
        ),
        Rule(
            "HF205",
            "index-header-disagree",
            "error",
            "The index puts a tensor in a shard whose header lacks it, or a header holds one that the index omits.",
            "Shards or index taken from another conversion, or edited alone.",
            "Write the index again from the shards.",
        ),
        Rule(
            "HF206",
            "duplicate-tensor",
            "error",
            "One tensor is in two shards.",
            "Shards of two conversions in one repo.",
            "Delete the shards that are out of date.",
        ),
        Rule(
            "HF207",
            "auxiliary-absent",
            "note",
            "The config announces multi-token-prediction layers that are not stored.",
            "transformers drops them when a model is loaded and saved.",
            "Nothing, unless the checkpoint is meant for speculative decoding.",
        ),
        Rule(
            "HF208",
            "auxiliary-stored",
            "note",
            "Multi-token-prediction layers are stored beside the model.",
            "They are part of the release and no part of the model proper.",
            "Nothing: they are counted apart.",
        ),
        Rule(
            "HF209",
            "name-differs",
            "note",
            "All names of a part match but for a prefix or an old spelling that loaders accept.",
            "The checkpoint was saved from another class of the same architecture, or by an early version.",
            "Nothing, unless a loader of yours is strict about names.",
        ),
        Rule(
            "HF210",
            "other-head-stored",
            "note",
            "A head that `architectures` does not name is stored, or the named one is not.",
            "The weights were saved from another class than the config names.",
            "Name the class in `architectures` whose head is meant.",
        ),
        Rule(
            "HF301",
            "shape-differs",
            "error",
            "A stored shape is not the one that the config gives.",
            "A config of another size, a resized vocabulary, or weights saved in parts.",
            "Correct the config value that the message names, or convert again.",
        ),
        Rule(
            "HF302",
            "dtype-differs",
            "note",
            "Weights are stored in another dtype than the config declares.",
            "A conversion changed one and not the other.",
            "Set dtype in config.json to what is stored, if that is what is meant.",
        ),
        Rule(
            "HF401",
            "total-size-differs",
            "error",
            "metadata.total_size is not the bytes of the tensors that are listed.",
            "An index kept after its shards changed, a config of another size, or a sum of file sizes.",
            "Write the index again from the shards; if it is right, the config is wrong.",
        ),
        Rule(
            "HF402",
            "total-size-missing",
            "note",
            "The index has no metadata.total_size, or 0.",
            "Some writers leave it out.",
            "Write the index again with it.",
        ),
        Rule(
            "HF403",
            "total-parameters-differs",
            "note",
            "metadata.total_parameters is not the number of parameters.",
            "A tied head counted twice, or only what one rank held.",
            "Write the index again, or drop the number.",
        ),
        Rule(
            "HF501",
            "unmodelled-storage",
            "note",
            "The weights are quantised in a way that hfcount does not model: counted from the config, not verified.",
            "Packed tensors have other names, shapes and dtypes than the model's parameters.",
            "Verify the checkpoint it was made from.",
        ),
    )
}


def lookup(code_or_name: str) -> Rule | None:
    """The rule of that code or name."""
    code = code_or_name.upper()
    return RULES.get(code) or next((rule for rule in RULES.values() if rule.name == code_or_name.lower()), None)


@dataclass(frozen=True, slots=True)
class Policy:
    """How severe a finding is taken: codes in `allow` are notes, and with `strict` every note but HF102 is an error."""

    allow: frozenset[str] = frozenset()
    strict: bool = False

    def severity(self, rule: Rule) -> Severity:
        """error or note."""
        if rule.code in self.allow:
            return "note"
        return "error" if self.strict and rule.code != "HF102" else rule.severity
