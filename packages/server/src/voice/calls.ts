import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Followers } from '../account/index.ts';
import { type ConversationRow, findConversation } from '../engine/conversations/index.ts';
import type { Engine } from '../engine/index.ts';
import { createLimiter } from '../platform/async/limiter.ts';
import type { Caller, Origin } from '../platform/caller.ts';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { Streams } from '../platform/http/streams.ts';
import { type CallTimes, holdCall, type IceServer, type IceSettings, iceServersFor, type OpenCall } from './call.ts';
import { assertMoneyForCall, createCallConversation } from './call-conversation.ts';
import { CallConnectionFailure, type CallConnections } from './speech/call-connection.ts';
import type { Speech } from './speech/speech.ts';

export type VoiceCalls = {
  /** Throws if the server does not have the voice. */
  assertVoice: (name: string) => void;
  /** Answers the offer of a session's browser and runs the call until it ends. `voice`: empty for the default one. */
  begin: (of: { caller: Caller; origin: Origin; voice: string; sdp: string }) => Promise<{ sdp: string; endsAt: Date }>;
  /** The STUN and TURN servers for the browser of a session; empty if none are configured. */
  iceServers: (session: { id: string; expiresAt: Date }) => IceServer[];
  count: () => number;
  /** Ends all calls and resolves once each is charged. */
  stop: () => Promise<void>;
};

type Dependencies = {
  engine: Engine;
  followers: Followers;
  streams: Streams;
  rateLimiter: RateLimiter;
  processNews: ClusterNotifications;
  connections: CallConnections;
  speech: Speech;
  log: Logger;
  order: CallOrder;
  ice: IceSettings;
  /** The offer without addresses that a call must not send packets to; null if it is not an offer of sound. */
  guardOffer: (sdp: string) => string | null;
  /** Per process. */
  most: number;
  times?: Partial<CallTimes>;
};

const usualTimes: CallTimes = { connectMs: 20_000, silenceMs: 90_000, chargeEveryMs: 30_000, unfinishedMs: 1200 };
const askAgainMs = 30_000;
/**
 * Each call starts a process and takes a second of a core. A page that is reloaded needs a few; a loop gets no more.
 */
const offersPerMinute = 6;
const notHere = 'Voice is not available here yet.';
const notBegun = 'The call could not be begun. Try again shortly.';

export function createVoiceCalls(dependencies: Dependencies): VoiceCalls {
  const { engine, followers, streams, rateLimiter, processNews, connections, speech, log, order, ice, most, times } =
    dependencies;
  const held = createHeldCalls({ order, processNews, log });
  /** One call of a session starts at a time: concurrent offers must not each start a process. */
  const starting = createLimiter({ atOnceEach: 1, waitingEach: 2 });
  /** One org must not use up the calls of the whole server. */
  const maxPerOrg = Math.max(1, Math.ceil(most * 0.75));

  function assertVoice(name: string): void {
    if (speech.voices.includes(name)) return;
    throw fail('invalid_request', {
      param: 'voice',
      message: `There is no voice \`${name.slice(0, 64)}\` on this server. It has ${speech.voices.join(', ')}.`,
    });
  }

  /** `except`: the session whose previous call is about to end. */
  function assertRoom({ orgId }: Caller, { except }: { except: string | null }): void {
    const counted = held.all().filter((each) => each.sessionId !== except);
    const ofOrg = counted.filter((each) => each.orgId === orgId).length;
    if (counted.length < most && ofOrg < maxPerOrg) return;
    throw fail('rate_limited', {
      message: 'As many voice calls as this server holds at once are running. Try again shortly.',
      retry_after_ms: askAgainMs,
    });
  }

  async function countOffer(sessionId: string): Promise<void> {
    const rate = await rateLimiter.take(`voice:${sessionId}`, offersPerMinute);
    if (!rate.allowed) throw tooManyOffers(rate.secondsToReset);
  }

  type CallStart = {
    caller: Caller;
    origin: Origin;
    conversation: ConversationRow;
    session: NonNullable<Caller['session']>;
    voice: string;
    sdp: string;
  };

  /** Answers the offer. Must not await anything between the capacity check and `held.hold`. */
  async function start({ caller, origin, conversation, session, voice, sdp }: CallStart): Promise<string> {
    assertRoom(caller, { except: null });
    const open = streams.open(caller, new AbortController().signal);
    const over = Promise.withResolvers<void>();
    const ended = () => {
      open.close();
      held.remove(own);
      over.resolve();
    };
    const iceServers = iceServersFor(ice, session);
    const call = holdCall(
      {
        conversation: createCallConversation({ engine, followers }, { caller, origin, conversation }),
        connections,
        speech,
        log,
        times: { ...usualTimes, ...times },
      },
      { voice, sdp, iceServers, signal: open.signal, ended },
    );
    const own = { sessionId: session.id, orgId: caller.orgId, call, over: over.promise };
    const leave = () =>
      void call.then(
        (begun) => begun.leave(),
        () => {},
      );
    open.leave = leave;
    if (open.isLeaving) leave();
    try {
      await held.hold(own).catch(async (error: unknown) => {
        await call.then((begun) => begun.end('failed'));
        throw error;
      });
      return (await call).sdp;
    } catch (error) {
      ended();
      if (!(error instanceof CallConnectionFailure)) throw error;
      if (error.reason === 'sdp') throw fail('sdp_required', { param: 'sdp' });
      log.error({ err: error }, 'a voice call could not start');
      throw fail('model_unavailable', { message: notBegun, told: notBegun });
    }
  }

  return {
    assertVoice,
    async begin({ caller, origin, voice, sdp }) {
      const { session } = caller;
      if (!session || session.conversationId === null) throw fail('conversation_required');
      const offer = dependencies.guardOffer(sdp);
      if (offer === null) throw fail('sdp_required', { param: 'sdp' });
      const conversation = await findConversation(engine.db, caller, session.conversationId);
      if (!conversation)
        throw fail('conversation_required', { message: 'The conversation of this session was deleted.' });
      const obstacle = (await connections.obstacle()) ?? speech.obstacle();
      if (obstacle !== null) {
        log.warn(`a voice call was refused: ${obstacle}`);
        // In test mode the developer sees the obstacle. In live mode the end user sees less.
        throw fail('model_unavailable', { message: obstacle, told: caller.mode === 'test' ? obstacle : notHere });
      }
      const [usual = ''] = speech.voices;
      // The voices may have changed since the session was created.
      const chosen = speech.voices.includes(voice) ? voice : usual;
      const answered = await starting.run(session.id, async () => {
        await assertMoneyForCall(engine.db, caller, conversation.user_id);
        assertRoom(caller, { except: session.id });
        await countOffer(session.id);
        await held.endOf(session.id);
        return start({ caller, origin, conversation, session, voice: chosen, sdp: offer });
      });
      if (answered === null) throw tooManyOffers(1);
      return { sdp: answered, endsAt: session.expiresAt };
    },
    iceServers: (session) => iceServersFor(ice, session),
    count: () => held.all().length,
    async stop() {
      const all = held.all();
      for (const { call } of all) {
        void call.then(
          (each) => each.end('server_restarting'),
          () => {},
        );
      }
      await Promise.all(all.map(({ over }) => over));
      await speech.close();
    },
  };
}

