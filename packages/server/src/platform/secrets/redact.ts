/** A secret, and the text that replaces it. */
export type HiddenValue = { value: string; mark: string };

/** Shorter values are not credentials and occur in texts by chance. */
const shortest = 4;
/** The encoded forms of shorter values occur in texts by chance. */
const shortestEncoded = 8;

/**
 * Replaces secrets in a text: as stored, trimmed, escaped for JSON and URLs, as hex, and as base64 at each of its three
 * alignments, also across line breaks of an encoder. Other transformations, such as a reversed value, are not found.
 * The cost grows with the length of the text times the number of forms.
 */
export function createRedactor(secrets: Iterable<HiddenValue>): (text: string) => string {
  const forms = formsOf(secrets);
  if (forms.length === 0) return (text) => text;
  return (text) => {
    const found = forms.flatMap((form) => rangesOf(text, form));
    const unwrapped = /[\w+/=-]\r?\n[\w+/=-]/.test(text) ? joinLines(text) : null;
    if (unwrapped !== null) {
      for (const form of forms.filter(({ isEncoded }) => isEncoded)) {
        for (const range of rangesOf(unwrapped.text, form)) {
          found.push({ ...range, from: unwrapped.placeOf(range.from), to: unwrapped.placeOf(range.to - 1) + 1 });
        }
      }
    }
    return found.length === 0 ? text : replaceRanges(text, found);
  };
}

/** A form of a secret, which a text may contain. */
export type SecretForm = { text: string; mark: string; isEncoded: boolean };

/** All forms that are searched for, without repetitions. */
export function formsOf(secrets: Iterable<HiddenValue>): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  const add = (text: string, mark: string, isEncoded: boolean) => {
    if (text.length >= shortest && !forms.has(text)) forms.set(text, { text, mark, isEncoded });
  };
  for (const { value, mark } of secrets) {
    // A secret that was read from a file often ends in a newline.
    for (const plain of [value, value.trim()]) {
      if (plain.length < shortest) continue;
      for (const form of [plain, JSON.stringify(plain).slice(1, -1), ...urlForms(plain)]) add(form, mark, false);
      if (plain.length >= shortestEncoded) for (const form of encodedForms(plain)) add(form, mark, true);
    }
  }
  return [...forms.values()].sort((one, other) => other.text.length - one.text.length);
}

function urlForms(value: string): string[] {
  const encoded = encodeURIComponent(value.toWellFormed());
  return [encoded, encoded.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()), encoded.replaceAll('%20', '+')];
}

function encodedForms(value: string): string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    // Characters that also depend on the bytes before or after the value are left out.
    const inner = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [hex, hex.toUpperCase(), ...base64];
}

type Range = { from: number; to: number; mark: string };

function rangesOf(text: string, { text: form, mark }: SecretForm): Range[] {
  const ranges: Range[] = [];
  for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + form.length)) {
    ranges.push({ from: at, to: at + form.length, mark });
  }
  return ranges;
}

/** Ranges that overlap become one, with the mark of the longest. */
function replaceRanges(text: string, ranges: Range[]): string {
  const sorted = ranges.sort((one, other) => one.from - other.from || other.to - one.to);
  const parts: string[] = [];
  let done = 0;
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] as Range;
    let longest = first;
    let { to } = first;
    for (at++; at < sorted.length && (sorted[at] as Range).from < to; at++) {
      const next = sorted[at] as Range;
      to = Math.max(to, next.to);
      if (next.to - next.from > longest.to - longest.from) longest = next;
    }
    parts.push(text.slice(done, first.from), longest.mark);
    done = to;
  }
  parts.push(text.slice(done));
  return parts.join('');
}

/** The text without line breaks inside words, and where each of its characters was. */
function joinLines(text: string): { text: string; placeOf: (at: number) => number } {
  const breaks: { at: number; removed: number }[] = [];
  let removed = 0;
  const joined = text.replace(/(?<=[\w+/=-])\r?\n(?=[\w+/=-])/g, (match, at: number) => {
    breaks.push({ at: at - removed, removed: removed + match.length });
    removed += match.length;
    return '';
  });
  return {
    text: joined,
    placeOf(at) {
      let [low, high] = [0, breaks.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((breaks[middle] as { at: number }).at <= at) low = middle + 1;
        else high = middle;
      }
      return at + (breaks[low - 1]?.removed ?? 0);
    },
  };
}
