import pg from 'pg';
import type { DumpedTable } from '../../platform/db/dump.ts';

/** A table whose rows of one org move with it. In the SQL below, `$org` is the quoted id of the org. */
export type MovedTable = {
  /** The rows of the org. An import checks the rows of an archive with the same condition. */
  rows: string;
  /** A further condition on rows of an archive. */
  must?: string;
  /** Where the exported rows come from; absent: the table as `t`, with `rows`. */
  from?: string;
  /** Values that are exported instead of the column. */
  as?: Readonly<Record<string, string>>;
  /** Columns that the new installation fills itself. */
  omit?: readonly string[];
  /** The row may be there already, because other orgs use it too. It then stays as it is. */
  isShared?: true;
  /** Rows that a server may still write while the org is frozen. The archive may lack such a write. */
  late?: string;
};

const own: MovedTable = { rows: 'org_id = $org' };
const throughId = (column: string, table: string): MovedTable => ({
  rows: `${column} IN (SELECT id FROM ${table} WHERE org_id = $org)`,
});
const ofConversation = throughId('conversation_id', 'conversations');
const ofDeployment = throughId('deployment_id', 'deployments');
const ofDocument = throughId('document_id', 'documents');
const ofGrant = throughId('grant_id', 'mcp_grants');
// Turns have no index on the org. A run is the reply of a turn, or a task.
const ofRun: MovedTable = {
  rows: `run_id IN (SELECT id FROM turns WHERE conversation_id IN (SELECT id FROM conversations WHERE org_id = $org)
    UNION ALL SELECT id FROM tasks WHERE org_id = $org)`,
};

/** The login that opens an active membership `m` is `l`. */
const logins = `LEFT JOIN logins AS l ON m.status = 'active'
  AND l.email = coalesce(m.login, CASE WHEN m.opened_by <> 'identity' THEN m.email END)`;

/**
 * Tables that move, in the order in which their rows can be inserted.
 *
 * Each member gets a separate login under the member's id. It never becomes the login of an email in the new
 * installation: that one would open memberships of other orgs.
 */
