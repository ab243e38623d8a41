/** Facts extracted from texts without understanding them. The first text is closest to the question. */
export type Facts = {
  text: string;
  numbers: number[];
  ids: string[];
  emails: string[];
  urls: string[];
  dates: string[];
  quoted: string[];
  /** Names: capitalised words inside a sentence. */
  names: string[];
  /** Values of JSON found in the texts, by key. */
  fields: Map<string, unknown>;
  /** The same for tool results of earlier turns, which are the last resort. */
  earlierFields: Map<string, unknown>;
};

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');

export function factsOf(texts: readonly string[], today: string | null, earlier: readonly string[] = []): Facts {
  const fields = new Map<string, unknown>();
  const earlierFields = new Map<string, unknown>();
  for (const text of earlier) withoutJson(text, earlierFields);
  const plain = texts.map((text) => withoutJson(text, fields));
  const text = readable(plain.join('\n'));
  const emails = all(text, /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g);
  const urls = all(text, /\bhttps?:\/\/[^\s"'<>)]+[^\s"'<>).,;!?]/g);
  const dates = datesOf(text, today);
  const quoted = all(text, /"([^"\n]+)"|“([^“”\n]+)”|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)/g);
  const rest = [...emails, ...urls].reduce((left, each) => left.replaceAll(each, ' '), text);
  return {
    text,
    emails,
    urls,
    dates,
    quoted,
    ids: all(
      rest,
      /#(\w+)|\b([A-Za-z]+[-_][A-Za-z0-9_-]*\d[A-Za-z0-9_-]*|[A-Z]{1,6}\d{2,}|[0-9a-f]{8}-[0-9a-f-]{27})\b/g,
    ),
    numbers: all(
      rest.replace(/\b\d{4}-\d\d-\d\d\S*/g, ' '),
      /(?<![\w.#-])[-−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|(?<![\w.#-])-?\d+(?:\.\d+)?(?![\w-])/g,
    ).map((number) => Number(number.replaceAll(',', ''))),
    names: all(rest, /(?<=[\p{Ll}\p{N},:] )(\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’-]+)*)/gu),
    fields,
    earlierFields,
  };
}

/** Long words are removed, because the word patterns are slow on them. */
const readable = (text: string) => text.slice(0, 40_000).replace(/\S{200,}/g, ' ');

/** The first captured group or the whole match, without duplicates. */
function all(text: string, pattern: RegExp): string[] {
  const found = [...text.matchAll(pattern)].map(
    (match) => match.slice(1).find((group) => group !== undefined) ?? match[0],
  );
  return [...new Set(found)];
}

function withoutJson(text: string, fields: Map<string, unknown>): string {
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'));
  if (start === -1 || end <= start) return text;
  try {
    collect(JSON.parse(text.slice(start, end + 1)), fields);
  } catch {
    return text;
  }
  return `${text.slice(0, start)} ${text.slice(end + 1)}`;
}

function collect(value: unknown, fields: Map<string, unknown>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, fields);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!fields.has(key.toLowerCase())) fields.set(key.toLowerCase(), inner);
    collect(inner, fields);
  }
}

/** `2026-05-01`, `1 May 2026`, `May 1, 2026`; `today` and `tomorrow` only if the prompt contains the date. */
function datesOf(text: string, today: string | null): string[] {
  const found = all(text, /\b(\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?)?)/g);
  for (const [, day, month, year] of text.matchAll(/\b(\d{1,2})(?:st|nd|rd|th)? ([A-Za-z]{3})[a-z]*\.? (\d{4})\b/g)) {
    found.push(...dateOf(year, month, day));
  }
  for (const [, month, day, year] of text.matchAll(/\b([A-Za-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b/g)) {
    found.push(...dateOf(year, month, day));
  }
  if (today && /\btoday\b/i.test(text)) found.push(today);
  if (today && /\btomorrow\b/i.test(text)) {
    found.push(new Date(Date.parse(`${today}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10));
  }
  return [...new Set(found)];
}

function dateOf(year = '', month = '', day = ''): string[] {
  const index = months.indexOf(month.toLowerCase());
  return index === -1 ? [] : [`${year}-${String(index + 1).padStart(2, '0')}-${day.padStart(2, '0')}`];
}
