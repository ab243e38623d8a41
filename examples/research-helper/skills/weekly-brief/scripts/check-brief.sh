#!/usr/bin/env bash
# Fails when a brief is too long or a line with a figure names no source in brackets.
set -euo pipefail
brief=${1:?usage: check-brief.sh <file>}

words=$(wc -w < "$brief")
if [ "$words" -gt 250 ]; then
  echo "The brief has $words words; 250 are the most." >&2
  exit 1
fi

if grep -nE '[0-9]' "$brief" | grep -vE '\[[^]]+\]|^[0-9]+:#' >&2; then
  echo "The lines above carry a figure without a source in [brackets]." >&2
  exit 1
fi
echo "The brief is fine: $words words."
