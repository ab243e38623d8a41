"""Follows the drawing instructions of a page and puts its text back into lines."""

import math
import re

from pdf_fonts import UNKNOWN, Font
from pdf_objects import END, Keyword, Name, Reader, Stream

IDENTITY = (1, 0, 0, 1, 0, 0)
DEEPEST_FORM = 8
MOST_OPERATIONS = 2_000_000


def times(a, b):
    return (
        a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4], a[4] * b[1] + a[5] * b[3] + b[5],
    )


class Piece:
    """Text that was shown at once: where it begins and ends, and how large it is."""

    def __init__(self, text, x, y, end, size):
        self.text, self.x, self.y, self.end, self.size = text, x, y, end, size


class Page:
    def __init__(self, document, fields, fonts):
        self.document = document
        self.fonts = fonts
        self.pieces = []
        self.images = 0
        self.unknown = {}
        self.operations = 0
        turned = document.get(fields, "Rotate", 0)
        turn = math.radians(turned if isinstance(turned, int) else 0)
        # Pages that are shown turned are read turned.
        start = (round(math.cos(turn)), -round(math.sin(turn)), round(math.sin(turn)), round(math.cos(turn)), 0, 0)
        self.run(self.content(fields), document.dictionary(fields, "Resources"), start, 0)

    def content(self, fields):
        found = self.document.get(fields, "Contents", [])
        streams = found if isinstance(found, list) else [found]
        parts = [self.document.unpack(stream) for stream in map(self.document.resolve, streams) if isinstance(stream, Stream)]
        return b"\n".join(part for part in parts if part)

    def run(self, content, resources, start, depth):
        state = {"ctm": start, "font": None, "size": 1, "chars": 0, "words": 0, "scale": 1, "leading": 0, "rise": 0}
        kept, held = [], []
        text = line = IDENTITY
        reader = Reader(content, 0, references=False)
        while self.operations < MOST_OPERATIONS:
            item = reader.next()
            if item is END:
                return
            if not isinstance(item, Keyword):
                held.append(item)
                continue
            self.operations += 1
            numbers = [each for each in held if isinstance(each, (int, float)) and not isinstance(each, bool)]
            count = len(numbers)
            if item == "q":
                kept.append(dict(state))
            elif item == "Q" and kept:
                state = kept.pop()
            elif item == "cm" and count >= 6:
                state["ctm"] = times(numbers[-6:], state["ctm"])
            elif item == "BT":
                text = line = IDENTITY
            elif item == "Tf" and held and count:
                name = next((each for each in held if isinstance(each, Name)), None)
                state["font"], state["size"] = self.font(resources, name), numbers[-1]
            elif item in SETTINGS and count:
                key, unit = SETTINGS[item]
                state[key] = numbers[-1] * unit
            elif item in ("Td", "TD") and count >= 2:
                if item == "TD":
                    state["leading"] = -numbers[-1]
                text = line = times((1, 0, 0, 1, numbers[-2], numbers[-1]), line)
            elif item == "Tm" and count >= 6:
                text = line = tuple(numbers[-6:])
            elif item == "T*":
                text = line = times((1, 0, 0, 1, 0, -state["leading"]), line)
            elif item in ("Tj", "TJ", "'", '"'):
                if item in ("'", '"'):
                    if item == '"' and count >= 2:
                        state["words"], state["chars"] = numbers[-2], numbers[-1]
                    text = line = times((1, 0, 0, 1, 0, -state["leading"]), line)
                shown = held[-1] if held else b""
                text = self.show(shown if isinstance(shown, list) else [shown], state, text)
            elif item == "Do" and held and isinstance(held[-1], Name):
                self.draw(held[-1], resources, state["ctm"], depth)
            elif item == "BI":
                self.images += 1
                skip_image(reader)
            held = []

    def font(self, resources, name):
        fields = self.document.get(self.document.dictionary(resources, "Font"), str(name))
        if not isinstance(fields, dict):
            return None
        if id(fields) not in self.fonts:
            # Kept together with the dictionary, whose identity must not be given to another one.
            self.fonts[id(fields)] = (Font(self.document, fields), fields)
        return self.fonts[id(fields)][0]

    def show(self, parts, state, text):
        font, size, scale = state["font"], state["size"], state["scale"]
        for part in parts:
            if isinstance(part, (int, float)):
                text = times((1, 0, 0, 1, -part / 1000 * size * scale, 0), text)
            elif isinstance(part, bytes) and font:
                letters = font.decode(part)
                advance = sum(
                    (width / 1000 * size + state["chars"] + (state["words"] if is_space else 0)) * scale
                    for _, width, is_space in letters
                )
                begin = times((1, 0, 0, 1, 0, state["rise"]), times(text, state["ctm"]))
                text = times((1, 0, 0, 1, advance, 0), text)
                after = times(text, state["ctm"])
                self.keep("".join(letter for letter, _, _ in letters), begin, after, size, font)
        return text

    def keep(self, text, begin, after, size, font):
        lost = text.count(UNKNOWN)
        if lost:
            self.unknown[font.name] = self.unknown.get(font.name, 0) + lost
        # Along the direction of writing, so that text written upwards forms lines too.
        length = math.hypot(begin[0], begin[1]) or 1
        cos, sin = begin[0] / length, begin[1] / length
        x, y = begin[4] * cos + begin[5] * sin, begin[5] * cos - begin[4] * sin
        end = after[4] * cos + after[5] * sin
        height = abs(size) * (math.hypot(begin[2], begin[3]) or 1)
        if text:
            self.pieces.append(Piece(text, x, y, end, height or 1))

    def draw(self, name, resources, ctm, depth):
        thing = self.document.get(self.document.dictionary(resources, "XObject"), str(name))
        if not isinstance(thing, Stream):
            return
        if self.document.get(thing.fields, "Subtype") == "Image":
            self.images += 1
            return
        content = self.document.unpack(thing) if depth < DEEPEST_FORM else None
        if content is None:
            return
        matrix = self.document.get(thing.fields, "Matrix", list(IDENTITY))
        matrix = [self.document.resolve(each) for each in matrix]
        own = self.document.dictionary(thing.fields, "Resources") or resources
        is_matrix = len(matrix) == 6 and all(isinstance(each, (int, float)) for each in matrix)
        self.run(content, own, times(matrix, ctm) if is_matrix else ctm, depth + 1)

    # --- Lines ---

    def text(self, layout=False):
        return (self.in_place if layout else self.in_order)()

    def in_order(self):
        """As the program that made the file wrote it, which keeps columns and cells together."""
        out, last = [], None
        for piece in self.pieces:
            if last is not None:
                drop = last.y - piece.y
                gap = piece.x - last.end
                size = max(last.size, piece.size)
                if abs(drop) > size * 0.5 or gap < -size * 1.5:
                    out.append("\n\n" if drop > size * 1.9 or drop < -size else "\n")
                elif gap > size * 0.15 and not out[-1].endswith(" ") and not piece.text.startswith(" "):
                    out.append("   " if gap > size * 2 else " ")
            out.append(piece.text)
            last = piece
        return tidy("".join(out))

    def in_place(self):
        """As it stands on the page, line by line from the top, with gaps kept: for tables."""
        lines = []
        for piece in sorted(self.pieces, key=lambda each: -each.y):
            if lines and abs(lines[-1][0].y - piece.y) <= max(lines[-1][0].size, piece.size) * 0.4:
                lines[-1].append(piece)
            else:
                lines.append([piece])
        if not lines:
            return ""
        left = min(piece.x for piece in self.pieces)
        letters = [(piece.end - piece.x) / len(piece.text) for piece in self.pieces if len(piece.text.strip()) > 1 and piece.end > piece.x]
        step = sorted(letters)[len(letters) // 2] if letters else 5
        out = []
        for line in lines:
            text, line_end = "", 0
            for piece in sorted(line, key=lambda each: each.x):
                column = min(400, round((piece.x - left) / step))
                touches = text and piece.x - line_end <= piece.size * 0.15
                text = text + piece.text if touches else text.ljust(max(column, len(text) + (1 if text else 0))) + piece.text
                line_end = piece.end
            out.append(text)
        return tidy("\n".join(out), keep_gaps=True)


SETTINGS = {"Tc": ("chars", 1), "Tw": ("words", 1), "Tz": ("scale", 0.01), "TL": ("leading", 1), "Ts": ("rise", 1)}


def skip_image(reader):
    """Behind ID come the bytes of an image, up to EI between blanks."""
    begin = re.compile(rb"\bID[ \t\r\n]").search(reader.data, reader.at)
    end = re.compile(rb"[ \t\r\n]EI(?=[ \t\r\n]|$)").search(reader.data, begin.end() - 1 if begin else reader.at)
    reader.at = end.end() if end else len(reader.data)


def tidy(text, keep_gaps=False):
    text = re.sub(r"[\x00-\x08\x0b-\x1f]", "", text.replace("\u00ad\n", "").replace("\u00a0", " "))
    lines = [line.rstrip() if keep_gaps else re.sub(r" {4,}", "   ", line).strip() for line in text.split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
