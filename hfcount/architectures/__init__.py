"""Describes the architectures; a file in models/ for each, made of shared layers and components.

Work here on an architecture.

A file has `MODEL_TYPES`, `spec(c)` (reads the config) and `blueprint(s)` (builds the tree of tensors). Sizes that only
this architecture has are fields of a class of `Sizes` in the same file, which both functions name: `Spec[Tandem]`. A
file may use the blueprint of one other file, its parent (`from hfcount.architectures.models.llama import blueprint as
blueprint`), and the classes of sizes of its parts. Optionally it has

- `IGNORED`: further keys that do not affect shapes, beyond those in hfcount/mapper/keys_without_shape.py;
- `CLASSES`: class names that transformers does not have, if configs with these classes have another architecture's
  model_type, or if the classes are not named after their own;
- `PREDICTORS`: class names under which engines build the layers that predict further tokens alone, without the model
  that they follow;
- `RETYPED`: by model_type, a key, its value (None: any) and the type of the architecture that a config with this key
  is read as: other code writes configs with the same model_type;
- `SPELLINGS`: other names that the reference loads, as regular expressions and their replacements. Two names are the
  same tensor if the rules, each applied once and in turn, map both to one name. A model around this one uses the rules
  too, except those with `^`, which match from the start of the full name;
- `HEADED`: by head, SPELLINGS that only classes with this head use, before the others;
- `WITHIN`: by model_type, the prefix of the model's names within a multimodal model, and the prefix that replaces it
  when the reference loads the model alone;
- `MERGED`: layouts that the reference converts: the end of one tensor's name, and the ends of the names of the tensors
  that may be stored instead (or the reverse): joined along their first dimension, and stacked where there is a `*`;
- `CONVERTED`: the types that these conversions apply to, if not to all;
- `TRANSPOSED`: ends of the names of tensors that the reference loads with their last two dimensions swapped;
- `ALLOTTED`: ends of the names of tensors that the reference joins along their first dimension, so that each may have
  any of the rows that they have together;
- `REPLACES_PLACEHOLDERS`: whether the reference replaces the id of an image, video or audio before it looks up the
  embedding, which then needs no row for it.

A part with its own type, such as a text or vision model, is described in the file of the whole model if both come from
one implementation and no other model uses the part. Its functions are named after it (`text_spec`, `text_blueprint`),
the docstring of its spec() is its summary, and `PARTS`, at the end of the file, has a `Family` for each part: its
types, both functions and, as keywords in lower case, the options above. A part that several models share has a file.

The comment on MODEL_TYPES cites the implementation that the names come from; its configuration file defines the
defaults of absent keys. A file is named after one of its model_types. A type is looked up in the file of its name,
then in files whose name it begins with, and then in all files.
"""
