"""How the codes in a PDF become letters, and how wide they are."""

import re
import unicodedata

from pdf_objects import Name, Reader, Stream

UNKNOWN = "\ufffd"


class Font:
    """Turns the bytes of a shown text into letters with widths in thousandths of the font size."""

    def __init__(self, document, fields):
        self.document = document
        self.name = str(document.get(fields, "BaseFont", "unnamed"))
        self.is_composite = document.get(fields, "Subtype") == "Type0"
        mapping = document.get(fields, "ToUnicode")
        self.unicode, self.lengths = read_cmap(document, mapping) if isinstance(mapping, Stream) else ({}, set())
        if self.is_composite:
            self.read_composite(fields)
        else:
            self.read_simple(fields)

    def decode(self, raw):
        """Triples of letters, width and whether the code is a single-byte space, which word spacing widens."""
        if not self.is_composite:
            return [(self.letter(code, bytes([code])), self.simple_width(code), code == 32) for code in raw]
        found, at = [], 0
        while at < len(raw):
            size = next((size for size in sorted(self.lengths, reverse=True) if (size, raw[at : at + size]) in self.unicode), 0)
            size = size or self.usual_length
            code = raw[at : at + size]
            at += size
            number = int.from_bytes(code, "big")
            found.append((self.letter(number, code), self.wide.get(number, self.default_width), size == 1 and number == 32))
        return found

    def letter(self, number, code):
        if (len(code), code) in self.unicode:
            return self.unicode[(len(code), code)]
        if self.is_composite:
            return code.decode("utf-16-be", errors="replace") if self.is_utf16 else UNKNOWN
        return self.table.get(number, UNKNOWN)

    # --- Fonts of one byte a letter ---

    def read_simple(self, fields):
        document = self.document
        encoding = document.get(fields, "Encoding")
        base = str(encoding) if isinstance(encoding, Name) else str(document.get(encoding, "BaseEncoding", ""))
        codec = "mac_roman" if base == "MacRomanEncoding" else "cp1252"
        self.table = {code: bytes([code]).decode(codec, errors="replace") for code in range(32, 256)}
        symbolic = re.search(r"Symbol|Dingbat|Wingding", self.name)
        if symbolic and not self.unicode:
            self.table = {32: " "}
        differences = document.get(encoding, "Differences") if isinstance(encoding, dict) else None
        code = 0
        for item in differences or []:
            item = document.resolve(item)
            if isinstance(item, Name):
                self.table[code] = glyph(str(item))
                code += 1
            elif isinstance(item, int):
                code = item
        self.first = document.get(fields, "FirstChar", 0)
        widths = document.get(fields, "Widths", [])
        self.widths = [document.resolve(width) for width in widths] if isinstance(widths, list) else []
        # A font that draws its letters itself measures them in a unit of its own.
        matrix = document.get(fields, "FontMatrix")
        own_unit = document.get(fields, "Subtype") == "Type3" and isinstance(matrix, list) and matrix
        self.unit = float(document.resolve(matrix[0])) * 1000 if own_unit else 1

    def simple_width(self, code):
        index = code - self.first if isinstance(self.first, int) else -1
        if 0 <= index < len(self.widths) and isinstance(self.widths[index], (int, float)) and self.widths[index]:
            return self.widths[index] * self.unit
        return guess_width(self.table.get(code, "n"), self.name)

    # --- Fonts of several bytes a letter ---

    def read_composite(self, fields):
        document = self.document
        descendants = document.get(fields, "DescendantFonts", [])
        inner = document.resolve(descendants[0]) if descendants else {}
        self.default_width = document.get(inner, "DW", 1000)
        self.wide = read_wide(document, document.get(inner, "W", []))
        encoding = document.get(fields, "Encoding")
        named = str(encoding) if isinstance(encoding, Name) else ""
        self.is_utf16 = bool(re.search(r"UCS2|UTF16", named))
        self.usual_length = min(self.lengths) if len(self.lengths) == 1 else 2
        self.lengths = self.lengths or {2}


def read_wide(document, items):
    widths, at = {}, 0
    items = [document.resolve(item) for item in items] if isinstance(items, list) else []
    while at + 1 < len(items):
        first, second = items[at], items[at + 1]
        if isinstance(second, list):
            for offset, width in enumerate(second):
                widths[first + offset] = document.resolve(width)
            at += 2
        elif at + 2 < len(items) and isinstance(first, int) and isinstance(second, int):
            for code in range(first, min(second, first + 65535) + 1):
                widths[code] = items[at + 2]
            at += 3
        else:
            break
    return {code: width for code, width in widths.items() if isinstance(width, (int, float))}


def read_cmap(document, stream):
    """The letters that each code stands for, and how many bytes codes have."""
    content = document.unpack(stream)
    codes, lengths = {}, set()
    if content is None:
        return codes, lengths
    reader, held = Reader(content, 0, references=False), []
    while True:
        item = reader.next()
        if item == "" and not isinstance(item, Name):
            return codes, lengths
        if isinstance(item, str) and not isinstance(item, Name):
            if item == "endcodespacerange":
                lengths.update(len(each) for each in held if isinstance(each, bytes))
            elif item == "endbfchar":
                for code, letters in zip(held[::2], held[1::2]):
                    add(codes, code, letters)
            elif item == "endbfrange":
                for first, last, target in zip(held[::3], held[1::3], held[2::3]):
                    add_range(codes, first, last, target)
            held = []
            continue
        held.append(item)


