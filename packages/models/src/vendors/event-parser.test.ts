import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEventParser } from './event-parser.ts';
import { Unreadable } from './fault.ts';

const words = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', ' the', '"', '\\', '\n', '","text":"', 'content'),
);
const others = fc.constantFrom(
  {},
  { content: '' },
  { content: 'a', text: 'b' },
  { refusal: null },
  { role: 'assistant' },
);
/** The shapes of a stream's events, also those in which the text is not where it is expected. */
const shapes = fc.constantFrom(
  (text: string, other: object) => ({ id: '1', choices: [{ index: 0, delta: { ...other, content: text } }] }),
  (text: string, other: object) => ({
    first: other,
    choices: [{ delta: { content: text }, finish_reason: null }],
    text,
  }),
  (text: string, other: object) => ({ choices: [{ delta: other, message: { content: text } }] }),
  (text: string, other: object) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text, ...other },
  }),
  (text: string, other: object) => ({ content: text, delta: other }),
  (text: string) => ({ type: 'response.output_text.delta', delta: text }),
  (text: string) => text,
);
const spacings = fc.constantFrom<number | undefined>(undefined, 1);

describe('the parser of the events of a stream', () => {
  it('returns what JSON.parse returns, for every event after any others', () => {
    const events = fc.tuple(shapes, others, words, spacings);
    const streams = fc.oneof(
      fc.array(events),
      // As real streams are: one shape, and texts.
      fc
        .tuple(shapes, others, fc.array(words), spacings)
        .map(([shape, other, texts, spacing]) => texts.map((text) => [shape, other, text, spacing] as const)),
    );
    fc.assert(
      fc.property(streams, (stream) => {
        const parse = createEventParser();
        for (const [shape, other, text, spacing] of stream) {
          const data = JSON.stringify(shape(text, other), null, spacing);
          expect(parse(data)).toStrictEqual(JSON.parse(data));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('returns the object of the event before if only the text differs', () => {
    const parse = createEventParser();
    const event = (content: string) => JSON.stringify({ choices: [{ delta: { content }, finish_reason: null }] });
    const first = parse(event('One'));
    expect(parse(event(' two'))).toBe(first);
    expect(first).toEqual({ choices: [{ delta: { content: ' two' }, finish_reason: null }] });
    expect(parse(event(' "three"'))).not.toBe(first);
    expect(parse(event(' four'))).toBe(first);
  });

  it('rejects what is not JSON, also if it begins and ends like the event before', () => {
    const parse = createEventParser();
    parse('{"delta":{"text":"a"}}');
    expect(() => parse('{"delta":{"text":"a\n"}}')).toThrow(Unreadable);
    expect(() => parse('{"delta":{"text":"a" "b"}}')).toThrow(Unreadable);
    expect(() => parse('{"delta":{"text":"}}')).toThrow(Unreadable);
  });
});
