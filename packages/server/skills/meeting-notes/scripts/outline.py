#!/usr/bin/env python3
"""Turns the transcript of a meeting into an outline: who spoke how much, the turns with their times, and places to look at."""

import argparse
import html
import json
import re
import sys

CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?:[.,](\d{1,3}))?"
CUE = re.compile(rf"^\s*{CLOCK}\s*-->\s*{CLOCK}")
NAME = r"[^\W\d_][^:\[\]()<>|\t\n]{0,48}?"


def main():
    arguments = read_arguments()
    try:
        raw = sys.stdin.buffer.read() if arguments.file == "-" else open(arguments.file, "rb").read()
    except OSError as error:
        print(f"{arguments.file} cannot be opened: {error.strerror}.", file=sys.stderr)
        return 2
    turns = merge(read_turns(decode(raw)))
    if not turns:
        print("No spoken words were found. The file should be WebVTT, SRT, or lines such as `Ada: …`.", file=sys.stderr)
        return 1
    chosen = [turn for turn in turns if within(turn, arguments.begin, arguments.end)]
    outline = {"speakers": speakers(chosen), "turns": chosen, "candidates": candidates(chosen)}
    if arguments.json:
        print(json.dumps(outline, ensure_ascii=False, indent=2))
    else:
        print_outline(outline, arguments.words)
    return 0


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", help="the transcript; - reads standard input")
    parser.add_argument("--from", dest="begin", type=clock, help="leave out what comes before, such as 10:00")
    parser.add_argument("--to", dest="end", type=clock, help="leave out what comes after")
    parser.add_argument("--words", type=int, default=24, help="how many words of each turn to show; 0: all")
    parser.add_argument("--json", action="store_true", help="everything, for another script")
    return parser.parse_args()


def clock(text):
    match = re.fullmatch(CLOCK, text.strip())
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time such as 10:00 or 1:02:30")
    return seconds(match.groups())


def seconds(parts):
    hours, minutes, rest, fraction = parts
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(rest) + (int((fraction or "0").ljust(3, "0")) / 1000)


def decode(raw):
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


# --- Reading -------------------------------------------------------------------------------------


def read_turns(text):
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if any(CUE.match(line) for line in text.split("\n")):
        return read_captions(text)
    return read_lines(text)


def read_captions(text):
    """WebVTT and SRT: a time line, then the words until an empty line."""
    turns, speaker = [], None
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((index for index, line in enumerate(lines) if CUE.match(line)), None)
        if at is None:
            continue
        times = CUE.match(lines[at]).groups()
        begin, end = seconds(times[:4]), seconds(times[4:])
        for line in lines[at + 1 :]:
            voice = re.match(r"^\s*<v(?:\.[\w.]+)?\s+([^>]+)>", line)
            words = html.unescape(re.sub(r"<[^>]*>", "", line)).strip()
            named = re.match(rf"^(?:-\s*)?(?:\[({NAME})\]|({NAME}))\s*:\s+(.*)$", words)
            if voice:
                speaker = voice[1].strip()
            elif named and is_name(named[1] or named[2]):
                speaker, words = (named[1] or named[2]).strip(), named[3]
            if words:
                turns.append(turn(speaker, begin, end, words))
    return turns


STAMPED = re.compile(rf"^\s*[\[(]?{CLOCK}[\])]?\s*[-–|]?\s*(?:({NAME})\s*:\s*)?(.*)$")
NAMED = re.compile(rf"^\s*({NAME})\s*(?:[\[(]{CLOCK}[\])])?\s*:\s+(.*)$")
HEADED = re.compile(rf"^\s*({NAME})\s*[,|–-]?\s+[\[(]?{CLOCK}[\])]?(?:\s*(?:AM|PM))?\s*$", re.IGNORECASE)


def read_lines(text):
    """Text with a speaker on each line, or a line with name and time above the words."""
    turns, speaker, begin = [], None, None
    lines = [line for line in text.split("\n") if line.strip()]
    # Where names stand above the words, a colon inside the words names nobody.
    has_heads = sum(1 for line in lines if HEADED.match(line)) > 1
    for line in lines:
        headed = HEADED.match(line)
        stamped = None if headed else STAMPED.match(line)
        named = None if headed or stamped or has_heads else NAMED.match(line)
        if headed and is_name(headed[1]):
            speaker, begin = headed[1].strip(), seconds(headed.groups()[1:5])
            continue
        if stamped:
            begin = seconds(stamped.groups()[:4])
            who, words = stamped[5], stamped[6].strip()
            speaker = who.strip() if who and is_name(who) else speaker
            words = words if not who or is_name(who) else f"{who}: {words}"
        elif named and is_name(named[1]):
            speaker, words = named[1].strip(), named.groups()[-1].strip()
            begin = seconds(named.groups()[1:5]) if named[3] else begin
        else:
            words = line.strip()
        if words:
            turns.append(turn(speaker, begin, None, words))
    return turns


