import { Failure, fail } from '@vestra/contract/errors';
import type { Screens } from '../../computers/index.ts';
import { announce, type CommittedChange, type Engine } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { eventStream, type FrameSource } from '../../platform/http/sse.ts';
import type { Streams } from '../../platform/http/streams.ts';
import type { VoiceCalls } from '../../voice/index.ts';
import { createSession, presentSession, revokeSession, type ScreenCredentials, viewerOf } from './sessions.ts';
import { embedOriginsOf, findSession, statusOf } from './store.ts';

type SessionDependencies = {
  engine: Pick<Engine, 'db' | 'announcer'>;
  publicUrl: string;
  screens: Screens;
  credentials: ScreenCredentials;
  voice: VoiceCalls;
  /** Called after a session was revoked, to close its open streams. */
  ended: (sessionId: string) => void;
};

export function sessionRoutes(dependencies: SessionDependencies): Handlers<'sessions'> {
  const { engine, publicUrl, screens, credentials, voice, ended } = dependencies;
  const { db } = engine;
  return {
    create: async ({ caller, origin, body, commit }) => {
      if (typeof body.voice === 'string') voice.assertVoice(body.voice);
      let opened: CommittedChange | null = null;
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
      const owner = { orgId: row.org_id, mode: row.mode, userId: row.user_id };
      const isLive = statusOf(row, sharedNow()) === 'live';
      const shown = presentSession(row, isLive && (await screens.isPrivate(owner)));
      // Only for session tokens that may call: an API key does not need the relay password.
      const iceServers =
        caller.session && row.voice !== null ? voice.iceServers({ id: row.id, expiresAt: row.expires_at }) : [];
      return { ...shown, ...(iceServers.length > 0 && { ice_servers: iceServers }) };
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
    screen: async ({ caller, params }) => {
      assertReach(caller, params.session_id);
      const { isCropPending } = await screens.ask(await viewerOf(db, caller));
      return {
        object: 'browser_stream',
        stream_url: `${publicUrl}/screens/${params.session_id}`,
        preview_token: credentials.make(params.session_id),
        preview_token_param: 'preview_token',
        ...(isCropPending && { crop_pending: true as const }),
      };
    },
    screenInput: async ({ caller, params, body }) => {
      assertReach(caller, params.session_id);
      const { isDriving } = await screens.pass(await viewerOf(db, caller), body.inputs);
      return { object: 'screen_input', driving: isDriving };
    },
    voice: async ({ caller, origin, params, body }) => {
      assertReach(caller, params.session_id);
      const row = await findSession(db, caller, params.session_id);
      if (!row) throw fail('session_not_found');
      const { sdp, endsAt } = await voice.begin({ caller, origin, voice: row.voice ?? '', sdp: body.sdp });
      return { object: 'voice_call', sdp, ends_at: endsAt.toISOString() };
    },
  };
}

type StreamDependencies = {
  db: Database;
  screens: Screens;
  credentials: ScreenCredentials;
  streams: Streams;
  /** Throws if the session has ended. */
  callerOf: (sessionId: string) => Promise<Caller>;
};

/** The stream at the address that the screen route returns; null if the credential is invalid. */
export function screenStream({ db, screens, credentials, streams, callerOf }: StreamDependencies) {
  return async (sessionId: string, credential: string, signal: AbortSignal): Promise<Response | null> => {
    if (!credentials.isGood(sessionId, credential)) return null;
    const caller = await callerOf(sessionId).catch(ifRefused);
    if (caller?.orgStatus !== 'active') return null;
    const viewer = await viewerOf(db, caller);
    try {
      const open = streams.open(caller, signal);
      const source = await Promise.resolve(screens.watch(viewer)).catch((error: unknown) => {
        open.close();
        throw error;
      });
      const closing = () => screenClosed('server_restarting');
      return eventStream({ ...source, next: nextNamed(source), closing }, open);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return new Response(`${error.message}\n`, { status: error.status });
    }
  };
}

/** The browser may end in another process, which restarts or lets the computer sleep. The stream names that as its end. */
const nextNamed =
  (source: FrameSource): FrameSource['next'] =>
  async (withinMs) => {
    const { frames, isOver } = await source.next(withinMs);
    return { frames: isOver ? [...frames, screenClosed('browser_closed')] : frames, isOver };
  };

/** The state lets a page that knows no `stream.closed` show that it connects again. */
const screenClosed = (reason: 'server_restarting' | 'browser_closed') => ({
  id: '0',
  event: 'stream.closed',
  data: {
    type: 'stream.closed',
    reason,
    ...{ showing: 'waking', driven_by: 'nobody', url: null },
  },
});

function ifRefused(error: unknown): null {
  if (error instanceof Failure) return null;
  throw error;
}

/** A session token can read only its own session. */
function assertReach({ session }: Caller, sessionId: string): void {
  if (session && session.id !== sessionId) throw fail('session_scope');
}
