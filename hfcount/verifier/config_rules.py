"""The rules HF101 to HF109: what config.json says."""

from hfcount.verifier.rule import Rule

CONFIG_RULES = (
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
        "config.json has a key that may bear on shapes, which neither the family reads nor the type's class declares.",
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
        "HF104",
        "id-beyond-vocabulary",
        "error",
        "A token id of config.json has no row in the embedding; an error where it is sure to be looked up.",
        "Tokens were added and the embedding was not resized, or the config is of another tokenizer.",
        "Correct the id, or resize the embedding and set vocab_size.",
        "{ids}, and {table} has {rows:row}: an input with such a token fails when the model runs.",
    ),
    Rule(
        "HF105",
        "token-beyond-embedding",
        "error",
        "The tokenizer has an id that the embedding has no row for; of padding and placeholders, a note.",
        "Tokens were added to the tokenizer, and the embedding was not resized.",
        "Resize the embedding (model.resize_token_embeddings) and save again, or drop the token.",
        "{file} gives {token:60} the id {observed:,}[ and {more:more token} such an id], and {table} has the rows 0"
        " to {last:,}: an input with such a token fails when the model runs.",
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
        "HF107",
        "class-of-another-type",
        "error",
        "`architectures` names a class of another model_type, with other tensors; with the same ones, it is a note.",
        "A config edited by hand, or put together of two models'.",
        "Name the class that the weights are of in architectures, or its model_type.",
    ),
    Rule(
        "HF108",
        "no-model-type",
        "error",
        "config.json has no model_type; a note where the repo's own code reads it all the same.",
        "A config written by hand, or by another library.",
        "Add it.",
    ),
    Rule(
        "HF109",
        "unknown-class",
        "note",
        "The config names a class that is not described here, or code of the repo's own that may build another model.",
        "A model with code of its own under a known model_type, a draft model, or a name with a typing error.",
        "If the weights are of a known class, name that in architectures.",
        proof="lost",
    ),
)
