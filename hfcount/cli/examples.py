"""The epilog of --help."""

from hfcount.cli.commands import overview

EPILOG = f"""
\b
Commands (hfcount COMMAND --help shows their options):
{overview()}

\b
Examples:
  hfcount Qwen/Qwen3-32B                       a repo on the Hub
  hfcount Qwen/Qwen3-32B --revision refs/pr/1  a pull request
  hfcount ./my-checkpoint                      a local folder
  hfcount -r ./checkpoints                     every checkpoint in a folder
  hfcount --offline Qwen/Qwen3-32B             only the Hugging Face cache
  hfcount --fixtures fixtures --all            every recorded checkpoint
  hfcount --json A B | jq .verdict             one object per model and line
  hfcount A -o a.json -o a.sarif               several formats in one run

\b
Exit codes: 0 verified, explained or allowed, 1 mismatch, 2 wrong usage, 3
unverified or could not read. Of several, the worst: 1, then 3, then 0.

\b
Shell completion: hfcount --install-completion, or without writing a file:
eval "$(_HFCOUNT_COMPLETE=bash_source hfcount)" in ~/.bashrc (zsh_source in
~/.zshrc; for fish, fish_source | source).
"""
