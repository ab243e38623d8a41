import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { routes } from '@vestra/contract/api';
import { openapi } from '@vestra/contract/derive/openapi';
import { idPattern, idPrefixes, newId } from '@vestra/contract/ids';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fittingBody, pathOf } from '../support/paths.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe('routes without a handler', () => {
  it('are none [ERR-018]', async () => {
    const unhandled: string[] = [];
    for (const { name, route } of routes) {
      if (route.auth === 'session' || route.auth === 'console') continue;
      const multipart = route.accepts?.length === 1 && route.accepts[0] === 'multipart/form-data';
      const answer = await server.call(route.method, `${pathOf(route)}${queries[name] ?? ''}`, {
        ...(multipart ? { raw: oneFile() } : route.body && !route.bodyOptional ? { body: fittingBody(name) } : {}),
      });
      if (answer.status === 501) unhandled.push(name);
    }
    expect(unhandled).toEqual([]);
  });
});

describe('the description', () => {
  type Operation = { operationId: string; parameters?: { name: string; in: string }[]; security?: object[] };
  const description = JSON.parse(JSON.stringify(openapi({ version: '1.0.0', url: 'https://vestra.example' })));

  it('is OpenAPI 3.1 by its own schema, with every reference in place', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(description));
    expect([valid, errors, validator.version]).toEqual([true, undefined, '3.1']);
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it('gives each operation a name of its own and exactly the parameters of its path', () => {
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
  it('are a prefix and 24 characters, and sort as they were made [TEN-001, TEN-002]', () => {
    fc.assert(
      fc.property(fc.constantFrom(...idPrefixes), fc.integer({ min: 2, max: 50 }), (prefix, count) => {
        const made = Array.from({ length: count }, () => newId(prefix));
        for (const id of made) expect(id).toMatch(idPattern(prefix));
        expect([...made].sort()).toEqual(made);
        expect(new Set(made).size).toBe(count);
      }),
    );
    expect(`${idPrefixes.join('_ ')}_`).toBe(
      'org_ dep_ scn_ trun_ rpl_ nb_ doc_ skl_ mcp_ conv_ turn_ msg_ fbk_ task_ int_ call_ bat_ rtn_ mem_ file_ ses_ whk_ whd_ evt_ key_ grant_ mbr_ cses_ pky_ con_ req_ li_ aud_',
    );
  });
});

describe('the changelog', () => {
  it('tells changes with their dates [REQ-056]', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/changelog.md'), 'utf8');
    expect(text).toMatch(/^## \d+\.\d+\.\d+ · \d{4}-\d\d-\d\d$/m);
  });
});

function oneFile(): FormData {
  const form = new FormData();
  form.set('file', new File(['text'], 'note.txt', { type: 'text/plain' }));
  return form;
}

const queries: Record<string, string> = { 'memory.search': '?q=a', 'browser.cookies': '?domain=example.com&names=a' };
