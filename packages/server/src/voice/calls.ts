import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Followers } from '../account/index.ts';
import { type ConversationRow, findConversation } from '../engine/conversations/index.ts';
import type { Engine } from '../engine/index.ts';
import { createLimiter } from '../platform/async/limiter.ts';
import type { Caller, Origin } from '../platform/caller.ts';
import type { ProcessNews } from '../platform/db/process-news.ts';
import type { RateLimiter } from '../platform/http/rate-limit.ts';
import type { Streams } from '../platform/http/streams.ts';
import { type Call, type CallTimes, holdCall, type IceServer, type IceSettings, iceServersFor } from './call.ts';
import { assertMoneyForCall, createTalk } from './call-conversation.ts';
import { LineFailure, type Lines } from './speech/call-connection.ts';
import type { Speech } from './speech/speech.ts';

export type VoiceCalls = {
  /** Refuses a voice that the server does not have. */
  assertVoice: (name: string) => void;
  /** Answers the offer of a session's browser and holds the call until it ends. `voice`: empty for the usual one. */
  begin: (of: { caller: Caller; origin: Origin; voice: string; sdp: string }) => Promise<{ sdp: string; endsAt: Date }>;
  /** What the browser of a session asks on its way through the network; empty where none is configured. */
  iceServers: (session: { id: string; expiresAt: Date }) => IceServer[];
  count: () => number;
  /** Ends all, and leaves once each is charged. */
  stop: () => Promise<void>;
};

type Dependencies = {
  engine: Engine;
  followers: Followers;
  streams: Streams;
  rateLimiter: RateLimiter;
  processNews: ProcessNews;
  lines: Lines;
  speech: Speech;
  log: Logger;
  order: CallOrder;
  ice: IceSettings;
  /** The offer without addresses that a call must not send packets to; null if it is not an offer of sound. */
  guardOffer: (sdp: string) => string | null;
  /** In one process. */
  most: number;
  times?: Partial<CallTimes>;
};

const usualTimes: CallTimes = { connectMs: 20_000, silenceMs: 90_000, chargeEveryMs: 30_000, unfinishedMs: 450 };
const askAgainMs = 30_000;
/** A call takes a process and its start a second of a core: a page that is reloaded needs a few, a loop gets no more. */
const offersPerMinute = 6;
const notHere = 'Voice is not available here yet.';
const notBegun = 'The call could not be begun. Try again shortly.';

export function createVoiceCalls(dependencies: Dependencies): VoiceCalls {
  const { engine, followers, streams, rateLimiter, processNews, lines, speech, log, order, ice, most, times } =
    dependencies;
  const held = createHeldCalls({ order, processNews, log });
  /** One call of a session starts at a time, so that offers sent at once do not each start a process. */
  const starting = createLimiter({ atOnceEach: 1, waitingEach: 2 });
  /** One org leaves room for another. */
  const mostOfOrg = Math.max(1, Math.ceil(most * 0.75));

  function assertVoice(name: string): void {
    if (speech.voices.includes(name)) return;
    throw fail('invalid_request', {
      param: 'voice',
      message: `There is no voice \`${name.slice(0, 64)}\` on this server. It has ${speech.voices.join(', ')}.`,
    });
  }

  /** `except`: the session whose own call is about to end, for as long as it is held. */
  function assertRoom({ orgId }: Caller, { except }: { except: string | null }): void {
    const counted = held.all().filter((each) => each.sessionId !== except);
    const ofOrg = counted.filter((each) => each.orgId === orgId).length;
    if (counted.length < most && ofOrg < mostOfOrg) return;
    throw fail('rate_limited', {
      message: 'As many voice calls as this server holds at once are running. Try again shortly.',
      retry_after_ms: askAgainMs,
    });
  }

  async function countOffer(sessionId: string): Promise<void> {
    const rate = await rateLimiter.take(`voice:${sessionId}`, offersPerMinute);
    if (!rate.allowed) throw tooManyOffers(rate.secondsToReset);
  }

  type Starting = {
    caller: Caller;
    origin: Origin;
    conversation: ConversationRow;
    session: NonNullable<Caller['session']>;
    voice: string;
    sdp: string;
  };

  /** Answers the offer. Nothing waits between the look for room and the place that the call takes. */
  async function start({ caller, origin, conversation, session, voice, sdp }: Starting): Promise<string> {
    assertRoom(caller, { except: null });
    const open = streams.open(caller, new AbortController().signal, { endsAtOnce: true });
    const over = Promise.withResolvers<void>();
    const ended = () => {
      open.close();
      held.remove(own);
      over.resolve();
    };
    const talk = createTalk({ engine, followers }, { caller, origin, conversation });
    const iceServers = iceServersFor(ice, session);
    const of = { voice, sdp, iceServers, signal: open.signal, ended };
    const call = holdCall({ talk, lines, speech, log, times: { ...usualTimes, ...times } }, of);
    const own = { sessionId: session.id, orgId: caller.orgId, call, over: over.promise };
    try {
      await held.hold(own).catch(async (error: unknown) => {
        await call.then((begun) => begun.end('failed'));
        throw error;
      });
      return (await call).sdp;
    } catch (error) {
      ended();
      if (!(error instanceof LineFailure)) throw error;
      if (error.reason === 'sdp') throw fail('sdp_required', { param: 'sdp' });
      log.error({ err: error }, 'a voice call could not be begun');
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
      const obstacle = lines.obstacle() ?? speech.obstacle();
      if (obstacle !== null) {
        log.warn(`a voice call was refused: ${obstacle}`);
        // Who tries it out is who sets it up; a customer hears less.
        throw fail('model_unavailable', { message: obstacle, told: caller.mode === 'test' ? obstacle : notHere });
      }
      const [usual = ''] = speech.voices;
      // The server may have got other voices since the session was made.
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
          (each) => each.end('session_ended'),
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

/** Which call of a session began last, in whichever process. */
type CallOrder = {
  /** Above the numbers of all calls of the session that began before. */
  next: (sessionId: string) => Promise<number>;
  latest: (sessionIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};

type HeldCallsDependencies = { order: CallOrder; processNews: ProcessNews; log: Pick<Logger, 'warn'> };

type Held = { sessionId: string; orgId: string; call: Promise<Call>; over: Promise<void> };

/**
 * The calls of this process. A page that was loaded anew calls again, here or elsewhere, before the old call knows that it is
 * gone: of each session the call that began last goes on. Of those that begin at the same moment that is the one with the
 * highest number; if each ended whatever it heard of, both would be gone.
 */
export function createHeldCalls({ order, processNews, log }: HeldCallsDependencies) {
  const held = new Map<Held, Promise<number>>();

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
    endReplaced(sessionId).catch((error: unknown) => log.warn({ err: error }, 'which voice calls go on is not known'));
  });

  return {
    all: (): Held[] => [...held.keys()],
    /** Resolves once the call has taken the place of those before it. One that was never answered takes nobody's. */
    async hold(each: Held): Promise<void> {
      const number = each.call.then(() => order.next(each.sessionId));
      // Known before it has a number: whoever gets a higher one finds it here.
      held.set(each, number);
      await number;
      processNews.notify('voice_call', each.sessionId);
    },
    /** Ends the session's calls of this process and waits until they have left their places. */
    async endOf(sessionId: string): Promise<void> {
      const own = [...held.keys()].filter((each) => each.sessionId === sessionId);
      await Promise.all(own.map(async ({ call, over }) => (await call).end('replaced').then(() => over)));
    },
    remove: (each: Held) => void held.delete(each),
  };
}
