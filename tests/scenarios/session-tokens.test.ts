import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function makeSession(minutes: number): Promise<{ id: string; token: string }> {
  const id = newId('ses');
  const token = `vst_${randomBytes(32).toString('base64url')}`;
  await query(
    server.connectionString,
    `INSERT INTO sessions (id, org_id, mode, user_id, token_hash, chat, screen, memory, driver, expires_at)
     VALUES ($1, $2, 'test', 'ada', $3, true, 'false', false, 'bash', now() + $4 * interval '1 minute')`,
    [id, server.orgId, createHash('sha256').update(token).digest(), minutes],
  );
  return { id, token };
}

const codeFor = async (token: string) => (await server.call('GET', '/v1/me', { key: token })).body.error.code;

describe('a session token', () => {
  it('that is live opens no account route [AUTH-017, AUTH-029]', async () => {
    const { token } = await makeSession(15);
    for (const path of ['/v1/me', '/v1/org', '/v1/keys', '/v1/usage', '/v1/deployments', '/v1/conversations']) {
      const answer = await server.call('GET', path, { key: token });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 403, 'session_scope']);
    }
  });

  it('past its time is expired [AUTH-025]', async () => {
    expect(await codeFor((await makeSession(-1)).token)).toBe('session_expired');
  });

  it('of a revoked session is revoked, at once [AUTH-026]', async () => {
    const { id, token } = await makeSession(15);
    expect(await codeFor(token)).toBe('session_scope');
    await query(server.connectionString, 'UPDATE sessions SET revoked_at = now() WHERE id = $1', [id]);
    expect(await codeFor(token)).toBe('session_revoked');
  });
});
