import { z } from 'zod';

/** Every id is `<prefix>_` and 24 characters of Crockford base32: 50 bits of time, then 70 random bits. */
const prefixes = {
  org: 'an org',
  dep: 'a deployment',
  scn: 'a scenario',
  trun: 'a test run',
  rpl: 'a replay of talks',
  imp: 'an improvement',
  nb: 'a notebook',
  doc: 'a document',
  skl: 'a skill of the org',
  mcp: 'an MCP server',
  conv: 'a conversation',
  turn: 'a turn: a message and what came of it',
  msg: 'a message',
  fbk: 'what somebody said of an answer',
  ins: 'a group of conversations in which the same went wrong',
  task: 'a task',
  int: 'an interaction',
  call: 'a call of one of your own functions',
  bat: 'a batch',
  rtn: 'a routine',
  mem: 'a remembered fact',
  file: 'a file',
  ses: 'a session',
  whk: 'a webhook endpoint',
  whd: 'a delivery to a webhook endpoint',
  evt: 'an event',
  key: 'an API key',
  grant: 'an MCP client that was let in',
  mbr: 'a member',
  cses: 'a sign-in to the console',
  pky: 'a passkey of a member',
  con: 'a connection to an app',
  req: 'a request',
  li: 'a charge',
  aud: 'an entry of the audit log',
} as const;

export type IdPrefix = keyof typeof prefixes;
export const idPrefixes = Object.keys(prefixes) as IdPrefix[];

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const timeLength = 10;
const chanceLength = 14;
const freshLength = 10;

let clock = (): number => Date.now();
let lastMillisecond = 0;
let lastChance = new Uint8Array(chanceLength);
let chances = new Uint8Array();

/** Processes whose ids must sort in order of creation share one clock. */
export function setIdClock(now: () => number): void {
  clock = now;
}

/** Ids created by one process sort in order of creation, also within a millisecond. */
export function newId(prefix: IdPrefix): string {
  const now = clock();
  if (now > lastMillisecond) {
    lastMillisecond = now;
    lastChance = nextChance();
    // The top bit stays clear, so that incrementing within a millisecond cannot overflow.
    lastChance[0] = (lastChance[0] as number) & 15;
  } else {
    countUp(lastChance);
  }
  return `${prefix}_${encodeTime(lastMillisecond)}${encodeDigits(lastChance)}`;
}

/** Generated for many ids at once, because random bytes are the slowest part of an id. */
function nextChance(): Uint8Array<ArrayBuffer> {
  if (chances.length === 0) chances = crypto.getRandomValues(new Uint8Array(chanceLength * 128));
  const chance = chances.slice(0, chanceLength).map((byte) => byte & 31);
  chances = chances.subarray(chanceLength);
  return chance;
}

function countUp(digits: Uint8Array): void {
  for (let at = digits.length - 1; at >= 0; at--) {
    if ((digits[at] as number) < 31) {
      digits[at] = (digits[at] as number) + 1;
      return;
    }
    digits[at] = 0;
  }
}

function encodeTime(time: number): string {
  let text = '';
  let rest = time;
  for (let at = 0; at < timeLength; at++) {
    text = alphabet[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

function encodeDigits(digits: Uint8Array): string {
  let text = '';
  for (const digit of digits) text += alphabet[digit];
  return text;
}

/**
 * Another id of the same moment that sorts directly after this one, for an object that replaces another in lists sorted
 * by id. The random part before the last ten digits is incremented, the rest is new.
 */
export function idAfter(id: string): string {
  const kept = id.length - chanceLength;
  const digits = Uint8Array.from(id.slice(kept), (digit) => alphabet.indexOf(digit));
  const fixed = digits.slice(0, chanceLength - freshLength);
  countUp(fixed);
  const fresh = crypto.getRandomValues(new Uint8Array(freshLength)).map((byte) => byte & 31);
  return id.slice(0, kept) + encodeDigits(fixed) + encodeDigits(fresh);
}

/** The start of ids of this moment: it sorts before each of them, and after the ids of every earlier moment. */
export const idOfTime = (prefix: IdPrefix, time: number): string => `${prefix}_${encodeTime(Math.max(0, time))}`;

/** The moment in an id, in milliseconds. */
export const timeOfId = (id: string): number => {
  const start = id.indexOf('_') + 1;
  return [...id.slice(start, start + timeLength)].reduce((sum, digit) => sum * 32 + alphabet.indexOf(digit), 0);
};

/** Returns the same id for the same digest, for objects that may be created twice. It contains no time. */
export const idOfDigest = (prefix: IdPrefix, digest: Uint8Array): string =>
  `${prefix}_${encodeDigits(digest.slice(0, timeLength + chanceLength).map((byte) => byte & 31))}`;

export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{24}$`);

/** A string field or path parameter with an id of this prefix. */
export const id = (prefix: IdPrefix) =>
  z
    .string()
    .regex(idPattern(prefix), `Must look like ${prefix}_ followed by 24 characters: copy the whole id.`)
    .describe(`The id of ${prefixes[prefix]}, \`${prefix}_\` and 24 characters.`);
