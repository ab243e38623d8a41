import { trimEndOf } from '@vestra/contract/trim-end';
import type { Captured } from '../platform/sandbox/confined-process.ts';
import { createRedactor, formsOf, type HiddenValue } from '../platform/secrets/redact.ts';

/** The secrets that a command received, with their names. */
export type CommandSecrets = readonly { name: string; value: string }[];

/** Replaces the value of each secret by its name, also if it is encoded. */
export function redact(text: string, secrets: CommandSecrets): string {
  return createRedactor(hidden(secrets))(text);
}

const hidden = (secrets: CommandSecrets): HiddenValue[] =>
  secrets.map(({ name, value }) => ({ value, mark: `[secret ${name}]` }));

/**
 * The output of a command for the model. If output was dropped, a secret may be cut in two; the halves are removed too.
 */
export function redactCaptured(
  { head, tail, leftOut }: Captured,
  secrets: CommandSecrets,
  maxCharacters: number,
): string {
  const [begin, end] = [textOf(head), textOf(tail)];
  const whole = leftOut === 0 ? textOf(Buffer.concat([head, tail])) : null;
  if (whole !== null && whole.length <= maxCharacters) return redact(whole, secrets);
  const each = Math.floor(maxCharacters / 2);
  // A cut character decodes to U+FFFD, which would hide the start of a secret before it.
  const [before, after] = [whole ?? trimEndOf(begin, '\ufffd'), whole ?? end.replace(/^\ufffd+/, '')];
  const first = withoutBegun(redact(before.slice(0, each * 2), secrets), secrets).slice(0, each);
  const last = withoutRest(redact(after.slice(-each * 2), secrets), secrets).slice(-each);
  const gone = leftOut > 0 ? `${leftOut} bytes and more` : 'A part';
  return `${first.toWellFormed()}\n[${gone} left out here]\n${last.toWellFormed()}`;
}

/** Part of a longer text. Removes the half of a secret at each end that is not an end of the whole text. */
export function redactPart(text: string, secrets: CommandSecrets, ends: { isFirst: boolean; isLast: boolean }): string {
  const begun = ends.isFirst ? redact(text, secrets) : withoutRest(redact(text, secrets), secrets, tellingLength);
  return ends.isLast ? begun : withoutBegun(begun, secrets, tellingLength);
}

/** A single shared letter reveals nothing, and removing it would damage the text. */
const tellingLength = 2;

/** The half of an encoded secret must be longer than text that begins in the same way by chance. */
const tellingEncoded = 4;

/** The name of the first secret whose value is in the bytes, also if it is encoded. */
export function findSecret(bytes: Uint8Array, secrets: CommandSecrets): string | null {
  const text = Buffer.from(bytes);
  const named = secrets.map(({ name, value }) => ({ value, mark: name }));
  return formsOf(named).find((form) => text.includes(form.text))?.mark ?? null;
}

/** Removes the start of a secret at the end of the text. */
function withoutBegun(text: string, secrets: CommandSecrets, least = 1): string {
  return withoutHalves(text, secrets, least, {
    isThere: (left, value, length) => left.endsWith(value.slice(0, length)),
    without: (left, length) => left.slice(0, left.length - length),
  });
}

/** Removes the rest of a secret at the start of the text. */
function withoutRest(text: string, secrets: CommandSecrets, least = 1): string {
  return withoutHalves(text, secrets, least, {
    isThere: (left, value, length) => left.startsWith(value.slice(-length)),
    without: (left, length) => left.slice(length),
  });
}

type Side = {
  isThere: (left: string, value: string, length: number) => boolean;
  without: (left: string, length: number) => string;
};

/** Repeats, because removing a half may expose another one. */
function withoutHalves(text: string, secrets: CommandSecrets, least: number, { isThere, without }: Side): string {
  const forms = formsOf(hidden(secrets));
  let left = text;
  for (let shortestHalf = least; ; shortestHalf = tellingLength) {
    const cut = Math.max(
      0,
      ...forms.map(({ text: value, isEncoded }) =>
        overlap(left, value, isEncoded ? tellingEncoded : shortestHalf, isThere),
      ),
    );
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
