"""The objects of a PDF file: numbers, names, dictionaries and streams, read with the standard library alone."""

import base64
import re
import zlib

# A page of compressed zeros must not fill the memory.
MOST_UNPACKED = 32 * 1024 * 1024
DEEPEST = 100


class Unreadable(Exception):
    """Says in one sentence why a file cannot be read and what to do instead."""


class Name(str):
    """A PDF name such as /Type; equal to its text without the slash."""


class Keyword(str):
    """A word of the language itself: an operator, `obj`, `stream`."""


class Ref:
    def __init__(self, number):
        self.number = number


class Stream:
    def __init__(self, fields, raw):
        self.fields = fields
        self.raw = raw


END = Keyword("")
TOKEN = re.compile(rb"[^ \t\r\n\f\0()<>\[\]{}/%]+")
GAP = re.compile(rb"[ \t\r\n\f\0]*(?:%[^\r\n]*[ \t\r\n\f\0]*)*")
NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)$")
REFERENCE = re.compile(rb"(\d+)[ \t\r\n\f\0]+\d+[ \t\r\n\f\0]+R(?![^ \t\r\n\f\0()<>\[\]{}/%])")


class Reader:
    """Reads one object after the other, from a place in the bytes on."""

    def __init__(self, data, at=0, references=True):
        self.data = data
        self.at = at
        self.references = references

    def next(self, depth=0):
        data = self.data
        self.at = GAP.match(data, self.at).end()
        if self.at >= len(data) or depth > DEEPEST:
            return END
        sign = data[self.at : self.at + 1]
        if sign == b"/":
            return self.name()
        if sign == b"(":
            return self.text()
        if data[self.at : self.at + 2] == b"<<":
            self.at += 2
            return self.dictionary(depth)
        if sign == b"<":
            return self.hexadecimal()
        if sign == b"[":
            self.at += 1
            return self.list(depth)
        if sign in b")>]{}":
            self.at += 2 if data[self.at : self.at + 2] == b">>" else 1
            return Keyword(">>" if sign == b">" else sign.decode("latin-1"))
        return self.word()

    def word(self):
        if self.references:
            reference = REFERENCE.match(self.data, self.at)
            if reference:
                self.at = reference.end()
                return Ref(int(reference[1]))
        token = TOKEN.match(self.data, self.at)
        self.at = token.end()
        text = token[0]
        if NUMBER.match(text):
            return float(text) if b"." in text else int(text)
        known = {b"true": True, b"false": False, b"null": None}
        return known[text] if text in known else Keyword(text.decode("latin-1"))

    def name(self):
        token = TOKEN.match(self.data, self.at + 1)
        self.at = token.end() if token else self.at + 1
        raw = token[0] if token else b""
        raw = re.sub(rb"#([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), raw)
        return Name(raw.decode("utf-8", errors="replace"))

    def list(self, depth):
        items = []
        while True:
            item = self.next(depth + 1)
            if isinstance(item, Keyword):
                if item in ("]", "", ">>", "endobj"):
                    return items
                continue
            items.append(item)

    def dictionary(self, depth):
        fields = {}
        while True:
            key = self.next(depth + 1)
            if isinstance(key, Keyword) and key in (">>", "", "endobj", "stream"):
                return fields
            if not isinstance(key, Name):
                continue
            value = self.next(depth + 1)
            if isinstance(value, Keyword):
                if value in (">>", "", "endobj"):
                    return fields
                continue
            fields[str(key)] = value

    ESCAPES = {110: 10, 114: 13, 116: 9, 98: 8, 102: 12}

    def text(self):
        data, at, depth, out = self.data, self.at + 1, 1, bytearray()
        while at < len(data):
            byte = data[at]
            at += 1
            if byte == 92 and at < len(data):
                byte = data[at]
                at += 1
                octal = re.compile(rb"[0-7]{1,3}").match(data, at - 1)
                if octal:
                    out.append(int(octal[0], 8) & 255)
                    at = octal.end()
                elif byte == 13:
                    at += data[at : at + 1] == b"\n"
                elif byte != 10:
                    out.append(self.ESCAPES.get(byte, byte))
                continue
            depth += (byte == 40) - (byte == 41)
            if depth == 0:
                break
            out.append(byte)
        self.at = at
        return bytes(out)

    def hexadecimal(self):
        end = self.data.find(b">", self.at)
        end = len(self.data) if end == -1 else end
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", self.data[self.at + 1 : end])
        self.at = end + 1
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


class Document:
    """Finds objects by looking through the whole file, which also works where the table of contents is damaged."""

    def __init__(self, data):
        if b"%PDF-" not in data[:1024]:
            raise Unreadable("This is no PDF file.")
        self.data = data
        self.places = {}
        self.packed = {}
        self.known = {}
        self.trailer = {}
        self.find_objects()
        if "Encrypt" in self.trailer:
            raise Unreadable(
                "The PDF is protected with a password or against copying, which this script does not open: install "
                "pdftotext, or ask for an unprotected copy."
            )

    def find_objects(self):
        found = list(re.finditer(rb"(?<!\d)(\d{1,10})[ \t\r\n\f\0]+\d{1,5}[ \t\r\n\f\0]+obj(?![a-z])", self.data))
        for index, match in enumerate(found):
            number = int(match[1])
            self.places[number] = match.end()
            # A later object replaces an earlier one of the same number, wherever either is kept.
            self.packed.pop(number, None)
            end = found[index + 1].start() if index + 1 < len(found) else len(self.data)
            head = self.data[match.end() : min(end, match.end() + 2000)]
            if b"/ObjStm" in head:
                self.unpack_objects(number)
            if b"/XRef" in head:
                self.add_trailer(self.object(number))
        for match in re.finditer(rb"trailer(?=[ \t\r\n\f\0]*<<)", self.data):
            self.add_trailer(Reader(self.data, match.end()).next())
        self.known.clear()

    def add_trailer(self, value):
        fields = value.fields if isinstance(value, Stream) else value
        if isinstance(fields, dict):
            self.trailer.update({key: fields[key] for key in ("Root", "Encrypt", "Info") if key in fields})

    def unpack_objects(self, number):
        holder = self.object(number)
        if not isinstance(holder, Stream):
            return
        content = self.unpack(holder)
        if content is None:
            return
        first = self.get(holder.fields, "First")
        count = self.get(holder.fields, "N")
        if not isinstance(first, int) or not isinstance(count, int):
            return
        reader = Reader(content, 0, references=False)
        for _ in range(min(count, 100_000)):
            inner, offset = reader.next(), reader.next()
            if not isinstance(inner, int) or not isinstance(offset, int):
                return
            self.packed[inner] = (content, first + offset)

    def object(self, number):
        if number in self.known:
            return self.known[number]
        self.known[number] = None
        if number in self.packed:
            content, at = self.packed[number]
            value = Reader(content, at).next()
        elif number in self.places:
            value = self.plain_object(self.places[number])
        else:
            value = None
        self.known[number] = None if isinstance(value, Keyword) else value
        return self.known[number]

    def plain_object(self, at):
        reader = Reader(self.data, at)
        value = reader.next()
        if not isinstance(value, dict):
            return value
        begin = re.compile(rb"[ \t\r\n\f\0]*stream(?:\r\n|\n|\r)").match(self.data, reader.at)
        if not begin:
            return value
        length = self.get(value, "Length")
        end = begin.end() + length if isinstance(length, int) and length >= 0 else -1
        if end < 0 or not re.compile(rb"[ \t\r\n\f\0]*endstream").match(self.data, end):
            end = self.data.find(b"endstream", begin.end())
            end = len(self.data) if end == -1 else end
        return Stream(value, self.data[begin.end() : end])

    def resolve(self, value):
        for _ in range(20):
            if not isinstance(value, Ref):
                return value
            value = self.object(value.number)
        return None

    def get(self, fields, key, default=None):
        value = self.resolve(fields.get(key)) if isinstance(fields, dict) else None
        return default if value is None else value

    def dictionary(self, fields, key):
        value = self.get(fields, key, {})
        value = value.fields if isinstance(value, Stream) else value
        return value if isinstance(value, dict) else {}

    def unpack(self, stream):
        """The content of a stream, or None where it is an image format or damaged."""
        filters = self.get(stream.fields, "Filter", self.get(stream.fields, "F", []))
        settings = self.get(stream.fields, "DecodeParms", self.get(stream.fields, "DP", []))
        filters = filters if isinstance(filters, list) else [filters]
        settings = settings if isinstance(settings, list) else [settings]
        content = stream.raw
        for index, each in enumerate(filters):
            decode = FILTERS.get(str(self.resolve(each)))
            if decode is None:
                return None
            options = self.resolve(settings[index]) if index < len(settings) else None
            options = {key: self.resolve(value) for key, value in options.items()} if isinstance(options, dict) else {}
            try:
                content = undo_predictor(decode(content, options), options)
            except (ValueError, zlib.error, IndexError):
                return None
        return content

    def pages(self):
        """The pages in reading order, each with what it inherits from the tree above it."""
        root = self.dictionary(self.dictionary(self.trailer, "Root"), "Pages")
        found, seen = [], set()

        def walk(node, inherited, depth):
            if id(node) in seen or depth > DEEPEST:
                return
            seen.add(id(node))
            inherited = {**inherited, **{key: node[key] for key in ("Resources", "MediaBox", "Rotate") if key in node}}
            kids = self.get(node, "Kids")
            if not isinstance(kids, list):
                found.append({**inherited, **node})
                return
            for kid in kids:
                kid = self.resolve(kid)
                if isinstance(kid, dict):
                    walk(kid, inherited, depth + 1)

        if root:
            walk(root, {}, 0)
        if found:
            return found
        numbers = sorted(set(self.places) | set(self.packed))
        every = (self.object(number) for number in numbers)
        return [each for each in every if isinstance(each, dict) and self.get(each, "Type") == "Page"]


# --- Filters -------------------------------------------------------------------------------------


def inflate(content, _options):
    for raw in (content, content.lstrip(b"\r\n")):
        unpacker = zlib.decompressobj()
        out = bytearray()
        try:
            out += unpacker.decompress(raw, MOST_UNPACKED)
        except zlib.error:
            out = salvage(raw)
        if out:
            return bytes(out)
    return b""


def salvage(raw):
    """What can be had of a stream that is cut short or ends in rubbish."""
    unpacker, out = zlib.decompressobj(), bytearray()
    try:
        for at in range(0, len(raw), 256):
            out += unpacker.decompress(raw[at : at + 256])
            if len(out) > MOST_UNPACKED:
                break
    except zlib.error:
        pass
    return out


def unpack_ascii85(content, _options):
    body = re.sub(rb"\s", b"", content).removeprefix(b"<~").partition(b"~>")[0]
    return base64.a85decode(body)


def unpack_hexadecimal(content, _options):
    digits = re.sub(rb"\s", b"", content).partition(b">")[0]
    return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode("ascii"))


