"""The rules for checkpoints: code, name, what a finding means, why it happens, what to do.

The first digit is the stage: 0 documents, 1 config, 2 names, 3 shapes and dtypes, 4 totals, 5 storage, 6 serving. Names
are phrased to follow --allow.
"""

from hfcount.verifier.config_rules import CONFIG_RULES
from hfcount.verifier.file_rules import FILE_RULES
from hfcount.verifier.rule import Proof, Rule, Severity
from hfcount.verifier.sharing_rules import SHARING_RULES
from hfcount.verifier.storage_rules import STORAGE_RULES

__all__ = ["RULES", "Proof", "Rule", "Severity", "lookup"]

RULES = {
    rule.code: rule
    for rule in (
        *FILE_RULES,
        *CONFIG_RULES,
        Rule(
            "HF201",
            "missing-tensor",
            "error",
            "The config describes a tensor that the checkpoint lacks.",
            "A partial upload, which mostly leaves layers short, a conversion that dropped it, or a config of another"
            " size.",
            "Add what is missing, or correct the config.",
            "the checkpoint lacks {count:tensor} of the {expected:,} that {subject} describes: {tensors}.[untied?"
            " tie_word_embeddings was read as false; if the head shares the embedding, it should be true.][ {instead}"
            " stands in its place: name the class of that head in architectures, or save from {subject}.][begun?"
            " Loaders that predict with the layer fail, or take the rest at random.]",
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
            "{count:tensor} of {parameters:element} in all[alike?, a copy of {expected}, which the config ties it to:"
            " {observed:120}][unknown?, which the config ties to {expected}: {observed:120}]. No parameters are counted"
            " for it.[alike? Both begin and end with the same bytes. Strict loaders refuse it.][unknown? Whether it is"
            " a copy was not compared.]",
            mends=False,
        ),
        Rule(
            "HF204",
            "buffer-stored",
            "note",
            "A buffer or another tensor that loaders skip is stored.",
            "transformers before 4.32 saved rotary frequencies, and some models their causal masks.",
            "Nothing: loaders skip it. Saving again with transformers drops it.",
            "{count:tensor} of {parameters:element} in all, which loaders skip: {tensors}. No parameters are"
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
            "The config announces multi-token-prediction layers, or towers of a converted model, that are not stored.",
            "transformers drops such layers when it loads and saves a model; mlx-lm converts the language model alone.",
            "Announce none, or copy them from the base model.",
            "the config announces {announced}, and none is stored: {tensors}. {without}",
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
            "Names match but for a prefix or a spelling that transformers converts when it loads.",
            "The checkpoint was saved from another class of the same architecture, or by an early version.",
            "Rename them for loaders that do not convert names.",
            "{count:name} {count:differs|differ} from what {subject} has in prefix or spelling alone, such as"
            " {observed:120} for {expected}.[old? gamma and beta are early names of weight and bias.][foreign? Readers"
            " of this scheme may take one alone.][whole? transformers 5 takes both; earlier versions, vLLM, llama.cpp"
            " and others may not.][random? transformers 5 takes both; earlier versions look for the prefix on all names"
            " or on none and load the rest with random values, and vLLM, llama.cpp and others may not take them.]"
            "[refused? transformers 5 takes both; earlier versions refuse such names beside a head, and vLLM, llama.cpp"
            " and others may not take them.][ {within:60} is what {around} names its"
            " language model by: name that class in architectures, if it was meant.]",
            divides=True,
        ),
        Rule(
            "HF210",
            "other-head-stored",
            "note",
            "A head that `architectures` does not name is stored.",
            "The weights were saved from another class than the config names.",
            "Name the class whose head is meant.",
            "{tensors} {count:is|are} stored, though architectures names {subject}, which has no such head.",
        ),
        Rule(
            "HF211",
            "wrapped-names",
            "error",
            "Names carry what a training wrapper adds to them: torch.compile, DDP, FSDP, PEFT, TRL.",
            "The wrapper's state_dict was saved, and not that of the model within.",
            "Save the model within, with the call that the finding names.",
            "[{names:name} {names:carries|carry} {title}, such as {observed:120} for {expected}. ][{own:tensor}"
            " {own:is|are} {owner}'s own, such as {own_name:120}. ][flat?It holds all parameters of a module in one"
            " row. ][That is how {around} names its language model. ][alone?Nothing of the model itself"
            " is stored: this is an adapter. ]Loaders look for the names of {subject}.",
        ),
        Rule(
            "HF212",
            "layout-differs",
            "note",
            "Tensors are stored in a layout that transformers converts when it loads.",
            "transformers packs experts, some publishers transpose them, and of a tied pair some store only the head.",
            "Load and save again with transformers for loaders that do not convert it.",
            "[{count:tensor} of {parameters:element} {count:stands|stand} for {apart:tensor} of {subject}, such as"
            " {observed:120} for {expected}. transformers 5 converts one layout to the other when it loads; earlier"
            " versions, vLLM and others may know one alone.][{turned:tensor} of {parameters:element} {turned:has|have}"
            " the last two dimensions swapped, such as {tensors:such}: {observed:shape} for {expected:shape}."
            " transformers 5 takes either; others may know one alone.][{alone:120} is stored and {expected} is not,"
            " which the config ties to it. transformers 5 takes whichever is there; earlier"
            " versions, vLLM and others may look for {expected} alone.][ {rest:more tensor} {rest:is|are} stored so.]",
            divides=True,
        ),
        Rule(
            "HF213",
            "tied-weight-differs",
            "note",
            "A tied weight is stored beside the one that it is tied to, and is not a copy of it.",
            "tie_word_embeddings was set, or is true by default, over a model that was trained with a head of its own.",
            "Set tie_word_embeddings to false.",
            "{observed:120} is stored beside {expected}, which the config ties it to, and they differ:"
            " {parameters:element} in all. transformers 5 then does not tie them and loads both,[counted? as they are"
            " counted here,] and vLLM 0.33 takes such a head; earlier versions and others drop the one that is tied,"
            " and compute something else.",
            divides=True,
        ),
        Rule(
            "HF214",
            "untied-head-absent",
            "note",
            "The config says that the head is not tied, none is stored, and transformers ties it all the same.",
            "A T5 whose head was tied in training, or whose own head was lost: the names tell no difference.",
            "If the head was tied, set tie_word_embeddings to true; else restore it.",
            "{subject} has no {expected}, and tie_word_embeddings is false: a head of its own, of {parameters:element},"
            " is counted. transformers 5 ties it to the embedding whatever the config says; earlier versions fill it"
            " with noise.",
            proof="lost",
        ),
        Rule(
            "HF301",
            "shape-differs",
            "error",
            "A stored shape is not the one that the config gives.",
            "A config of another size, a resized vocabulary, or weights saved in parts.",
            "Correct the config, or convert again.",
            "{count:tensor} of another shape than {subject} gives, such as {tensors:such}: expected {expected:shape},"
            " stored {observed:shape}.",
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
            " [floating?floating-point numbers there][whole?integers there][{packing} there]: {tensors}. Loaders"
            " convert them one by one, and the model computes with whatever that gives.",
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
            "metadata.total_size is {observed:,} bytes, and the [scheme?packed and dense tensors listed have"
            " {expected:,}][{elements:,} elements listed have {expected:,} bytes at {width:byte} each][headers?tensors"
            " listed have {expected:,}]: [{more:,} more][{fewer:,} fewer] are claimed[elements?, and no other width"
            " accounts for them][files?, which is the sum of the file sizes, headers included][without?, which"
            " leaves out {without}][, which is what {reading} would"
            " take: the weights were converted and the claim was not].[elements? Either the index is stale or the"
            " config is of another size.][scheme? Either the index is stale, or they are packed otherwise than {scheme}"
            " says.]",
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
            " twice][{more:,} more][{fewer:,} fewer].[shown? The Hub shows it as the model's size.]",
        ),
        *STORAGE_RULES,
        *SHARING_RULES,
    )
}


def lookup(code_or_name: str) -> Rule | None:
    """The rule of that code or name."""
    code = code_or_name.upper()
    return RULES.get(code) or next((rule for rule in RULES.values() if rule.name == code_or_name.lower()), None)
