import { describe, expect, it } from 'vitest';
import { pauseAfter, readEndpointAnswer } from './serve-endpoints.ts';

const read = (status: number, body = '') => readEndpointAnswer(status, Buffer.from(body));
const failed = { kind: 'answered', answer: { error: 'The function failed.' }, fault: expect.any(String) };

describe('what an address answers', () => {
  it.each([
    ['an output', 200, '{"output":{"sheets":7}}', { output: { sheets: 7 } }],
    ['an output of null', 200, '{"output":null}', { output: null }],
    ['nothing', 204, '', { output: null }],
    ['an error', 201, '{"error":"No such order."}', { error: 'No such order.' }],
  ])('is %s', (_, status, body, answer) => {
    expect(read(status, body)).toEqual({ kind: 'answered', answer, fault: null });
  });

  it.each([
    ['no JSON', 200, '<html>'],
    ['neither', 200, '{"ok":true}'],
    ['both', 200, '{"output":1,"error":"no"}'],
    ['an error that is none', 200, '{"error":{"sql":"SELECT"}}'],
    ['a list', 200, '[1]'],
    ['a redirect', 302, '{"output":1}'],
    ['a refusal', 404, '{"output":1}'],
  ])('fails permanently with %s and reveals nothing of it', (_, status, body) => {
    expect(read(status, body)).toEqual(failed);
  });

  it.each([500, 503, 408, 425, 429])('is requested again after %i', (status) => {
    expect(read(status, '{"output":1}')).toEqual({ kind: 'again', fault: `The address answered ${status}.` });
  });

  it('can arrive later over the API', () => expect(read(202)).toEqual({ kind: 'later' }));

  it('is requested with growing pauses', () => {
    expect([1, 2, 3, 6, 7, 99].map(pauseAfter)).toEqual([1, 2, 5, 30, 30, 30]);
  });
});