NOT_NAMES = {"note", "http", "https", "agenda", "decision", "action", "actions", "todo", "subject", "question", "answer", "date", "time", "ps", "example", "warning", "re"}


def is_name(text):
    """A few words, most of them capitalised: not the beginning of a sentence that happens to have a colon."""
    words = text.split()
    if not words or len(words) > 5 or words[0].lower() in NOT_NAMES:
        return False
    capitalised = sum(word[0].isupper() or not word[0].isalpha() for word in words)
    without_titles = re.sub(r"\b(Dr|Mr|Mrs|Ms|Prof|St|[A-Z])\.\s", "", text)
    return capitalised >= len(words) - 1 and not re.search(r"[.!?]\s", without_titles)


def turn(speaker, begin, end, words):
    return {"speaker": speaker or "Unknown", "begin": begin, "end": end, "text": " ".join(words.split())}


def merge(turns):
    """Captions cut one turn into many pieces, and repeat a line while it rolls."""
    merged = []
    for each in turns:
        last = merged[-1] if merged else None
        if last and last["speaker"] == each["speaker"]:
            if not last["text"].endswith(each["text"]):
                last["text"] += f" {each['text']}"
            last["end"] = each["end"] if each["end"] is not None else last["end"]
        else:
            merged.append(dict(each))
    return merged


def within(each, begin, end):
    if each["begin"] is None:
        return True
    return (begin is None or each["begin"] >= begin) and (end is None or each["begin"] <= end)


# --- Finding -------------------------------------------------------------------------------------

KINDS = {
    "decisions": r"\b(we(?:'ve| have)? (?:decided|agreed|settled)|(?:it's|it is|that's|that is) (?:decided|settled|agreed)|let's (?:go with|do|take|move|stick|keep|drop|postpone)|we(?:'ll| will) (?:go with|stick|keep|drop|postpone|move|use)|approved|final decision|signed off)\b",
    "actions": r"\b(i(?:'ll| will| can| am going to|'m going to) (?:\w+ly )?(?:send|write|call|check|ask|make|prepare|draft|book|set|talk|look|find|share|update|schedule|fix|review|follow|get|do|take|finish|arrange|order|email|confirm|speak)|(?:can|could|would|will) you (?:please )?\w+|please (?:send|check|write|make|prepare|call|book|ask|share|update|review|confirm)|action item|to-?do|takes? care of|follow up)\b",
    "questions": r"\?",
    "dates": r"\b(by (?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|tomorrow|tonight|noon|the end of|end of|next)|(?:next|this) (?:week|month|quarter|monday|tuesday|wednesday|thursday|friday)|\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:january|february|march|april|may|june|july|august|september|october|november|december)|(?:january|february|march|april|june|july|august|september|october|november|december) \d{1,2}|deadline|due)\b",
}


def candidates(turns):
    found = {kind: [] for kind in KINDS}
    for each in turns:
        for sentence in re.split(r"(?<=[.!?])\s+", each["text"].replace("’", "'")):
            for kind, pattern in KINDS.items():
                if re.search(pattern, sentence, re.IGNORECASE):
                    found[kind].append({"speaker": each["speaker"], "begin": each["begin"], "text": sentence})
    return found


def speakers(turns):
    total = sum(len(each["text"].split()) for each in turns) or 1
    counts = {}
    for each in turns:
        words, number = counts.get(each["speaker"], (0, 0))
        counts[each["speaker"]] = (words + len(each["text"].split()), number + 1)
    ranked = sorted(counts.items(), key=lambda item: -item[1][0])
    return [{"speaker": name, "turns": number, "words": words, "share": round(words / total, 3)} for name, (words, number) in ranked]


# --- Printing ------------------------------------------------------------------------------------


def print_outline(outline, most_words):
    print("## Speakers\n")
    for each in outline["speakers"]:
        print(f"- {each['speaker']}: {each['turns']} turns, {each['words']} words, {each['share']:.0%}")
    print("\n## Turns\n")
    for each in outline["turns"]:
        words = each["text"].split()
        shown = " ".join(words[:most_words]) + " …" if most_words and len(words) > most_words else each["text"]
        print(f"{place(each)}{each['speaker']}: {shown}")
    for kind, found in outline["candidates"].items():
        if found:
            print(f"\n## Possible {kind}: to be checked in the transcript\n")
            for each in found:
                print(f"- {place(each)}{each['speaker']}: {each['text']}")


def place(each):
    if each["begin"] is None:
        return ""
    hours, rest = divmod(int(each["begin"]), 3600)
    minutes, second = divmod(rest, 60)
    return f"[{hours:02}:{minutes:02}:{second:02}] "


if __name__ == "__main__":
    sys.exit(main())