def unpack_runs(content, _options):
    out, at = bytearray(), 0
    while at < len(content) and content[at] != 128 and len(out) < MOST_UNPACKED:
        length = content[at]
        if length < 128:
            out += content[at + 1 : at + 2 + length]
            at += 2 + length
        else:
            out += content[at + 1 : at + 2] * (257 - length)
            at += 2
    return bytes(out)


def unpack_lzw(content, options):
    early = options.get("EarlyChange", 1)
    out, table, width, held, bits, previous = bytearray(), [bytes([each]) for each in range(256)] + [b"", b""], 9, 0, 0, b""
    for byte in content:
        held, bits = (held << 8) | byte, bits + 8
        while bits >= width:
            bits -= width
            code = (held >> bits) & ((1 << width) - 1)
            held &= (1 << bits) - 1
            if code == 257 or len(out) > MOST_UNPACKED:
                return bytes(out)
            if code == 256:
                table, width, previous = table[:258], 9, b""
                continue
            if code < len(table):
                entry = table[code]
            elif code == len(table) and previous:
                entry = previous + previous[:1]
            else:
                return bytes(out)
            out += entry
            if previous:
                table.append(previous + entry[:1])
            previous = entry
            if len(table) + early >= 1 << width and width < 12:
                width += 1
    return bytes(out)


