#!/usr/bin/env bash
# Comments the pull request PULL_REQUEST with the file MARKDOWN. A later run edits that comment.
set -euo pipefail

if [ "$INPUT_COMMENT" != true ] || [ -z "$PULL_REQUEST" ] || [ -z "$MARKDOWN" ]; then
    exit
fi
# A pull request of a fork has no right to comment, which is no fault of the image.
gh pr comment "$PULL_REQUEST" --repo "$GITHUB_REPOSITORY" --body-file "$MARKDOWN" \
    --edit-last --create-if-none ||
    echo "::warning::cannot comment the pull request; the comparison is in the job's summary"
