import type { Captured } from '../platform/sandbox/capture.ts';

/** The secrets that a command was given: each value with the name under which it is stored. */
export type GivenSecrets = readonly { name: string; value: string }[];

/** Shorter values are no credentials, and stand in texts by chance. */
const shortest = 4;

/** The text with the name of each secret in the place of its value. */
export function redact(text: string, secrets: GivenSecrets): string {
  const named = new Map(formsOf(secrets));
  if (named.size === 0) return text;
  return text.replace(patternOf(named.keys()), (value) => `[secret ${named.get(value)}]`);
}

/**
 * What a command has said, for the model to read. Where something was left out, the cut may run through a secret: what is
 * left of it on either side is taken away too.
 */
export function redactCaptured(
  { head, tail, leftOut }: Captured,
  secrets: GivenSecrets,
  maxCharacters: number,
): string {
  const [begin, end] = [textOf(head), textOf(tail)];
  const whole = leftOut === 0 ? textOf(Buffer.concat([head, tail])) : null;
  if (whole !== null && whole.length <= maxCharacters) return redact(whole, secrets);
  const each = Math.floor(maxCharacters / 2);
  // A character that the cut ran through reads as another, which would hide the beginning of a secret before it.
  const [before, after] = [whole ?? begin.replace(/\ufffd+$/, ''), whole ?? end.replace(/^\ufffd+/, '')];
  const first = withoutBegun(redact(before.slice(0, each * 2), secrets), secrets).slice(0, each);
  const last = withoutRest(redact(after.slice(-each * 2), secrets), secrets).slice(-each);
  const gone = leftOut > 0 ? `${leftOut} bytes and more` : 'A part';
  return `${first.toWellFormed()}\n[${gone} left out here]\n${last.toWellFormed()}`;
}

/** A part of a longer text: a secret that runs over one of its ends is taken away there. */
export function redactPart(text: string, secrets: GivenSecrets, ends: { isFirst: boolean; isLast: boolean }): string {
  const begun = ends.isFirst ? redact(text, secrets) : withoutRest(redact(text, secrets), secrets, tellingLength);
  return ends.isLast ? begun : withoutBegun(begun, secrets, tellingLength);
}

/** One letter that a secret shares with any text tells nothing, and would be missing in the text. */
const tellingLength = 2;

/** The first of the secrets whose value stands in the bytes. */
export function secretIn(bytes: Uint8Array, secrets: GivenSecrets): string | null {
  const text = Buffer.from(bytes);
  return formsOf(secrets).find(([value]) => text.includes(value))?.[1] ?? null;
}

/** As it is stored, and without the white space at its ends, which a secret kept from a file often has. */
function formsOf(secrets: GivenSecrets): [string, string][] {
  return secrets
    .flatMap(({ name, value }): [string, string][] => [
      [value, name],
      [value.trim(), name],
    ])
    .filter(([value]) => value.length >= shortest)
    .sort(([one], [other]) => other.length - one.length);
}

/** The longest first: one secret may hold another. */
function patternOf(values: Iterable<string>): RegExp {
  return new RegExp([...values].map((value) => value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'gu');
}

/** Without the beginning of a secret at the end of the text. */
function withoutBegun(text: string, secrets: GivenSecrets, least = 1): string {
  return withoutHalves(text, secrets, least, {
    isThere: (left, value, length) => left.endsWith(value.slice(0, length)),
    without: (left, length) => left.slice(0, left.length - length),
  });
}

/** Without the rest of a secret at the beginning of the text. */
function withoutRest(text: string, secrets: GivenSecrets, least = 1): string {
  return withoutHalves(text, secrets, least, {
    isThere: (left, value, length) => left.startsWith(value.slice(-length)),
    without: (left, length) => left.slice(length),
  });
}

type Side = {
  isThere: (left: string, value: string, length: number) => boolean;
  without: (left: string, length: number) => string;
};

/** What comes to stand at the cut when a half is gone may read like one itself: it goes too. */
function withoutHalves(text: string, secrets: GivenSecrets, least: number, { isThere, without }: Side): string {
  const values = formsOf(secrets).map(([value]) => value);
  let left = text;
  for (let shortestHalf = least; ; shortestHalf = tellingLength) {
    const cut = Math.max(0, ...values.map((value) => overlap(left, value, shortestHalf, isThere)));
    if (cut === 0) return left;
    left = without(left, cut);
  }
}

function overlap(text: string, value: string, least: number, isThere: Side['isThere']): number {
  for (let length = Math.min(value.length - 1, text.length); length >= least; length--) {
    if (isThere(text, value, length)) return length;
  }
  return 0;
}

const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(bytes);
