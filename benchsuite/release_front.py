#!/usr/bin/env python3
"""Draws the front of docs/releases.md: what updaters transfer against the predicted start, from a run of releases.sh.

usage: release_front.py RUN SVG
A panel for each pair of versions, a color for each updater. Both figures are ratios: the start to the best one, the bytes to those
of the default image of mksquashfs. A line joins what no other image beats in both.
"""

import html
import json
import pathlib
import sys

PAIRS = ("python", "debian", "libreoffice", "openjdk", "firefox-esr", "chromium")
UPDATERS = {"zsync": "#b3541e", "casync": "#2a6f97", "rauc": "#5a7d2b"}
IMAGES = {
    "mksquashfs": "m", "mksquashfs -sort": "s", "coldpress": "c", "--stability 0.2": "0.2", "--stability 0.5": "0.5",
    "--stability 1": "1",
}
GOAL = (1.05, 0.6)
WIDTH, HEIGHT, GAP, COLUMNS, TOP = 270, 210, 62, 3, 64


def front(points):
    """The points that no other beats in both, from left to right."""
    beaten = lambda one: any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in points)
    return sorted({point for point in points if not beaten(point)})


def panel(name, found, left, top):
    best = min(image["start_s"]["usb2"] for image in found.values())
    bytes_of = lambda image: {row["updater"]: row["bytes"] for row in image["updaters"]}
    base = bytes_of(found["mksquashfs"])
    x_max = max(1.2, max(image["start_s"]["usb2"] for image in found.values()) / best * 1.06)
    place = lambda x, y: (left + (x - 0.95) / (x_max - 0.95) * WIDTH, top + HEIGHT - y / 1.8 * HEIGHT)
    lines = [f'<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>',
             f'<text x="{left}" y="{top - 7}" font-weight="bold">{html.escape(name)}</text>']
    x, y = place(*GOAL)
    lines.append(f'<rect x="{left}" y="{y:.1f}" width="{x - left:.1f}" height="{top + HEIGHT - y:.1f}" fill="#d9ead3"/>')
    for tick in (0, 0.5, 1, 1.5):
        y = place(1, tick)[1]
        lines.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#ddd"/><text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    step = 0.1 if x_max < 1.8 else 0.5
    tick = 1.0
    while tick <= x_max:
        x = place(tick, 0)[0]
        lines.append(f'<text x="{x:.1f}" y="{top + HEIGHT + 15}" text-anchor="middle">{tick:.4g}</text>')
        tick += step
    for updater, color in UPDATERS.items():
        points = {key: (image["start_s"]["usb2"] / best, bytes_of(image)[updater] / base[updater]) for key, image in found.items()}
        corners = " ".join("%.1f,%.1f" % place(*point) for point in front(list(points.values())))
        lines.append(f'<polyline points="{corners}" fill="none" stroke="{color}"/>')
        taken = []
        for key, point in points.items():
            x, y = place(*point)
            tip = f"{key}, {updater}: start {point[0]:.2f}, bytes {point[1]:.2f}"
            lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"><title>{html.escape(tip)}</title></circle>')
            if all(abs(x - other[0]) > 14 or abs(y - other[1]) > 9 for other in taken):
                taken.append((x, y))
                lines.append(f'<text x="{x + 5:.1f}" y="{y - 4:.1f}" fill="{color}" font-size="10">{IMAGES[key]}</text>')
    return lines


def main():
    run, target = map(pathlib.Path, sys.argv[1:])
    rows = -(-len(PAIRS) // COLUMNS)
    size = (COLUMNS * (WIDTH + GAP) + 10, TOP + rows * (HEIGHT + GAP))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" font-family="sans-serif" font-size="12">',
             "<title>What an update transfers against the predicted start from a USB 2 stick</title>",
             f'<rect width="{size[0]}" height="{size[1]}" fill="#fff"/>',
             f'<text x="{GAP - 10}" y="18">across: start from usb2, relative to the best; up: bytes, relative to those of mksquashfs by default.',
             "Green: the aim.</text>"]
    legend = "m mksquashfs, s with a sort file, c coldpress; 0.2, 0.5, 1: --stability, with --align 4K"
    lines.append(f'<text x="{GAP - 10}" y="36">{html.escape(legend)}</text>')
    for number, (updater, color) in enumerate(UPDATERS.items()):
        lines.append(f'<text x="{640 + 90 * number}" y="36" fill="{color}" font-weight="bold">{updater}</text>')
    for number, name in enumerate(PAIRS):
        left = GAP - 10 + number % COLUMNS * (WIDTH + GAP)
        top = TOP + number // COLUMNS * (HEIGHT + GAP)
        lines += panel(name, json.loads((run / f"{name}.json").read_text()), left, top)
    target.write_text("\n".join([*lines, "</svg>"]) + "\n")


main()
