#!/usr/bin/env python3
"""Draws what a terminal shows as SVG: terminal_svg.py "$ command" <output >picture.svg

Knows the escape sequences that commsan writes: bold and the colours of the 16-colour palette.
"""
import html
import re
import sys

COLUMNS, LINE, CHARACTER, MARGIN = 124, 17, 7.83, 14
BACKGROUND, TEXT = "#1b1f27", "#d7dce5"
COLOURS = ["#1b1f27", "#ff6b6b", "#7ad17a", "#e6c558", "#6cb2ff", "#d08cf0", "#5fd0d0", "#d7dce5"]


def spans(line, style):
    """The line's parts, each with its style; the style that is left holds for the next line."""
    parts = []
    for index, part in enumerate(re.split(r"\x1b\[([0-9;]*)m", line)):
        if index % 2 == 0:
            if part:
                parts.append((part, dict(style)))
            continue
        for code in [int(number or 0) for number in part.split(";")]:
            if code == 0:
                style.clear()
            elif code == 1:
                style["bold"] = True
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style["colour"] = COLOURS[code % 10]
    return parts


def wrapped(line):
    """The line in pieces that fit, those after the first indented; escape sequences have no width."""
    pieces, width = [""], 0
    for word in re.findall(r"(?:\x1b\[[0-9;]*m)*[^ ]* ?(?: (?= ))*", line):
        length = len(re.sub(r"\x1b\[[0-9;]*m", "", word))
        if width + length > COLUMNS + 1 and width > 0:
            pieces.append(" " * 11)
            width = 11
        pieces[-1] += word
        width += length
    return pieces


def draw(lines):
    lines = [piece for line in lines for piece in wrapped(line)]
    height = len(lines) * LINE + 2 * MARGIN
    width = COLUMNS * CHARACTER + 2 * MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" '
          f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">')
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    style = {}
    for number, line in enumerate(lines):
        column, texts = 0, []
        for text, look in spans(line, style):
            text = text[: COLUMNS - column]
            weight = ' font-weight="bold"' if look.get("bold") else ""
            x = MARGIN + column * CHARACTER
            texts.append(f'<tspan x="{x:.1f}" fill="{look.get("colour", TEXT)}"{weight} '
                         f'textLength="{len(text) * CHARACTER:.1f}">{html.escape(text)}</tspan>')
            column += len(text)
        if texts:
            y = MARGIN + (number + 0.8) * LINE
            print(f'<text y="{y:.1f}" xml:space="preserve">{"".join(texts)}</text>')
    print("</svg>")


if __name__ == "__main__":
    draw([f"\x1b[1m{command}\x1b[0m" for command in sys.argv[1:]] + sys.stdin.read().rstrip().split("\n"))
