"""Differences that the documents explain, each with the sentence that explains it."""

import re

# (pattern of a difference, what a command must hold for it to count, document and reason)
EXPLAINED: list[tuple[str, str, str]] = [
    (r"^b'\.': time: ", r"", "docs/mksquashfs.md: a root that no source has gets the newest time"),
]


def reason(difference: str, commands: list[list[str]]) -> str | None:
    """Why a difference is meant, or nothing."""
    words = "\n".join(" ".join(command) for command in commands)
    for pattern, needed, why in EXPLAINED:
        if re.search(pattern, difference) and re.search(needed, words):
            return why
    return None
