"""The rules HF001 to HF010: documents, and which files are there."""

from hfcount.verifier.rule import Rule

FILE_RULES = (
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
        "A shard's size is not 8 + header + data; a note where another dtype would explain it.",
        "An interrupted upload or download.",
        "Upload or download it again.",
        "{file} has {observed:,} bytes and [should have {expected:,} (8 + {header:,} of header + {data:,} of"
        " data)][needs {expected:,} or more for the {listed:tensor} that the index puts there]: [{more:,} too"
        " many][{fewer:,} are missing][, and {past:tensor} {past:lies|lie} past the end: {tensors}][pointer?. A Git"
        " LFS pointer is as small][. That is {narrower} of their data: they may be stored in another dtype than the"
        " index counts with].",
    ),
    Rule(
        "HF005",
        "missing-shard",
        "error",
        "A file is not there that the index names, or that the numbers in the names of others count.",
        "A partial upload, or an index from another conversion.",
        "Upload or download what is missing.",
        "[the index names {listed:file}, and {absent:,} of them {absent:is|are} not there: {files}][{lost}"
        " {gone:is|are} not there, though the names of the others count {gone:it|them}][ ({numbers} of {of:,})][, with"
        " {within:tensor}][unindexed?, and there is no index: the save or the upload did not finish].[ Missing are"
        " {short:,} of the {all:tensor} that {subject} describes.][whole? {others} {held:holds|hold} every tensor that"
        " {subject} describes: the index belongs to another set of files.][ {others} {held:holds|hold} {some:,} of the"
        " {all:tensor} that {subject} describes.]",
    ),
    Rule(
        "HF006",
        "unlisted-weights",
        "error",
        "A weight file is there that the index does not name, and a loader takes it or the model needs it.",
        "Shards of an earlier save, or an index that was written from some of the files. A note where no loader"
        " takes the file.",
        "Move away what is left over.",
        "{files} {many:is|are} there[index? and the index does not name {many:it|them}][single? beside"
        " model.safetensors, which transformers reads alone], and {many:holds|hold}[ {needed:tensor} that {subject}"
        " describes and no other file has: {tensors}][ {copies:tensor} under names that the model has elsewhere:"
        " {tensors}][ {alien:tensor} that {subject} does not describe: {tensors}][ a header that cannot be read:"
        " {problem:200}].[lost? Loaders that follow the index lose them][predicting?, and with them the layers that"
        " predict further tokens (MTP)][lost?.][ {taken}.]",
    ),
    Rule(
        "HF007",
        "missing-index",
        "error",
        "There are several weight files, and no index says which tensor is where.",
        "An upload that left it out.",
        "Write the index from the files.",
        "{many:weight file} {many:is|are} there ({files}), and no model.safetensors.index.json says which tensor is"
        " where, so that transformers finds no weights.[complete? Only the index is missing: the files hold every"
        " tensor that {subject} describes.]",
    ),
    Rule(
        "HF008",
        "two-weight-sets",
        "error",
        "model.safetensors is there beside the files that the index names, and is not a copy of them.",
        "A checkpoint saved in one file over one saved in shards, or the other way round. A note where all that"
        " headers show is alike.",
        "Delete the set that is not meant.",
        "model.safetensors is there[beside? beside {listed:file} that the index names][among? as one of"
        " {listed:file} that the index names]: transformers reads it alone, and loaders that follow the index read"
        " theirs.[ Its header cannot be read: {problem:200}.][alike? Both hold the same names, shapes and dtypes;"
        " whether the values are the same, headers do not say.][same? Both hold the same names, shapes and dtypes, and"
        " begin with the same bytes where they were compared.][ Both hold the same names, shapes and dtypes, and not"
        " the same values: {values:120} differs.][ It lacks {lacking:tensor} of theirs, such as"
        " {lacking_name:120}.][ It has {beyond:tensor} that they lack, such as {beyond_name:120}.]["
        " {differing:tensor} {differing:differs|differ} in shape or dtype, such as {differing_name:120}.]",
    ),
    Rule(
        "HF009",
        "missing-module",
        "error",
        "modules.json names a module of sentence-transformers whose files are not there.",
        "An upload or a copy that left its folder out.",
        "Upload or download it.",
        "modules.json names {listed:module}, and {files} {many:is|are} not there: without {many:it|them} the"
        " embeddings are not those that the model was trained to give.",
    ),
    Rule(
        "HF010",
        "adapter-beside",
        "note",
        "An adapter lies beside the model.",
        "A checkpoint and its adapter in one folder, by design or left over from a merge.",
        "Keep it elsewhere, unless it is meant to be applied.",
        "{files} {many:is|are} there beside the model. Where PEFT is installed, transformers applies the adapter to"
        " what it loads: to these weights from a folder, and from a repo to the base model that"
        " adapter_config.json names. Only these weights were compared.",
    ),
)
