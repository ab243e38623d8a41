import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import pg from 'pg';

/** An org of its own with so many audit entries, and a key that may list them. */
export async function fillAuditLog(connectionString: string, count: number): Promise<{ key: string }> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const orgId = newId('org');
  const key = `vk_test_${randomBytes(32).toString('base64url')}`;
  try {
    await client.query(`INSERT INTO orgs (id, name, wrapped_data_key) VALUES ($1, 'Bench', '\\x00')`, [orgId]);
    await client.query(
      `INSERT INTO api_keys (id, org_id, mode, name, scopes, secret_hash, last4) VALUES ($1, $2, 'test', 'bench', '{all}', $3, 'last')`,
      [newId('key'), orgId, createHash('sha256').update(key).digest()],
    );
    await client.query(
      `INSERT INTO audit_entries (id, org_id, mode, action, actor_type, actor_id, actor_name)
       SELECT 'aud_' || lpad(n::text, 24, '0'), $1, 'test', 'bench.row', 'system', 'bench', 'bench'
       FROM generate_series(${count > 1000 ? 1_000_001 : 1}, ${count > 1000 ? 1_000_000 + count : count}) n`,
      [orgId],
    );
    await client.query('VACUUM ANALYZE audit_entries');
    // What the filling left to be written must not be written during the measurement.
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
  return { key };
}
