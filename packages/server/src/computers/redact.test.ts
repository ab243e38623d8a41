import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSecret, redact, redactCaptured, redactPart } from './redact.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const none = Buffer.alloc(0);
const secrets = [
  { name: 'TOKEN', value: 'tok-12345' },
  { name: 'LONG', value: 'tok-12345-and-more' },
  { name: 'FILE', value: 'from a file\n' },
  { name: 'SHORT', value: 'abc' },
];

describe('a text with a secret', () => {
  it.each([
    ['a tok-12345 b', 'a [secret TOKEN] b'],
    ['tok-12345tok-12345', '[secret TOKEN][secret TOKEN]'],
    ['x tok-12345-and-more', 'x [secret LONG]'],
    ['from a file', '[secret FILE]'],
    ['abc abc', 'abc abc'],
    ['nothing', 'nothing'],
  ])('%j becomes %j', (text, expected) => {
    expect(redact(text, secrets)).toBe(expected);
  });

  it('is recognised in bytes too', () => {
    expect(findSecret(Buffer.concat([Buffer.from([0, 255]), bytes('tok-12345')]), secrets)).toBe('TOKEN');
    expect(findSecret(bytes('tok-1234'), secrets)).toBeNull();
  });
});

describe('the output of a command', () => {
  const long = [{ name: 'API', value: 'key-of-the-api-4711' }];
  const basic = Buffer.from(`me:${long[0]?.value}`).toString('base64');

  it('shows no encoded secret, and no half of one at a cut [HRD-704]', () => {
    const printed = bytes(`> Authorization: Basic ${basic}\n`);
    expect(redactCaptured({ head: printed, tail: none, leftOut: 0 }, long, 1_000)).toMatch(/Basic .{4}\[secret API\]/);
    const half = basic.slice(4, 16);
    const cut = redactCaptured({ head: bytes(`x ${half}`), tail: bytes('y'), leftOut: 9 }, long, 1_000);
    expect(cut).toMatch(/^x \n\[9 bytes/);
    expect(findSecret(bytes(basic), long)).toBe('API');
  });
});

/** Letters that no mark contains, so that a mark never forms a secret. */
const letter = fc.constantFrom('a', 'b', 'q', '$', '(', '\\', 'ü', '😀');
const value = fc.array(letter, { minLength: 4, maxLength: 9 }).map((letters) => letters.join(''));
const some = fc.array(value, { minLength: 1, maxLength: 4 });
const given = (values: readonly string[]) => values.map((each, at) => ({ name: `N${at}`, value: each }));
const textWith = (values: readonly string[]) =>
  fc.array(fc.oneof(letter, fc.constantFrom(...values)), { maxLength: 40 }).map((parts) => parts.join(''));
const case_ = some.chain((values) => fc.tuple(fc.constant(values), textWith(values)));

describe('redaction of any text', () => {
  it('leaves no secret', () => {
    fc.assert(
      fc.property(case_, ([values, text]) => {
        const left = redact(text, given(values));
        for (const each of values) expect(left).not.toContain(each);
      }),
      { numRuns: 500 },
    );
  });

  it('leaves no secret and no half of one, wherever the text was cut', () => {
    fc.assert(
      fc.property(case_, fc.nat(60), fc.nat(60), fc.integer({ min: 2, max: 80 }), ([values, text], one, two, most) => {
        const whole = bytes(text);
        const [head, tail] = [whole.subarray(0, one), whole.subarray(Math.max(one, whole.length - two))];
        const leftOut = whole.length - head.length - tail.length;
        const shown = redactCaptured({ head, tail, leftOut }, given(values), most);
        for (const each of values) {
          expect(shown).not.toContain(each);
          if (leftOut === 0) continue;
          const [begin = '', end = ''] = shown.split(/\n\[.* left out here\]\n/);
          expect(hasHalf({ begin, end }, each, text)).toBe(false);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('leaves at most one letter of a secret that crosses two parts', () => {
    const cases = some.chain((values) =>
      fc.tuple(fc.constant(values), textWith(values), fc.constantFrom(...values), textWith(values)),
    );
    fc.assert(
      fc.property(cases, fc.integer({ min: 1, max: 8 }), ([values, before, secret, after], at) => {
        const cut = Math.min(at, secret.length - 1);
        const [begun, rest] = [secret.slice(0, cut), secret.slice(cut)];
        const first = redactPart(before + begun, given(values), { isFirst: true, isLast: false });
        const last = redactPart(rest + after, given(values), { isFirst: false, isLast: true });
        for (const each of values) expect(first + last).not.toContain(each);
        // The replacement may read the same by chance if the text before it does.
        if (begun.length > 1) expect(first === redact(before, given(values)) + begun).toBe(false);
        if (rest.length > 1) expect(last === rest + redact(after, given(values))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps the whole text if it was cut beside a secret', () => {
    const ends = { isFirst: true, isLast: false };
    expect(redactPart('a t', secrets, ends)).toBe('a t');
    expect(redactPart('a tok', secrets, ends)).toBe('a ');
    expect(redactPart('5 b', secrets, { isFirst: false, isLast: true })).toBe('5 b');
    expect(redactPart('12345 b', secrets, { isFirst: false, isLast: true })).toBe(' b');
    expect(redactPart('12345 tok', secrets, { isFirst: true, isLast: true })).toBe('12345 tok');
  });
});

/** Whether all but one letter of a secret from the text is at the cut, on either side. */
function hasHalf({ begin, end }: { begin: string; end: string }, secret: string, text: string): boolean {
  if (!text.includes(secret)) return false;
  return begin.endsWith(secret.slice(0, -1)) || end.startsWith(secret.slice(1));
}

it('states how much was left out, and respects the limit', () => {
  const shown = redactCaptured({ head: bytes('begin'), tail: bytes('end'), leftOut: 7 }, [], 100);
  expect(shown).toBe('begin\n[7 bytes and more left out here]\nend');
  const long = redactCaptured({ head: bytes('x'.repeat(500)), tail: none, leftOut: 0 }, [], 100);
  expect(long).toBe(`${'x'.repeat(50)}\n[A part left out here]\n${'x'.repeat(50)}`);
});
