import { microsToUsd, usdToMicros } from '@vestra/contract/money';
import { charge, credit } from '@vestra/server/billing/charge';
import { closeDatabase, type Database, openDatabase } from '@vestra/server/platform/db/pool';
import { transaction } from '@vestra/server/platform/db/transaction';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { pollWithJob } from '../support/jobs.ts';
import type { ApiResponse } from '../support/server.ts';

type Body = ApiResponse['body'];
type Spent = { mode?: 'test' | 'live'; userId?: string | null };

/** A server with an agent, and its money at hand. */
export type Till = AgentServer & {
  /** Spends beside the agent, as if it had been work of another day’s conversation. */
  spend: (usd: number, of?: Spent) => Promise<void>;
  pay: (usd: number, mode: 'test' | 'live') => Promise<void>;
  balance: (key?: string) => Promise<number>;
  setCaps: (caps: Record<string, number | null>) => Promise<void>;
  say: (body: Record<string, unknown>, key?: string) => Promise<ApiResponse>;
  /** The turn of the first message, once it is over. */
  settled: (conversation: Body, key?: string) => Promise<Body>;
  lineItems: (of: string, key?: string) => Promise<Body[]>;
  told: (type: string, key?: string) => Promise<Body[]>;
  /** Waits until every charge so far has been added to the wallets and looked at for alerts. */
  folded: () => Promise<void>;
  sql: (text: string, values?: unknown[]) => Promise<Body[]>;
};

export async function startTill(env: Record<string, string> = {}, options: { vendors?: boolean } = {}): Promise<Till> {
  const server = await startAgentServer({ env, ...options });
  const db: Database = await openDatabase({ connectionString: server.connectionString });
  const tenant = (mode: 'test' | 'live') => ({ orgId: server.orgId, mode });
  const all = async (path: string, key: string): Promise<Body[]> => {
    const rows: Body[] = [];
    for (let cursor = ''; ; ) {
      const { body, status, text } = await server.call('GET', `${path}&limit=100${cursor}`, { key });
      if (status !== 200) throw new Error(text);
      rows.push(...body.data);
      if (body.next_cursor === null) return rows;
      cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
    }
  };
  return {
    ...server,
    async spend(usd, { mode = 'test', userId = null } = {}) {
      const about = { deploymentId: null, conversationId: null, taskId: null, turnId: null, userId };
      const item = { kind: 'tools', model: null, quantity: 1, unit: 'calls' } as const;
      const items = [{ ...item, unitPriceMicros: Math.round(usd * 1_000_000), ...about }];
      await transaction(db, (tx) => charge(tx, tenant(mode), { items }));
    },
    pay: (usd, mode) => transaction(db, (tx) => credit(tx, tenant(mode), BigInt(Math.round(usd * 1_000_000)))),
    balance: async (key = server.testKey) => (await server.call('GET', '/v1/org', { key })).body.balance_usd,
    async setCaps(caps) {
      const answer = await server.call('PATCH', '/v1/limits', { body: { caps } });
      if (answer.status !== 200) throw new Error(answer.text);
    },
    say: (body, key = server.testKey) => server.call('POST', '/v1/conversations', { key, body }),
    async settled({ id }, key = server.testKey) {
      const path = `/v1/conversations/${id}/events?format=json&limit=100`;
      const { data } = await server.until(path, ({ data: log }) => log.some(isSettled), key);
      return data.find(isSettled).data.turn;
    },
    lineItems: (of, key = server.testKey) => all(`/v1/usage/line-items?${of}`, key),
    told: (type, key = server.testKey) => all(`/v1/events?type=${type}`, key),
    async folded() {
      const left = () => query(server.connectionString, 'SELECT FROM unfolded_entries LIMIT 1');
      await pollWithJob(server.connectionString, 'ledger.fold', left).toEqual([]);
    },
    sql: (text, values = []) => query(server.connectionString, text, values),
    async stop() {
      await closeDatabase(db);
      await server.stop();
    },
  };
}

const isSettled = ({ type }: { type: string }) => type === 'turn.settled';

/** Dollars as they are shown. Whole micros first, as the server does: a float just below half a step rounds down. */
export const shown = (usd: number) => microsToUsd(usdToMicros(usd));

export const sum = (rows: readonly Body[]) =>
  microsToUsd(rows.reduce((total, { cost_usd }) => total + usdToMicros(cost_usd), 0n));
