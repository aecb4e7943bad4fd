"""The rules of HF1xx: what config.json says."""

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
        "HF110",
        "value-refused",
        "error",
        "transformers refuses a value of config.json: another type, out of range, or a word that it does not know.",
        "A config edited by hand, or written by a tool or a version that did not check it.",
        "Write a value that the key may have.",
    ),
    Rule(
        "HF111",
        "number-not-json",
        "note",
        "config.json holds NaN or Infinity, which are no numbers of JSON.",
        "Python writes them so; transformers before 5 wrote a config with them as they were.",
        'Write {"__float__": "Infinity"} in its place, as transformers 5 does.',
        "{key:60} is {observed}: Python reads that, and strict readers of JSON refuse the whole file.",
        neutral=True,
    ),
)
