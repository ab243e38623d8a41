import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import pg from 'pg';

let filled = 0;

/** Creates an org with `count` audit entries and conversations, and a key that may list them. */
export async function fillLists(connectionString: string, count: number): Promise<{ key: string; count: number }> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const orgId = newId('org');
  const key = `vk_test_${randomBytes(32).toString('base64url')}`;
  const from = filled + 1;
  filled += count;
  try {
    await client.query(`INSERT INTO orgs (id, name, wrapped_data_key) VALUES ($1, 'Bench', '\\x00')`, [orgId]);
    await client.query(
      `INSERT INTO api_keys (id, org_id, mode, name, scopes, secret_hash, last4) VALUES ($1, $2, 'test', 'bench', '{all}', $3, 'last')`,
      [newId('key'), orgId, createHash('sha256').update(key).digest()],
    );
    await client.query(
      `INSERT INTO audit_entries (id, org_id, mode, action, actor_type, actor_id, actor_name)
       SELECT 'aud_' || lpad(n::text, 24, '0'), $1, 'test', 'bench.row', 'system', 'bench', 'bench'
       FROM generate_series(${from}, ${filled}) n`,
      [orgId],
    );
    await client.query(
      `INSERT INTO conversations (id, org_id, mode, user_id)
       SELECT 'conv_' || lpad(n::text, 24, '0'), $1, 'test', 'user-' || n % 1000
       FROM generate_series(${from}, ${filled}) n`,
      [orgId],
    );
    await client.query('VACUUM ANALYZE audit_entries, conversations');
    // Flush the pages that the filling dirtied, so that the measurement does not include their writes.
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
  return { key, count };
}
