"""The rules for checkpoints: code, name, what a finding means, why it happens, what to do.

The first digit is the stage: 0 documents, 1 config, 2 names, 3 shapes and dtypes, 4 totals, 5 storage. Names are
phrased to follow --allow.
"""

from hfcount.verifier.file_rules import FILE_RULES
from hfcount.verifier.rule import Proof, Rule, Severity

__all__ = ["RULES", "Proof", "Rule", "Severity", "lookup"]

RULES = {
    rule.code: rule
    for rule in (
        *FILE_RULES,
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
            "{subject} does not read {observed:60}. If one of them changes the model, the count is off.",
            mends=False,
            neutral=True,
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
            "HF106",
            "default-taken",
            "note",
            "config.json lacks a key that the architecture needs, and the default of transformers was counted with.",
            "A config stripped by hand, or one that leaves out what agrees with the default.",
            "Write the keys into config.json: another reader, or a later version, may take another default.",
            "config.json lacks keys that {subject} needs; counted with the defaults of transformers {version}:"
            " {observed:60}.",
            neutral=True,
        ),
        Rule(
            "HF201",
            "missing-tensor",
            "error",
            "The config describes a tensor that the checkpoint lacks.",
            "A partial upload, which mostly leaves layers short, a conversion that dropped it, or a config of another"
            " size.",
            "Add what is missing, or correct the config.",
            "the checkpoint lacks {count:tensor} of the {expected:,} that {subject} describes: {tensors}.[untied?"
            " tie_word_embeddings was read as false; if the head shares the embedding, it should be true.]",
            mends=False,
        ),
        Rule(
            "HF202",
            "unexpected-tensor",
            "error",
            "The checkpoint has a tensor that the config does not describe.",
            "A config of another size or architecture, leftovers of training, or an unconverted layout.",
            "Correct the config, or drop what does not belong to the model.",
            "the checkpoint has {count:tensor} that {subject} does not describe: {tensors}.",
            mends=False,
        ),
        Rule(
            "HF203",
            "tied-weight-stored",
            "note",
            "A copy of a tied weight is stored.",
            "Writers that do not know the tie save the head beside the embedding it shares.",
            "Nothing: loaders take one. Saving again with transformers drops the copy.",
            "{count:tensor} of {parameters:element} in all, a copy of {expected}, which the config ties it to:"
            " {observed:120}. No parameters are counted for it.",
            mends=False,
        ),
        Rule(
            "HF204",
            "buffer-stored",
            "note",
            "A buffer or another tensor that loaders skip is stored.",
            "transformers before 4.32 saved rotary frequencies, and some models their causal masks.",
            "Nothing: loaders skip it. Saving again with transformers drops it.",
            "{count:tensor} of {parameters:element} in all, which loaders skip: {tensors:such}. No parameters are"
            " counted for it.",
            mends=False,
        ),
        Rule(
            "HF205",
            "index-header-disagree",
            "error",
            "The index puts a tensor in a shard whose header lacks it, or a header holds one that the index omits.",
            "Shards or index taken from another conversion, or edited alone.",
            "Write the index again from the shards.",
            "the index lists {observed:,} tensors and the headers hold {expected:,}:[; it puts {gone:tensor} where no"
            " header has them, such as {gone_name:120} in {gone_file}][; it puts {moved:tensor} in the wrong file,"
            " such as {moved_name:120} in {said}, which is in {found}][; it omits {omitted:tensor} that the headers"
            " have, such as {omitted_name:120} in {omitted_file}].",
        ),
        Rule(
            "HF206",
            "duplicate-tensor",
            "error",
            "One tensor is in two shards.",
            "Shards of two conversions in one repo.",
            "Delete the files that are out of date.",
            "{count:tensor} in two files, such as {name:120} in {one} and {other}.[ The index means the one in {meant},"
            " and what {left} {several:holds|hold} of them is left over.] Loaders that read every file take either.",
        ),
        Rule(
            "HF207",
            "auxiliary-absent",
            "note",
            "The config announces multi-token-prediction layers that are not stored.",
            "transformers drops them when a model is loaded and saved.",
            "Nothing, unless the checkpoint is meant for speculative decoding.",
            "the config announces multi-token-prediction layers, and none is stored: {tensors}. The model proper is"
            " complete without.",
            mends=False,
        ),
        Rule(
            "HF208",
            "auxiliary-stored",
            "note",
            "Multi-token-prediction layers are stored beside the model.",
            "They are part of the release and no part of the model proper.",
            "Nothing: they are counted apart.",
            "{count:tensor} of {parameters:element} belong to multi-token-prediction layers, stored beside the model:"
            " {tensors}. They are counted apart.",
            mends=False,
        ),
        Rule(
            "HF209",
            "name-differs",
            "note",
            "All names of a part match but for a prefix or an old spelling that loaders accept.",
            "The checkpoint was saved from another class of the same architecture, or by an early version.",
            "Nothing, unless a loader of yours is strict about names.",
            "{count:name} differ from what {subject} calls them in prefix or spelling alone, such as {observed:120}"
            " for {expected}. Loaders accept both.",
            mends=False,
        ),
        Rule(
            "HF210",
            "other-head-stored",
            "note",
            "A head that `architectures` does not name is stored, or the named one is not.",
            "The weights were saved from another class than the config names.",
            "Name the class whose head is meant.",
            "{tensors} is stored[ and {expected} is not], though architectures names {subject}.",
        ),
        Rule(
            "HF301",
            "shape-differs",
            "error",
            "A stored shape is not the one that the config gives.",
            "A config of another size, a resized vocabulary, or weights saved in parts.",
            "Correct the config, or convert again.",
            "{count:tensor} of another shape than {subject} gives, such as {tensors:such}: expected {expected:shape},"
            " stored {observed:shape}.[partitioned? A size of 0 is what one rank saves of weights that ZeRO-3 has"
            " partitioned.]",
            mends=False,
        ),
        Rule(
            "HF302",
            "dtype-differs",
            "note",
            "Weights are stored in another dtype than the config declares.",
            "A conversion changed one and not the other.",
            "Set dtype to what is stored, or convert them.",
            "the config declares {declared} ([{own:byte} an element), and total_size {claim:,} is exact at"
            " {width:byte} an element: either the weights are stored so, or the claim is stale, and only headers"
            " tell][{expected}), and {count:tensor} of {parameters:element} {count:is|are} stored"
            " as {dtypes}][, {times} the bytes][: {listed}].",
        ),
        Rule(
            "HF303",
            "dtype-class",
            "error",
            "A parameter is stored as integers or booleans and no scheme packs it, or indices as other numbers.",
            "Codes of a quantisation whose scales and config were lost, or a conversion that rounded them.",
            "Convert them again from the original.",
            "{count:tensor} of {parameters:element} {count:is|are} stored as {dtypes}, and {subject} has"
            " [floating?floating-point numbers there][whole?integers there]: {tensors}. Loaders convert them one by"
            " one, and the model computes with whatever that gives.",
        ),
        Rule(
            "HF304",
            "scales-unseen",
            "note",
            "Weights are stored in 8-bit floating point that the config does not declare, and without scales.",
            "Weights cast as they are, or quantised ones whose scales and config were lost: headers do not tell which.",
            "If they were quantised, restore the scales and quantization_config.",
            "{count:tensor} of {parameters:element} {count:is|are} stored as {dtypes}, no scales are stored beside, and"
            " the config announces no quantisation: {tensors}. Loaders take the numbers as they are, which is right"
            " only if nothing was divided by a scale.",
            proof="lost",
        ),
        Rule(
            "HF401",
            "total-size-differs",
            "error",
            "metadata.total_size is not the bytes of the tensors that are listed.",
            "An index kept after its shards changed, a config of another size, or a sum of file sizes.",
            "Write the index again from the shards.",
            "metadata.total_size is {observed:,} bytes, and the [{elements:,} elements listed have {expected:,} bytes"
            " at {width:byte} each][headers?tensors listed have {expected:,}]: [{more:,} more][{fewer:,} fewer] are"
            " claimed[elements?, and no other width accounts for them][files?, which is the sum of the file sizes,"
            " headers included][tied?, which leaves out the tied copy that is stored][, which is what {reading} would"
            " take: the weights were converted and the claim was not].[elements? Either the index is stale or the"
            " config is of another size.]",
        ),
        Rule(
            "HF402",
            "total-size-missing",
            "note",
            "The index has no metadata.total_size, or 0.",
            "Some writers leave it out.",
            "Write it again with total_size.",
            "the index gives [zero?0 for][absent?no] metadata.total_size, so it does not say how many bytes its"
            " tensors have.",
            proof="weakened",
        ),
        Rule(
            "HF403",
            "total-parameters-differs",
            "note",
            "metadata.total_parameters is not the number of parameters.",
            "A tied head counted twice, or only what one rank held.",
            "Write the index again, or drop the number.",
            "metadata.total_parameters is {observed:,}, and the model has {expected:,} parameters: [vectors?it counts"
            " vectors alone, which is what one rank sees of weights that ZeRO-3 has partitioned][both?it counts the"
            " tied head twice, and buffers][buffers?it counts buffers, too][tied?it counts the tied head"
            " twice][{more:,} more][{fewer:,} fewer].",
        ),
        Rule(
            "HF501",
            "unmodelled-storage",
            "note",
            "The weights are quantised in a way that hfcount does not model: counted from the config, not verified.",
            "Packed tensors have other names, shapes and dtypes than the model's parameters.",
            "Verify the checkpoint it was made from.",
            "the weights are quantised with {observed}, which is not modelled: the parameters are counted from the"
            " config, and the stored tensors are not held against it.",
            proof="lost",
        ),
    )
}


def lookup(code_or_name: str) -> Rule | None:
    """The rule of that code or name."""
    code = code_or_name.upper()
    return RULES.get(code) or next((rule for rule in RULES.values() if rule.name == code_or_name.lower()), None)
