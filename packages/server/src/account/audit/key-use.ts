import { idOfTime, newId, timeOfId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Logger } from 'pino';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { auditEntries } from '../tables.ts';

export type KeyUse = { used: (caller: Caller) => void; stop: () => Promise<void> };

type Count = { caller: Caller; minute: Date; count: number };

/** Random, so that processes started together do not always write the same rows at once and wait for each other. */
const untilNextFlushMs = () => 1500 + 1000 * Math.random();

/**
 * Counts key use in memory and writes it in batches, so that a request costs no write. The audit log has one row per
 * key and minute, with a count.
 */
export function createKeyUse(db: Database, log: Logger): KeyUse {
  let counts = new Map<string, Count>();
  let writing: Promise<void> = Promise.resolve();

  function used(caller: Caller): void {
    const minute = Math.floor(Date.now() / 60_000) * 60_000;
    const name = `${caller.actor.id} ${minute}`;
    const known = counts.get(name);
    if (known) known.count++;
    else counts.set(name, { caller, minute: new Date(minute), count: 1 });
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      const taken = [...counts.values()];
      counts = new Map();
      if (taken.length === 0) return;
      await write(db, taken).catch((error: unknown) => {
        log.warn({ err: error }, 'could not write key use, will retry');
        for (const { caller, minute, count } of taken) {
          const name = `${caller.actor.id} ${minute.getTime()}`;
          const since = counts.get(name);
          if (since) since.count += count;
          else counts.set(name, { caller, minute, count });
        }
      });
    });
    return writing;
  }

  let timer: NodeJS.Timeout;
  const flushInAWhile = () => {
    timer = setTimeout(() => {
      void flush();
      flushInAWhile();
    }, untilNextFlushMs()).unref();
  };
  flushInAWhile();

  return {
    used,
    async stop() {
      clearTimeout(timer);
      await flush();
    },
  };
}

async function write(db: Database, counts: Count[]): Promise<void> {
  const uses = counts.map(({ caller, minute, count }) => {
    const id = newId('aud');
    return {
      id,
      org_id: caller.orgId,
      mode: caller.mode,
      actor_type: caller.actor.type,
      actor_id: caller.actor.id,
      actor_name: caller.actor.name,
      minute,
      created_at: new Date(timeOfId(id)),
      count,
    };
  });
  await addKeyUses(db, uses);
}

type KeyUses = {
  id: string;
  org_id: string;
  mode: Mode;
  actor_type: string;
  actor_id: string;
  actor_name: string;
  minute: Date;
  /** When the id was created. Entries are listed by id, so their times must be in the same order. */
  created_at: Date;
  count: number;
}[];

/**
 * Adds to the audit entry of each credential and minute, and updates `last_used_at` of keys. `ON CONFLICT` names no index,
 * because a table with partitions has none over all of them.
 */
async function addKeyUses(db: Database, uses: KeyUses): Promise<void> {
  const times = uses.map(({ created_at }) => created_at.getTime());
  // The entry of a minute is seldom older, so older partitions are not read.
  let missing = await addOnce(db, uses, idOfTime('aud', Math.min(...times) - dayMs));
  // Another process inserted an entry of the same minute at the same time, or a clock is off.
  for (let attempt = 1; missing.size > 0 && attempt < maxAttempts; attempt++) {
    missing = await addOnce(
      db,
      uses.filter(({ id }) => missing.has(id)),
      '',
    );
  }
  if (missing.size > 0) throw new Error(`${missing.size} entries of key use collided with those of other processes.`);
}

const maxAttempts = 5;
const dayMs = 86_400_000;

/** Looks for entries from the id `earliest` on. Returns the ids of uses that were not written. */
async function addOnce(db: Database, uses: KeyUses, earliest: string): Promise<ReadonlySet<string>> {
  // Lock in the order of the key, so that concurrent processes take their locks in one order.
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`WITH uses AS (
          SELECT * FROM jsonb_to_recordset(${sql.json(uses)}::jsonb)
            AS u(id text, org_id text, mode text, actor_type text, actor_id text, actor_name text, minute timestamptz, created_at timestamptz, count int)
          ORDER BY actor_id, minute
        ), locked AS (
          SELECT kept.org_id, kept.mode, kept.id, uses.id AS use_id, uses.count
          FROM uses JOIN ${auditEntries} AS kept
            ON kept.actor_id = uses.actor_id AND kept.used_minute = uses.minute AND kept.org_id = uses.org_id
              AND kept.id >= ${earliest}
          ORDER BY kept.actor_id, kept.used_minute FOR UPDATE OF kept
        ), counted AS (
          UPDATE ${auditEntries} AS kept
          SET details = jsonb_build_object('count', (kept.details->>'count')::int + locked.count)
          FROM locked WHERE kept.org_id = locked.org_id AND kept.mode = locked.mode AND kept.id = locked.id
          RETURNING locked.use_id AS id
        ), inserted AS (
          INSERT INTO ${auditEntries}
            (id, org_id, mode, action, actor_type, actor_id, actor_name, target_type, target_id, details, used_minute, created_at)
          SELECT id, org_id, mode, actor_type || '.used', actor_type, actor_id, actor_name, actor_type, actor_id,
            jsonb_build_object('count', count), minute, created_at
          FROM uses WHERE id NOT IN (SELECT use_id FROM locked)
          ON CONFLICT DO NOTHING RETURNING id
        ), used AS (
          UPDATE api_keys SET last_used_at = GREATEST(COALESCE(last_used_at, uses.latest), uses.latest)
          FROM (SELECT org_id, actor_id, now() AS latest FROM uses GROUP BY org_id, actor_id) uses
          WHERE api_keys.id = uses.actor_id AND api_keys.org_id = uses.org_id
        )
        SELECT id FROM uses WHERE id NOT IN (SELECT id FROM counted UNION ALL SELECT id FROM inserted)`,
  );
  return new Set(rows.map(({ id }) => id));
}