def add(codes, code, letters):
    if isinstance(code, bytes) and isinstance(letters, bytes):
        codes[(len(code), code)] = letters.decode("utf-16-be", errors="replace")


def add_range(codes, first, last, target):
    if not isinstance(first, bytes) or not isinstance(last, bytes):
        return
    begin, end = int.from_bytes(first, "big"), int.from_bytes(last, "big")
    for offset in range(min(end - begin, 65535) + 1):
        code = (begin + offset).to_bytes(len(first), "big")
        if isinstance(target, list):
            if offset < len(target):
                add(codes, code, target[offset])
        elif isinstance(target, bytes) and target:
            number = int.from_bytes(target, "big") + offset
            add(codes, code, number.to_bytes(max(len(target), (number.bit_length() + 7) // 8), "big"))


# --- Names of letters ----------------------------------------------------------------------------

ACCENTS = {
    "acute": "\u0301", "grave": "\u0300", "circumflex": "\u0302", "dieresis": "\u0308", "tilde": "\u0303",
    "caron": "\u030c", "cedilla": "\u0327", "ring": "\u030a", "ogonek": "\u0328", "breve": "\u0306",
    "macron": "\u0304", "dotaccent": "\u0307", "hungarumlaut": "\u030b", "commaaccent": "\u0327",
}
NAMED = dict(pair.split("=", 1) for pair in (
    "exclam=! quotedbl=\" numbersign=# dollar=$ percent=% ampersand=& quotesingle=' parenleft=( parenright=) asterisk=* "
    "plus=+ comma=, hyphen=- minus=− period=. slash=/ zero=0 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 "
    "nine=9 colon=: semicolon=; less=< greater=> question=? at=@ bracketleft=[ backslash=\\ bracketright=] "
    "asciicircum=^ underscore=_ grave=` braceleft={ bar=| braceright=} asciitilde=~ quoteleft=‘ quoteright=’ "
    "quotedblleft=“ quotedblright=” quotesinglbase=‚ quotedblbase=„ guillemotleft=« guillemotright=» guilsinglleft=‹ "
    "guilsinglright=› endash=– emdash=— bullet=• ellipsis=… dagger=† daggerdbl=‡ perthousand=‰ trademark=™ copyright=© "
    "registered=® degree=° section=§ paragraph=¶ germandbls=ß ae=æ AE=Æ oe=œ OE=Œ oslash=ø Oslash=Ø lslash=ł Lslash=Ł "
    "eth=ð Eth=Ð thorn=þ Thorn=Þ dotlessi=ı fi=fi fl=fl ff=ff ffi=ffi ffl=ffl Euro=€ euro=€ sterling=£ yen=¥ cent=¢ "
    "currency=¤ florin=ƒ onehalf=½ onequarter=¼ threequarters=¾ onesuperior=¹ twosuperior=² threesuperior=³ mu=µ "
    "multiply=× divide=÷ plusminus=± notequal=≠ lessequal=≤ greaterequal=≥ approxequal=≈ infinity=∞ radical=√ "
    "summation=∑ product=∏ integral=∫ partialdiff=∂ exclamdown=¡ questiondown=¿ ordfeminine=ª ordmasculine=º "
    "periodcentered=· brokenbar=¦ logicalnot=¬ fraction=⁄ arrowright=→ arrowleft=← arrowup=↑ arrowdown=↓ checkmark=✓ "
    "circlecopyrt=© asteriskmath=∗ openbullet=◦ similar=∼ element=∈ universal=∀ existential=∃ visiblespace=␣"
).split(" "))
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"


def glyph(name):
    """The letter behind a glyph's name, such as `eacute` or `uni20AC`."""
    name = name.partition(".")[0]
    if len(name) == 1:
        return name
    if name in ("space", "nbspace", "nonbreakingspace"):
        return " "
    if name in NAMED:
        return NAMED[name]
    hexadecimal = re.fullmatch(r"uni((?:[0-9A-F]{4})+)|u([0-9A-F]{4,6})", name)
    if hexadecimal:
        digits = hexadecimal[1] or hexadecimal[2]
        numbers = [int(digits, 16)] if hexadecimal[2] else [int(digits[at : at + 4], 16) for at in range(0, len(digits), 4)]
        return "".join(chr(number) for number in numbers if number < 0x110000 and not 0xD800 <= number < 0xE000)
    if name[1:] in ACCENTS and name[0].isalpha():
        return unicodedata.normalize("NFC", name[0] + ACCENTS[name[1:]])
    if name.lower() in GREEK.split():
        case = "SMALL" if name[0].islower() else "CAPITAL"
        return unicodedata.lookup(f"GREEK {case} LETTER {name.upper().replace('LAMBDA', 'LAMDA')}")
    return UNKNOWN


def guess_width(letter, font):
    """For the fonts every reader has built in, whose widths a PDF may leave out."""
    if "Courier" in font or "Mono" in font:
        return 600
    if letter in "iIljtf.,:;'|!()[] ":
        return 278
    if letter in "mwMW@%—":
        return 850
    return 667 if letter.isupper() else 530
