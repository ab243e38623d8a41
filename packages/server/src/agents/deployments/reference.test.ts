import { describe, expect, it } from 'vitest';
import { readReference } from './find.ts';

describe('a reference', () => {
  it.each([
    ['desk', [['desk', null]]],
    ['Support desk', [['Support desk', null]]],
    ['dep_01hzy8q4v6m2c7k9x3w5b1n0', [['dep_01hzy8q4v6m2c7k9x3w5b1n0', null]]],
    [
      'desk@3',
      [
        ['desk', 3],
        ['desk@3', null],
      ],
    ],
    [
      'team@acme@12',
      [
        ['team@acme', 12],
        ['team@acme@12', null],
      ],
    ],
    [
      'desk@999999999',
      [
        ['desk', 999_999_999],
        ['desk@999999999', null],
      ],
    ],
    ['desk@1234567890', [['desk@1234567890', null]]],
    ['desk@0', [['desk@0', null]]],
    ['desk@03', [['desk@03', null]]],
    ['desk@-1', [['desk@-1', null]]],
    ['desk@3.5', [['desk@3.5', null]]],
    ['desk@latest', [['desk@latest', null]]],
    ['desk@', [['desk@', null]]],
    ['@3', [['@3', null]]],
  ] as const)('%s', (text, readings) => {
    expect(readReference(text).map(({ deployment, version }) => [deployment, version])).toEqual(readings);
  });
});
