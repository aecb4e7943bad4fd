"""The epilog of --help."""

from hfcount.cli.commands import overview

EPILOG = f"""
\b
Commands, each with a --help of its own:
{overview()}

\b
Examples:
  hfcount Qwen/Qwen3-32B                       a repo on the Hub
  hfcount Qwen/Qwen3-32B --revision refs/pr/1  a pull request of it
  hfcount https://hf.co/Qwen/Qwen3-32B         a page's address, as pasted
  hfcount ./my-checkpoint                      a local folder
  hfcount -r ./checkpoints                     every checkpoint in it
  hfcount --offline Qwen/Qwen3-32B             the Hugging Face cache alone
  hfcount --fixtures fixtures --all            every recorded checkpoint
  hfcount --depth config --formula ./my-model  count and explain, do not compare
  hfcount --json A B | jq .verdict             one object per model and line
  hfcount A B C --plot sizes.svg               compare models, and draw them
  hfcount A -o a.json -o a.sarif               several formats in one run
  hfcount A --set num_key_value_heads=1        what if?
  hfcount A --context 32k --batch 4            what serving it takes
  hfcount A B --memory 80GiB --tp 2,8          does it fit, and on how many?

\b
Exit codes: 0 verified, explained or allowed, 1 mismatch, 2 wrong usage, 3
unverified or could not look. What --memory and --tp ask counts too: 1 no, 3
unknown. The worst decides: 1, 3, 0.

\b
Shell completion: hfcount --install-completion, or without writing a file:
eval "$(_HFCOUNT_COMPLETE=bash_source hfcount)" in ~/.bashrc (zsh_source in
~/.zshrc; for fish, fish_source | source).
"""