export const movedTables: Readonly<Record<string, MovedTable>> = {
  orgs: { rows: 'id = $org', as: { wrapped_data_key: `'\\x'::bytea`, status: `'moving'` } },
  deployments: own,
  org_settings: own,
  api_keys: { ...own, late: 'true' },
  rolled_key_secrets: throughId('key_id', 'api_keys'),
  secrets: own,
  audit_entries: { ...own, late: 'used_minute IS NOT NULL' },
  events: own,
  members: {
    ...own,
    must: `(login IS NULL OR login = id) AND (status <> 'active' OR opened_by = 'identity')`,
    from: `(SELECT m.*, l.email AS opener FROM members AS m ${logins} WHERE m.org_id = $org) AS t`,
    as: {
      login: 'CASE WHEN t.opener IS NOT NULL THEN t.id END',
      opened_by: `CASE WHEN t.status = 'active' THEN 'identity' ELSE t.opened_by END`,
    },
  },
  logins: {
    rows: 'email IN (SELECT id FROM members WHERE org_id = $org)',
    must: `address = (SELECT m.email FROM members AS m WHERE m.id = staged.email)
      AND password_hash ~ '^\\$argon2id\\$v=19\\$m=\\d{1,5},t=\\d,p=\\d\\$[A-Za-z0-9+/]{10,100}\\$[A-Za-z0-9+/]{10,100}$'`,
    from: `(SELECT l.*, m.id AS member_id, m.email AS member_email FROM members AS m ${logins}
      WHERE m.org_id = $org AND l.email IS NOT NULL) AS t`,
    as: { email: 't.member_id', address: 't.member_email' },
  },
  passkeys: {
    rows: 'email IN (SELECT id FROM members WHERE org_id = $org)',
    from: `(SELECT p.*, m.id AS member_id FROM members AS m ${logins} JOIN passkeys AS p ON p.email = l.email
      WHERE m.org_id = $org) AS t`,
    as: { email: 't.member_id' },
    isShared: true,
  },
  identity_providers: own,
  member_identities: { rows: 'org_id = $org AND member_id IN (SELECT id FROM members WHERE org_id = $org)' },
  mcp_grants: { ...own, late: 'true' },
  mcp_tokens: ofGrant,
  registered_mcp_clients: {
    rows: 'id IN (SELECT client_id FROM mcp_grants WHERE org_id = $org)',
    isShared: true,
    late: 'true',
  },
  ledger_entries: own,
  unfolded_entries: { ...own, omit: ['id'], late: 'true' },
  wallets: { ...own, late: 'true' },
  spend_days: { ...own, late: 'true' },
  // The three belong together: a day that is marked as summed is not read from the ledger.
  usage_days: { ...own, late: 'true' },
  usage_work_days: { ...own, late: 'true' },
  usage_summed_days: { ...own, late: 'true' },
  reservations: { ...own, late: 'true' },
  usage_alerts_told: own,
  deployment_versions: ofDeployment,
  live_promotions: ofDeployment,
  tool_categories: ofDeployment,
  notebooks: own,
  documents: own,
  document_passages: ofDocument,
  document_indexes: ofDocument,
  document_vectors: ofDocument,
  skills: own,
  skill_versions: throughId('skill_id', 'skills'),
  skill_texts: own,
  skill_files: { rows: 'org_id = $org AND skill_id IN (SELECT id FROM skills WHERE org_id = $org)' },
  mcp_servers: own,
  tool_outages: own,
  users: own,
  memories: own,
  memory_profiles: own,
  memory_deletions: own,
  conversations: own,
  conversation_previews: { rows: `org_id = $org AND ${ofConversation.rows}` },
  conversation_events: ofConversation,
  messages: ofConversation,
  turns: { rows: `${ofConversation.rows} AND org_id = $org` },
  tasks: own,
  work_notes: throughId('task_id', 'tasks'),
  run_steps: ofRun,
  run_calls: ofRun,
  interactions: own,
  interaction_frames: own,
  files: own,
  computers: {
    ...own,
    omit: ['number'],
    as: { held_by: 'NULL', held_until: 'NULL', held_at: 'NULL', waking_since: 'NULL' },
    must: `saved_name IS NULL OR saved_name ~ '^[0-9a-f]{32}\\.home$'`,
  },
  computer_preparations: own,
  connections: own,
  app_clients: own,
  own_app_clients: own,
  function_endpoints: own,
  function_endpoint_secrets: own,
  sessions: own,
  client_answers: own,
  routines: own,
  pretended_routines: ofConversation,
  batches: own,
  batch_items: { rows: 'org_id = $org AND batch_id IN (SELECT id FROM batches WHERE org_id = $org)' },
  webhook_endpoints: own,
  webhook_secrets: throughId('endpoint_id', 'webhook_endpoints'),
  webhook_deliveries: own,
  scenarios: own,
  test_runs: own,
  test_run_results: { rows: 'org_id = $org AND run_id IN (SELECT id FROM test_runs WHERE org_id = $org)' },
  pending_promotions: { rows: `org_id = $org AND ${ofDeployment.rows}` },
  replays: own,
  replay_talks: { rows: 'org_id = $org AND replay_id IN (SELECT id FROM replays WHERE org_id = $org)' },
  improvements: own,
  improvement_scenarios: {
    rows: 'org_id = $org AND improvement_id IN (SELECT id FROM improvements WHERE org_id = $org)',
  },
  message_feedback: own,
  idempotency_keys: own,
  jobs: {
    rows: `share LIKE $org || ' %' AND name = ANY ('{knowledge.empty,computer.tidy,connection.settle}')
      AND payload ->> 'org_id' = $org`,
    as: { due_at: 'least(t.due_at, now())', is_held: 'false', attempts: '0', given_up_at: 'NULL', given_up: 'NULL' },
    late: 'true',
  },
};

/** Tables that do not move, and why. */
export const tablesThatStay: Readonly<Record<string, string>> = {
  schema_migrations: 'Both installations must have applied the same ones.',
  server_settings: 'Secrets of the installation.',
  org_moves: 'Each installation records its side of a move.',
  rate_windows: 'Counts of the last minute.',
  runs: 'Leases of processes. The sweep of the new installation finds open turns and tasks.',
  computer_hosts: 'Processes of the installation.',
  model_adjustments: 'What the installation learnt about its providers. It belongs to no org.',
  insight_names: 'A model names insights again when somebody asks for it.',
  unused_contents: 'Names stored bytes that no row uses. These bytes do not move.',
  console_sessions: 'People sign in to the console again.',
  sign_in_attempts: 'A browser begins the sign-in again.',
  password_resets: 'A link names the address of the installation. Create another.',
  mcp_authorization_codes: 'They are valid for minutes, and the client asks again.',
  document_window_vectors: 'The new installation computes it from the documents, if it has the extension.',
};

/** The tables that move, with the columns that an archive has, in the order of insertion. */
export async function columnsOfMoved(client: pg.Client): Promise<DumpedTable[]> {
  const { rows } = await client.query<DumpedTable>(
    `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY($1) AND c.relkind IN ('r', 'p')
        AND NOT a.attisdropped AND a.attgenerated = ''
      GROUP BY c.relname`,
    [Object.keys(movedTables)],
  );
  return Object.entries(movedTables).map(([name, { omit = [] }]) => {
    const columns = rows.find((row) => row.name === name)?.columns;
    if (!columns) throw new Error(`The table ${name} is missing.`);
    return { name, columns: columns.filter((column) => !omit.includes(column)) };
  });
}

/** A condition of the register for one org. COPY takes no parameters. */
export const forOrg = (condition: string, orgId: string): string =>
  condition.replaceAll('$org', () => pg.escapeLiteral(orgId));
