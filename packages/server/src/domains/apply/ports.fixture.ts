import { randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import { and, eq, inArray, sql } from 'drizzle-orm';
import { refuseAddress } from '../../adapters/outbound/address.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { VersionTests } from '../deployments/api.ts';
import {
  assertMayChange,
  findByAddress,
  findById,
  registerServer,
  takenSlugs,
  updateServer,
} from '../mcp-servers/api.ts';
import { notebooksExist } from '../notebooks/api.ts';
import { secrets } from '../secrets/tables.ts';
import { builtInSkills } from '../skills/api.ts';
import { skills } from '../skills/tables.ts';
import type { ApplyPorts, MadeEndpoint, ScheduleFault, TestRun } from './ports.ts';

/** Tables for the domains that have none yet. What they keep is kept as the ports promise. */
export async function makeTables(db: Executor): Promise<void> {
  await db.execute(sql`
    CREATE TABLE fixture_files (id text PRIMARY KEY, org_id text NOT NULL, mode text NOT NULL);
    CREATE TABLE fixture_scenarios (
      id text PRIMARY KEY, deployment_id text NOT NULL, from_file boolean NOT NULL, name text NOT NULL, body json NOT NULL);
    CREATE TABLE fixture_routines (
      id text PRIMARY KEY, deployment_id text NOT NULL, mode text NOT NULL, name text NOT NULL, user_id text NOT NULL,
      body json NOT NULL, UNIQUE (deployment_id, mode, name, user_id));
    CREATE TABLE fixture_endpoints (
      id text PRIMARY KEY, deployment_id text NOT NULL, mode text NOT NULL, url text NOT NULL, secret text NOT NULL,
      body json NOT NULL, UNIQUE (deployment_id, mode, url));
    CREATE TABLE fixture_runs (
      id text PRIMARY KEY, org_id text NOT NULL, deployment_id text NOT NULL, version int NOT NULL, mode text NOT NULL,
      status text NOT NULL, promote_on_pass boolean NOT NULL, total int NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`);
}

export function fixturePorts({ allowPrivate = false } = {}): ApplyPorts {
  return {
    mcpServers: {
      findByAddress,
      findById,
      takenSlugs,
      register: registerServer,
      update: updateServer,
      assertMayChange,
    },
    skills: {
      exist: async (tx, orgId, ids, { hold }) => {
        const found = tx
          .select({ id: skills.id })
          .from(skills)
          .where(and(eq(skills.org_id, orgId), inArray(skills.id, [...ids])));
        return new Set((await (hold ? found.for('key share') : found)).map(({ id }) => id));
      },
      builtInNames: () => new Set(builtInSkills().map(({ name }) => name)),
    },
    notebooks: { exist: notebooksExist },
    files: {
      exist: async (tx, { orgId, mode }, ids, { hold }) => {
        const rows = await rowsOf<{ id: string }>(
          tx,
          sql`SELECT id FROM fixture_files WHERE org_id = ${orgId} AND mode = ${mode} AND id = ANY(${sql.param(ids)})
            ${hold ? sql`FOR KEY SHARE` : sql``}`,
        );
        return new Set(rows.map(({ id }) => id));
      },
    },
    secrets: {
      stored: async (tx, { orgId, mode }, names) => {
        const company = and(eq(secrets.org_id, orgId), eq(secrets.mode, mode), eq(secrets.user_id, ''));
        const rows = await tx
          .select({ name: secrets.name })
          .from(secrets)
          .where(and(company, inArray(secrets.name, [...names])));
        return new Set(rows.map(({ name }) => name));
      },
    },
    scenarios: {
      async replaceFileManaged(tx, { deployment, declared }) {
        await tx.execute(
          sql`DELETE FROM fixture_scenarios WHERE deployment_id = ${deployment.id} AND from_file
            AND NOT name = ANY(${sql.param(declared.map(({ name }) => name))})`,
        );
        for (const scenario of declared) {
          const body = JSON.stringify(scenario);
          const { rowCount } = await tx.execute(
            sql`UPDATE fixture_scenarios SET body = ${body}
              WHERE deployment_id = ${deployment.id} AND from_file AND name = ${scenario.name}`,
          );
          if (rowCount === 0) await addScenario(tx, { deploymentId: deployment.id, fromFile: true, ...scenario });
        }
      },
      count: async (tx, deploymentId) => {
        const [row] = await rowsOf<{ count: string }>(
          tx,
          sql`SELECT count(*) FROM fixture_scenarios WHERE deployment_id = ${deploymentId}`,
        );
        return Number(row?.count);
      },
    },
    routines: {
      async replaceFileManaged(tx, { deployment: { id }, mode, declared }) {
        const wanted = declared.flatMap(({ users, ...routine }) =>
          (users.length === 0 ? [''] : users).map((userId) => ({ userId, ...routine })),
        );
        const kept = wanted.map(({ name, userId }) => JSON.stringify([name, userId]));
        await tx.execute(
          sql`DELETE FROM fixture_routines WHERE deployment_id = ${id} AND mode = ${mode}
            AND NOT json_build_array(name, user_id)::jsonb = ANY(${sql.param(kept)}::jsonb[])`,
        );
        for (const { userId, ...routine } of wanted) {
          await tx.execute(
            sql`INSERT INTO fixture_routines VALUES
                (${newId('rtn')}, ${id}, ${mode}, ${routine.name}, ${userId}, ${JSON.stringify(routine)})
              ON CONFLICT (deployment_id, mode, name, user_id) DO UPDATE SET body = EXCLUDED.body`,
          );
        }
      },
      readSchedule,
    },
    webhooks: {
      async replaceFileManaged(tx, { deployment: { id }, mode, declared }) {
        await tx.execute(
          sql`DELETE FROM fixture_endpoints WHERE deployment_id = ${id} AND mode = ${mode}
            AND NOT url = ANY(${sql.param(declared.map(({ url }) => url))})`,
        );
        const made: MadeEndpoint[] = [];
        for (const endpoint of declared) {
          const fresh = { endpoint_id: newId('whk'), secret: `whsec_${randomBytes(24).toString('base64')}` };
          const [row] = await rowsOf<{ id: string }>(
            tx,
            sql`INSERT INTO fixture_endpoints VALUES
                (${fresh.endpoint_id}, ${id}, ${mode}, ${endpoint.url}, ${fresh.secret}, ${JSON.stringify(endpoint)})
              ON CONFLICT (deployment_id, mode, url) DO UPDATE SET body = EXCLUDED.body RETURNING id`,
          );
          if (row?.id === fresh.endpoint_id) made.push({ ...fresh, url: endpoint.url });
        }
        return made;
      },
    },
    testRuns: {
      async start(tx, { orgId }, { deployment, version, mode, promoteOnPass }) {
        const [row] = await rowsOf<RunRow>(
          tx,
          sql`INSERT INTO fixture_runs
            SELECT ${newId('trun')}, ${orgId}, ${deployment.id}, ${version}, ${mode}, 'queued', ${promoteOnPass},
              (SELECT count(*) FROM fixture_scenarios WHERE deployment_id = ${deployment.id})
            RETURNING *`,
        );
        return presentRun(row as RunRow);
      },
      find: async (tx, orgId, runId) => {
        const [row] = await rowsOf<RunRow>(
          tx,
          sql`SELECT * FROM fixture_runs WHERE org_id = ${orgId} AND id = ${runId}`,
        );
        return row && presentRun(row);
      },
      latest: async (db, deploymentId, versions) => {
        const rows = await rowsOf<RunRow>(
          db,
          sql`SELECT DISTINCT ON (version) * FROM fixture_runs
            WHERE deployment_id = ${deploymentId} AND version = ANY(${sql.param(versions)}) ORDER BY version, id DESC`,
        );
        return new Map(
          rows.map((row): [number, VersionTests] => [row.version, { run_id: row.id, status: row.status }]),
        );
      },
    },
    catalogue: { has: (model) => model === 'default' || model === 'offline' },
    refuseAddress: (address) => refuseAddress(address, { allowPrivate }),
  };
}

export async function addScenario(
  tx: Executor,
  { deploymentId, fromFile, ...scenario }: { deploymentId: string; fromFile: boolean; name: string },
): Promise<void> {
  await tx.execute(
    sql`INSERT INTO fixture_scenarios VALUES
      (${newId('scn')}, ${deploymentId}, ${fromFile}, ${scenario.name}, ${JSON.stringify(scenario)})`,
  );
}

/** Reads what the tests write; what cannot be read is refused, and so is what would run too often. */
function readSchedule({
  every,
  cron,
}: {
  every?: string | undefined;
  cron?: string | undefined;
}): ScheduleFault | null {
  if (every !== undefined) {
    const minutes = /^(\d+) minutes$/.exec(every)?.[1];
    if (minutes !== undefined && Number(minutes) < 15) return tooFrequent('every');
    const isKnown =
      minutes !== undefined || /^((week)?day|month on the 1st|mon(, (wed|fri))*) at \d\d:\d\d$/.test(every);
    return isKnown ? null : unreadable('every');
  }
  if (cron?.split(' ').length !== 5) return unreadable('cron');
  return cron.startsWith('* ') ? tooFrequent('cron') : null;
}

const tooFrequent = (field: ScheduleFault['field']): ScheduleFault => ({
  code: 'schedule_too_frequent',
  field,
  message: 'A routine runs at most once every 15 minutes.',
});

const unreadable = (field: ScheduleFault['field']): ScheduleFault => ({
  code: 'schedule_unreadable',
  field,
  message: 'The schedule cannot be read.',
});

type RunRow = {
  id: string;
  deployment_id: string;
  version: number;
  mode: 'test' | 'live';
  status: TestRun['status'];
  promote_on_pass: boolean;
  total: number;
  created_at: Date;
};

const presentRun = ({ total, created_at, ...row }: RunRow): TestRun => ({
  object: 'test_run',
  id: row.id,
  deployment_id: row.deployment_id,
  version: row.version,
  mode: row.mode,
  status: row.status,
  promote_on_pass: row.promote_on_pass,
  counts: { total, queued: total, running: 0, passed: 0, failed: 0, error: 0 },
  results: [],
  resumes: 0,
  error_code: null,
  cost_usd: 0,
  created_at: new Date(created_at).toISOString(),
  started_at: null,
  finished_at: null,
});

async function rowsOf<Row extends object>(tx: Executor | Transaction, query: ReturnType<typeof sql>): Promise<Row[]> {
  return (await tx.execute(query)).rows as Row[];
}
