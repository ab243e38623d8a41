import { globSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { alone, slow } from '../vitest.config.ts';

/** Each alternative of each brace: `a/{b,c}.test.ts` is `a/b.test.ts` and `a/c.test.ts`. */
function expanded(pattern: string): string[] {
  const [before, inner, after] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern)?.slice(1) ?? [];
  if (before === undefined || inner === undefined || after === undefined) return [pattern];
  return inner.split(',').flatMap((each) => expanded(`${before}${each}${after}`));
}

describe('the groups of test files in vitest.config.ts', () => {
  // A file that was renamed would otherwise run in a shared process without anybody noticing.
  it.each([...alone, ...slow].flatMap(expanded))('%s matches a file', (pattern) => {
    const found = globSync(pattern, { exclude: (name) => name === 'node_modules' });
    expect(found.length).toBeGreaterThan(0);
  });
});
