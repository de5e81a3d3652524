#!/usr/bin/env python3
"""Compares a boot recorded from outside with what the guest's kernel says of its page cache.

usage: outside_inside.py TRACE CONSOLE ROOT

TRACE is of `record --vm ROOT --append 'trace_event=filemap:mm_filemap_add_to_page_cache
trace_buf_size=16M ...'`, in which the guest, once it is ready, prints `DUMP-BEGIN`, then `P INODE
BYTE` for each event of the disk (INODE in hexadecimal) and `I INODE PATH` for these inodes, to a
console that is kept in CONSOLE (--qemu names a script that does). It begins that with cat(1).
"""

import os
import re
import sys

trace, console, root = sys.argv[1:]
text = open(console, errors="replace").read().replace("\r", "")
paths, cached = {}, []
for line in text[text.index("DUMP-BEGIN") :].split("\n"):
    if found := re.fullmatch(r"P ([0-9a-f]+) (\d+)", line):
        cached.append((int(found[1], 16), int(found[2]) // 4096))
    if found := re.fullmatch(r"I (\d+) (/.*)", line):
        paths[int(found[1])] = found[2]
# SquashFS caches pages behind the end of a file, which hold nothing.
pages = {inode: -(-os.lstat(root + path).st_size // 4096) for inode, path in paths.items()}
inside = {(paths[inode], page) for inode, page in cached if page < pages.get(inode, 0)}
certain, possible = set(), set()
for line in open(trace):
    if line.startswith(("#", "coldpress")):
        continue
    kind, rest = line.rstrip("\n").split(" ", 3)[2:]
    pages_of, path = rest.split(" ", 1) if kind in "RMF" else (None, rest)
    if path == "/usr/bin/cat":
        break
    if pages_of:
        first, _, last = pages_of.partition("-")
        told = {(path, page) for page in range(int(first), int(last or first) + 1)}
        possible |= told
        certain |= told if kind == "R" else set()
print(f"inside: {len(inside)} pages; without a path: {len({i for i, _ in cached if i not in paths})} inodes")
for name, outside in ("certain", certain), ("certain and possible", possible):
    both, either = len(outside & inside), len(outside | inside)
    print(f"{name}: {len(outside)} pages, {both} in both, {100 * both / either:.2f} % of those in either")
