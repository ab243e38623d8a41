import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { bytes, moment } from '../../platform/db/table.ts';
import { signingSecrets } from './signatures.ts';
import { startWebhooks } from './webhooks.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;
type Org = Awaited<ReturnType<Server['newOrg']>>;
type Endpoint = { id: string; secret: string };
const secretColumns = { sealed_secret: bytes(), valid_until: moment().nullable() };

let server: Server;
let org: Org;

beforeAll(async () => {
  server = await startWebhooks();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const create = async (headers = {}): Promise<Endpoint> => {
  const body = { url: 'https://hooks.example.com/in', events: '*' };
  return (await server.call('POST', '/v1/webhooks', { key: org.key, body, headers })).body;
};
const roll = ({ id }: Endpoint, headers = {}) =>
  server.call('POST', `/v1/webhooks/${id}/roll-secret`, { key: org.key, headers });
const secretsOf = ({ id }: Endpoint) =>
  rowsOf(
    server.db,
    secretColumns,
    sql`SELECT sealed_secret, valid_until FROM webhook_secrets WHERE endpoint_id = ${id}
        ORDER BY valid_until NULLS FIRST`,
  );
const signedWith = ({ id }: Endpoint) => signingSecrets(server.db, server.vault, { id, org_id: org.id, mode: 'test' });
/** Lets the rolled secrets expire earlier, as if this much time had passed. */
const pass = ({ id }: Endpoint, time: string) =>
  run(
    server.db,
    sql`UPDATE webhook_secrets SET valid_until = valid_until - ${time}::interval WHERE endpoint_id = ${id}`,
  );

describe('rolling', () => {
  it('returns the endpoint with a new secret, which is shown once [WHK-002, WHK-012]', async () => {
    const made = await create();
    await run(server.db, sql`UPDATE webhook_endpoints SET updated_at = updated_at - interval '1 hour'`);
    const { status, body } = await roll(made);
    const { secret, ...endpoint } = body;
    expect([status, body.id]).toEqual([200, made.id]);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(secret).not.toBe(made.secret);
    expect(Date.parse(endpoint.updated_at)).toBeGreaterThan(Date.now() - 60_000);
    const shown = await server.call('GET', `/v1/webhooks/${made.id}`, { key: org.key });
    expect(shown.body).toEqual(endpoint);
  });

  it('keeps the old secret valid for 24 hours and no longer [WHK-012]', async () => {
    const made = await create();
    expect(await signedWith(made)).toEqual([made.secret]);
    const { secret } = (await roll(made)).body;
    expect(await signedWith(made)).toEqual([secret, made.secret]);
    await pass(made, '23 hours 59 minutes');
    expect(await signedWith(made)).toEqual([secret, made.secret]);
    await pass(made, '1 minute');
    expect(await signedWith(made)).toEqual([secret]);
  });

  it('keeps each old secret valid for its own 24 hours, however many rolls follow [WHK-012]', async () => {
    const made = await create();
    const second = (await roll(made)).body.secret;
    await pass(made, '20 hours');
    const third = (await roll(made)).body.secret;
    expect(await signedWith(made)).toEqual([third, second, made.secret]);
    await pass(made, '5 hours');
    expect(await signedWith(made)).toEqual([third, second]);
    const fourth = (await roll(made)).body.secret;
    expect(await signedWith(made)).toEqual([fourth, third, second]);
    expect(await secretsOf(made)).toHaveLength(3);
  });

  it('is refused while nine old secrets are valid, until the first expires', async () => {
    const made = await create();
    await roll(made);
    await pass(made, '1 hour');
    for (let count = 0; count < 8; count++) expect((await roll(made)).status).toBe(200);
    const inForce = await signedWith(made);
    const refused = await roll(made);
    expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
    const hour = 3_600_000;
    expect(refused.body.error.retry_after_ms).toBeGreaterThan(23 * hour - 60_000);
    expect(refused.body.error.retry_after_ms).toBeLessThanOrEqual(23 * hour);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(22 * 3600);
    expect(await signedWith(made)).toEqual(inForce);
    expect(inForce).toHaveLength(10);
    await pass(made, '23 hours');
    expect((await roll(made)).status).toBe(200);
  });

  it('leaves one current secret after concurrent rolls, and all others valid', async () => {
    const made = await create();
    const rolled = await Promise.all(Array.from({ length: 4 }, async () => (await roll(made)).body.secret as string));
    const inForce = await signedWith(made);
    expect([...inForce].sort()).toEqual([made.secret, ...rolled].sort());
    expect((await secretsOf(made)).filter(({ valid_until }) => valid_until === null)).toHaveLength(1);
  });
});

describe('a retry with the same key', () => {
  it('creates one endpoint and shows its secret again, which is stored encrypted [IDEM-003, IDEM-015]', async () => {
    const headers = { 'idempotency-key': 'create-once' };
    const made = await create(headers);
    expect(await create(headers)).toEqual(made);
    expect(await signedWith(made)).toEqual([made.secret]);
    await assertKeptSealed('create-once', made.secret);
  });

  it('rolls once [IDEM-003, IDEM-015]', async () => {
    const made = await create();
    const headers = { 'idempotency-key': 'roll-once' };
    const first = await roll(made, headers);
    const second = await roll(made, headers);
    expect([second.text, second.headers.get('idempotent-replayed')]).toEqual([first.text, 'true']);
    expect(await signedWith(made)).toEqual([first.body.secret, made.secret]);
    await assertKeptSealed('roll-once', first.body.secret);
  });

  async function assertKeptSealed(key: string, secret: string) {
    const rows = await rowsOf(
      server.db,
      { answer: bytes() },
      sql`SELECT answer FROM idempotency_keys WHERE key = ${key}`,
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.answer.includes(secret)).toBe(false);
  }
});

describe('at rest', () => {
  it('stores only ciphertext of a secret', async () => {
    const made = await create();
    await roll(made);
    for (const { sealed_secret } of await secretsOf(made)) {
      expect(sealed_secret).toHaveLength(12 + 16 + made.secret.length);
      expect(sealed_secret.includes('whsec_')).toBe(false);
    }
  });

  it('decrypts a secret only for its own endpoint', async () => {
    const [one, other] = [await create(), await create()];
    await run(
      server.db,
      sql`
      UPDATE webhook_secrets SET sealed_secret = (SELECT sealed_secret FROM webhook_secrets WHERE endpoint_id = ${one.id})
      WHERE endpoint_id = ${other.id}`,
    );
    await expect(signedWith(other)).rejects.toThrow('does not belong where it was found');
    expect(await signedWith(one)).toEqual([one.secret]);
    await expect(signingSecrets(server.db, server.vault, { id: one.id, org_id: org.id, mode: 'live' })).rejects.toThrow(
      'does not belong where it was found',
    );
  });
});
