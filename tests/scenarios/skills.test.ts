import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const skillFile = { path: 'SKILL.md', content: '---\nname: a-skill\ndescription: Does one thing.\n---\nHow.' };
const make = (files: { path: string; content: string }[]) => server.call('POST', '/v1/skills', { body: { files } });

describe('a NUL character', () => {
  it("makes a skill's file binary, and nothing is stored [SKL-026]", async () => {
    const answer = await make([skillFile, { path: 'notes.txt', content: 'a\0b' }]);
    expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([
      400,
      'binary_file',
      'files.1.content',
    ]);
    expect((await server.call('GET', '/v1/skills')).body.data).toEqual([]);
  });

  it('in a path is no path', async () => {
    const answer = await make([skillFile, { path: 'a\0b', content: 'x' }]);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_skill']);
  });
});
