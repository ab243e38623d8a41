import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openapi } from '@vestra/contract/derive/openapi';
import { idPattern, idPrefixes, newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

describe('the OpenAPI description', () => {
  type Operation = { operationId: string; parameters?: { name: string; in: string }[]; security?: object[] };
  const description = JSON.parse(JSON.stringify(openapi({ version: '1.0.0', url: 'https://vestra.example' })));

  it('is valid OpenAPI 3.1, and every reference resolves', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(description));
    expect([valid, errors, validator.version]).toEqual([true, undefined, '3.1']);
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it('gives each operation a unique name and exactly the parameters of its path', () => {
    const paths = Object.entries<Record<string, Operation>>(description.paths);
    const names = paths.flatMap(([, methods]) => Object.values(methods).map(({ operationId }) => operationId));
    expect(new Set(names).size).toBe(names.length);
    for (const [path, methods] of paths) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      for (const { parameters = [] } of Object.values(methods)) {
        expect(parameters.filter((each) => each.in === 'path').map(({ name }) => name)).toEqual(inPath);
      }
    }
  });
});

describe('ids', () => {
  it('are a prefix and 24 characters, and sort by creation [TEN-001, TEN-002]', () => {
    fc.assert(
      fc.property(fc.constantFrom(...idPrefixes), fc.integer({ min: 2, max: 50 }), (prefix, count) => {
        const made = Array.from({ length: count }, () => newId(prefix));
        for (const id of made) expect(id).toMatch(idPattern(prefix));
        expect([...made].sort()).toEqual(made);
        expect(new Set(made).size).toBe(count);
      }),
    );
    expect(`${idPrefixes.join('_ ')}_`).toBe(
      'org_ dep_ scn_ trun_ rpl_ imp_ nb_ doc_ skl_ mcp_ conv_ turn_ msg_ fbk_ ins_ task_ int_ call_ bat_ rtn_ mem_ file_ ses_ whk_ whd_ evt_ key_ grant_ mbr_ cses_ pky_ con_ req_ li_ aud_',
    );
  });
});

describe('the changelog', () => {
  it('lists versions with their dates [REQ-056]', () => {
    const text = readFileSync(join(import.meta.dirname, '../docs/changelog.md'), 'utf8');
    expect(text).toMatch(/^## \d+\.\d+\.\d+ · \d{4}-\d\d-\d\d$/m);
  });
});
