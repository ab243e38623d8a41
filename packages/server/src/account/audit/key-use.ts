import { newId } from '@vestra/contract/ids';
import type { Logger } from 'pino';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { addKeyUses } from './store.ts';

export type KeyUse = { used: (caller: Caller) => void; stop: () => Promise<void> };

type Count = { caller: Caller; minute: Date; count: number };

/** Never the same: processes that began together would else write the same rows at the same moment, and wait for each other every time. */
const untilNextFlushMs = () => 1500 + 1000 * Math.random();

/**
 * Key use is one audit row per key and minute with a count, so a request costs no write: counts are
 * gathered here and written together.
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
        log.warn({ err: error }, 'key use could not be written yet');
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
  const uses = counts.map(({ caller, minute, count }) => ({
    id: newId('aud'),
    org_id: caller.orgId,
    mode: caller.mode,
    actor_type: caller.actor.type,
    actor_id: caller.actor.id,
    actor_name: caller.actor.name,
    minute,
    created_at: new Date(),
    count,
  }));
  await addKeyUses(db, uses);
}
