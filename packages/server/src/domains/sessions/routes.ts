import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../caller.ts';
import { transaction } from '../../db/transaction.ts';
import type { Handlers } from '../../http/handler.ts';
import { announce, type Committed, type Engine } from '../engine/api.ts';
import { createSession } from './create.ts';
import { presentSession } from './present.ts';
import { revokeSession } from './revoke.ts';
import { embedOriginsOf, findSession } from './store.ts';

type SessionDependencies = {
  engine: Pick<Engine, 'db' | 'announcer'>;
  publicUrl: string;
  /** Told after a session was revoked: what it holds open closes. */
  ended: (sessionId: string) => void;
};

export function sessionRoutes({ engine, publicUrl, ended }: SessionDependencies): Handlers<'sessions'> {
  const { db } = engine;
  return {
    create: async ({ caller, origin, body, commit }) => {
      let opened: Committed | null = null;
      const answer = await commit(async (tx) => {
        const { shown, committed } = await createSession(tx, { caller, origin, publicUrl }, body);
        opened = committed;
        return shown;
      });
      if (opened) announce(engine.announcer, opened);
      return answer;
    },
    get: async ({ caller, params }) => {
      assertReach(caller, params.session_id);
      const row = await findSession(db, caller, params.session_id);
      if (!row) throw fail('session_not_found');
      return presentSession(row);
    },
    delete: async ({ caller, origin, params }) => {
      assertReach(caller, params.session_id);
      const row = await transaction(db, (tx) => revokeSession(tx, origin, params.session_id));
      ended(row.id);
      return presentSession(row);
    },
    framePolicy: async ({ params }) => {
      const origins = await embedOriginsOf(db, params.session_id);
      if (!origins) throw fail('session_not_found');
      return { object: 'frame_policy', frame_ancestors: origins };
    },
  };
}

/** A session token reaches its own session and no other. */
function assertReach({ session }: Caller, sessionId: string): void {
  if (session && session.id !== sessionId) throw fail('session_scope');
}
