import { describe, expect, it } from 'vitest';
import { isDatabaseUnreachable } from './unreachable.ts';

const lost = () => Object.assign(new Error('The connection is lost.'), { code: 'ECONNRESET' });
const broken = () => new Error('It broke.');

describe('an error means that the database is unreachable', () => {
  it.each([
    ['if its code says so', lost(), true],
    ['if its cause says so', new Error('The query failed.', { cause: lost() }), true],
    ['if each of several errors says so', new AggregateError([lost(), lost()]), true],
    ['but not if one of several does not', new AggregateError([lost(), broken()]), false],
    ['but not if it contains no error', new AggregateError([]), false],
    ['but not if nothing says so', broken(), false],
    ['but not if it is no error', 'ECONNRESET', false],
  ])('%s', (_when, error, expected) => {
    expect(isDatabaseUnreachable(error)).toBe(expected);
  });
});