const tooManyOffers = (seconds: number) =>
  fail('rate_limited', {
    message: `This session starts too many voice calls. Try again in ${seconds} s.`,
    retry_after_ms: seconds * 1000,
  });

/** Which call of a session started last, in any process. */
type CallOrder = {
  /** Higher than the number of every earlier call of the session. */
  next: (sessionId: string) => Promise<number>;
  latest: (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};

type HeldCallsDependencies = { order: CallOrder; processNews: ClusterNotifications; log: Pick<Logger, 'warn'> };

type HeldCall = { sessionId: string; orgId: string; call: Promise<OpenCall>; over: Promise<void> };

/**
 * The calls of this process. A reloaded page calls again, possibly in another process, before its old call has ended.
 * The newest call of a session wins. If two start at once, the higher number wins; without numbers each would end the
 * other.
 */
export function createHeldCalls({ order, processNews, log }: HeldCallsDependencies) {
  const held = new Map<HeldCall, Promise<number>>();

  async function endReplaced(sessionId: string | null): Promise<void> {
    const concerned = [...held].filter(([each]) => sessionId === null || each.sessionId === sessionId);
    if (concerned.length === 0) return;
    const latest = await order.latest(concerned.map(([each]) => each.sessionId));
    for (const [{ sessionId, call }, number] of concerned) {
      void Promise.all([number, call]).then(
        ([own, begun]) => (own < (latest.get(sessionId) ?? own) ? begun.end('replaced') : undefined),
        () => {},
      );
    }
  }
  processNews.on('voice_call', (sessionId) => {
    endReplaced(sessionId).catch((error: unknown) =>
      log.warn({ err: error }, 'replaced voice calls could not be looked up'),
    );
  });

  return {
    all: (): HeldCall[] => [...held.keys()],
    /** Resolves once the call has replaced earlier ones. A call that was never answered replaces none. */
    async hold(each: HeldCall): Promise<void> {
      const number = each.call.then(() => order.next(each.sessionId));
      // Stored before it has a number, so that a call with a higher number finds it.
      held.set(each, number);
      await number;
      processNews.notify('voice_call', each.sessionId);
    },
    /** Ends the session's calls in this process and waits until they are gone. */
    async endOf(sessionId: string): Promise<void> {
      const own = [...held.keys()].filter((each) => each.sessionId === sessionId);
      await Promise.all(own.map(async ({ call, over }) => (await call).end('replaced').then(() => over)));
    },
    remove: (each: HeldCall) => void held.delete(each),
  };
}
