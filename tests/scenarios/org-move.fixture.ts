import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { query } from '../support/database.ts';

/** Rows that no route creates in a test, one for each table that would stay empty. `$1` is the org. */
const rowsBesides: Readonly<Record<string, string>> = {
  member_identities: `INSERT INTO member_identities (member_id, org_id, issuer, subject, email)
    SELECT id, org_id, 'https://id.example', 'subject', email FROM members WHERE org_id = $1 LIMIT 1`,
  identity_providers: `INSERT INTO identity_providers
    (org_id, issuer, client_id, allowed_domains, default_role, roles_by_claim, password_sign_in)
    VALUES ($1, 'https://id.example', 'client', '{}', 'viewer', '{}', true)`,
  passkeys: `INSERT INTO passkeys (id, email, name, credential_id, public_key, counter, transports)
    SELECT 'pky_1', email, 'Laptop', 'credential', '\\x01', 0, '{}' FROM logins LIMIT 1`,
  registered_mcp_clients: `INSERT INTO registered_mcp_clients (id, name, redirect_uris)
    VALUES ('client_1', 'Client', '{https://client.example/back}')`,
  mcp_grants: `INSERT INTO mcp_grants
    (id, org_id, mode, member_id, client_id, client_name, client_address, is_verified, scopes, expires_at)
    SELECT 'grant_1', org_id, 'test', id, 'client_1', 'Client', 'client.example', false, '{all}', now() + interval '1 day'
    FROM members WHERE org_id = $1 LIMIT 1`,
  mcp_tokens: `INSERT INTO mcp_tokens (token_hash, grant_id, kind, generation, expires_at)
    VALUES ('\\x02', 'grant_1', 'access', 1, now() + interval '1 day')`,
  reservations: `INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at)
    VALUES (gen_random_uuid(), $1, 'test', '', 1, now() + interval '1 second')`,
  usage_alerts_told: `INSERT INTO usage_alerts_told (org_id, mode, cap, user_id, period, threshold, cap_micros)
    VALUES ($1, 'test', 'org_daily_usd', '', '2020-01-01', 50, 1)`,
  tool_outages: `INSERT INTO tool_outages (org_id, mode, server_id, is_personal, user_key, reason)
    VALUES ($1, 'live', 'mcp_gone', false, '', 'unreachable')`,
  tool_categories: `INSERT INTO tool_categories (deployment_id, version, tool, description_hash)
    SELECT deployment_id, version, 'tool', '\\x03' FROM deployment_versions WHERE org_id = $1 LIMIT 1`,
  live_promotions: `INSERT INTO live_promotions (deployment_id, height, org_id, version)
    SELECT id, 1, org_id, 1 FROM deployments WHERE org_id = $1 LIMIT 1`,
  memory_profiles: `INSERT INTO memory_profiles (org_id, mode, user_id, markdown, updated_at)
    VALUES ($1, 'live', NULL, 'Likes tea.', now())`,
  memory_deletions: `INSERT INTO memory_deletions (org_id, mode, user_id, deleted_at)
    VALUES ($1, 'live', NULL, now() - interval '1 day')`,
  work_notes: `INSERT INTO work_notes (task_id, id, text, step_index)
    SELECT id, 'note', 'And quickly.', 0 FROM tasks WHERE org_id = $1 AND status = 'done' LIMIT 1`,
  interaction_frames: `INSERT INTO interaction_frames (org_id, mode, interaction_id, frame)
    SELECT org_id, mode, id, 'data:image/png;base64,' FROM interactions WHERE org_id = $1 LIMIT 1`,
  connections: `INSERT INTO connections (org_id, mode, id, user_key, app, server_url, status, auth)
    VALUES ($1, 'test', 'con_1', '', 'github', 'https://app.example', 'failed', 'api_key')`,
  app_clients: `INSERT INTO app_clients (org_id, mode, app, server_url, issuer, redirect_uri, sealed)
    VALUES ($1, 'test', 'github', 'https://app.example', 'https://app.example', 'https://here.example', '\\x04')`,
  own_app_clients: `INSERT INTO own_app_clients (org_id, mode, app, server_url, issuer, client_id)
    VALUES ($1, 'live', 'github', 'https://app.example', 'https://app.example', 'ours')`,
  client_answers: `INSERT INTO client_answers
    (id, org_id, mode, conversation_id, turn_id, after_seq, model, tool_names, is_structured, is_kept, request_digest)
    SELECT 'resp_1', org_id, mode, conversation_id, id, 0, 'desk', '[]', false, true, 'digest'
    FROM turns WHERE org_id = $1 LIMIT 1`,
  pretended_routines: `INSERT INTO pretended_routines (conversation_id, id, name, ask, cron, timezone)
    SELECT id, 'rtn_1', 'Daily', 'Look.', '0 8 * * *', 'UTC' FROM conversations WHERE org_id = $1 LIMIT 1`,
  pending_promotions: `INSERT INTO pending_promotions (deployment_id, mode, org_id, run_id, version)
    SELECT deployment_id, 'live', org_id, id, version FROM test_runs WHERE org_id = $1 LIMIT 1`,
  replays: `INSERT INTO replays (id, org_id, mode, deployment_id, version, status, finished_at)
    SELECT 'rpl_1', org_id, 'test', id, 1, 'completed', now() FROM deployments WHERE org_id = $1 LIMIT 1`,
  replay_talks: `INSERT INTO replay_talks (replay_id, position, org_id, mode, source_id, status)
    SELECT 'rpl_1', 1, org_id, mode, id, 'same' FROM conversations WHERE org_id = $1 LIMIT 1`,
  improvements: `INSERT INTO improvements (id, org_id, mode, deployment_id, base_version, source, author, status, budget_micros, rounds, finished_at)
    SELECT 'imp_1', org_id, 'test', id, 1, '{"type":"ratings"}', '{"type":"system","id":"s","name":"s"}', 'completed', 1, 1, now()
    FROM deployments WHERE org_id = $1 LIMIT 1`,
  improvement_scenarios: `INSERT INTO improvement_scenarios (improvement_id, position, org_id, mode, source_id, scenario_id)
    SELECT 'imp_1', 1, org_id, mode, id, 'scn_1' FROM conversations WHERE org_id = $1 LIMIT 1`,
  message_feedback: `INSERT INTO message_feedback
    (id, org_id, mode, conversation_id, message_id, deployment_id, deployment_version, rater_type, rater_id, rating)
    SELECT 'fbk_1', t.org_id, t.mode, t.conversation_id, t.message_id, t.deployment_id, 1, 'key', 'key_1', 'good'
    FROM turns t WHERE org_id = $1 LIMIT 1`,
  jobs: `INSERT INTO jobs (id, name, due_at, key, share, payload)
    VALUES (gen_random_uuid(), 'knowledge.empty', now() + interval '1 day', 'doc_none', $1 || ' 0000000000000000',
      jsonb_build_object('org_id', $1::text, 'object', 'document', 'id', 'doc_000000000000000000000000'))`,
};

/** Fills every table of the org that the story left empty. Returns the tables that are still empty. */
export async function fillEmptyTables(
  { connectionString, orgId }: { connectionString: string; orgId: string },
  tables: readonly string[],
): Promise<string[]> {
  const isEmpty = async (table: string) =>
    (
      await query(
        connectionString,
        `SELECT FROM ${table} ${table === 'jobs' ? "WHERE name = 'knowledge.empty'" : ''} LIMIT 1`,
      )
    ).length === 0;
  const left: string[] = [];
  for (const table of tables) {
    const statement = rowsBesides[table];
    if (statement && (await isEmpty(table))) {
      await query(connectionString, statement, statement.includes('$1') ? [orgId] : []);
    }
    if (await isEmpty(table)) left.push(table);
  }
  return left;
}

/** A receiver of webhooks that answers 500 until it is opened, and notes what it accepted. */
export async function startReceiver() {
  const received: { path: string; headers: IncomingMessage['headers']; body: string }[] = [];
  let isOpen = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      if (isOpen) received.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(isOpen ? 200 : 500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    open: () => {
      isOpen = true;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