FILTERS = {
    "FlateDecode": inflate,
    "Fl": inflate,
    "ASCII85Decode": unpack_ascii85,
    "A85": unpack_ascii85,
    "ASCIIHexDecode": unpack_hexadecimal,
    "AHx": unpack_hexadecimal,
    "RunLengthDecode": unpack_runs,
    "RL": unpack_runs,
    "LZWDecode": unpack_lzw,
    "LZW": unpack_lzw,
}


def undo_predictor(content, options):
    """Rows may be stored as differences from the row above; text streams seldom are, tables of objects often."""
    predictor = options.get("Predictor", 1)
    if not isinstance(predictor, int) or predictor < 2:
        return content
    colors, depth, columns = (int(options.get(key, value)) for key, value in (("Colors", 1), ("BitsPerComponent", 8), ("Columns", 1)))
    pixel = max(1, colors * depth // 8)
    width = (colors * depth * columns + 7) // 8
    if predictor == 2 or width < 1:
        return content
    out, above = bytearray(), bytearray(width)
    for start in range(0, len(content), width + 1):
        kind, row = content[start], bytearray(content[start + 1 : start + 1 + width].ljust(width, b"\0"))
        for at in range(width):
            left = row[at - pixel] if at >= pixel else 0
            up = above[at]
            corner = above[at - pixel] if at >= pixel else 0
            row[at] = (row[at] + [0, left, up, (left + up) // 2, paeth(left, up, corner)][min(kind, 4)]) & 255
        out += row
        above = row
    return bytes(out)


def paeth(left, up, corner):
    guess = left + up - corner
    distances = (abs(guess - left), abs(guess - up), abs(guess - corner))
    return (left, up, corner)[distances.index(min(distances))]
