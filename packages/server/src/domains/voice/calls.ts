import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Lines } from '../../adapters/voice/line.ts';
import { LineFailure } from '../../adapters/voice/line-failure.ts';
import type { Speech } from '../../adapters/voice/speech.ts';
import type { Caller, Origin } from '../../caller.ts';
import type { Bell } from '../../db/bell.ts';
import type { Streams } from '../../http/streams.ts';
import { type Engine, findConversation } from '../engine/api.ts';
import type { Followers } from '../events/api.ts';
import { type Call, type CallTimes, holdCall } from './call.ts';
import { assertMoneyForCall } from './money.ts';
import { createTalk } from './talk.ts';

export type VoiceCalls = {
  /** Refuses a voice that the server does not have. */
  assertVoice: (name: string) => void;
  /** Answers the offer of a session's browser and holds the call until it ends. `voice`: empty for the usual one. */
  begin: (of: { caller: Caller; origin: Origin; voice: string; sdp: string }) => Promise<{ sdp: string; endsAt: Date }>;
  count: () => number;
  /** Ends all, and leaves once each is charged. */
  stop: () => Promise<void>;
};

type Dependencies = {
  engine: Engine;
  followers: Followers;
  streams: Streams;
  bell: Bell;
  lines: Lines;
  speech: Speech;
  log: Logger;
  /** In one process. */
  most: number;
  times?: Partial<CallTimes>;
};

const usualTimes: CallTimes = { connectMs: 20_000, silenceMs: 90_000, chargeEveryMs: 30_000, unfinishedMs: 450 };
const askAgainMs = 30_000;
const notHere = 'Voice is not available here yet.';
const notBegun = 'The call could not be begun. Try again shortly.';

export function createVoiceCalls(dependencies: Dependencies): VoiceCalls {
  const { engine, followers, streams, bell, lines, speech, log, most, times } = dependencies;
  const running = new Map<string, { orgId: string; call: Promise<Call>; over: Promise<void> }>();
  /** One org leaves room for another. */
  const mostOfOrg = Math.max(1, Math.ceil(most * 0.75));

  /** A page that was loaded anew calls again, here or elsewhere, before the old call knows that it is gone. */
  const endEarlier = (sessionId: string) =>
    running.get(sessionId)?.call.then(
      (call) => call.end('replaced'),
      () => {},
    );
  bell.on('voice_call', (sessionId) => sessionId !== null && void endEarlier(sessionId));

  function assertVoice(name: string): void {
    if (speech.voices.includes(name)) return;
    throw fail('invalid_request', {
      param: 'voice',
      message: `There is no voice \`${name.slice(0, 64)}\` on this server. It has ${speech.voices.join(', ')}.`,
    });
  }

  function assertRoom({ orgId }: Caller, sessionId: string): void {
    const others = [...running].filter(([id]) => id !== sessionId).map(([, call]) => call);
    const ofOrg = others.filter((each) => each.orgId === orgId).length;
    if (others.length < most && ofOrg < mostOfOrg) return;
    throw fail('rate_limited', {
      message: 'As many voice calls as this server holds at once are running. Try again shortly.',
      retry_after_ms: askAgainMs,
    });
  }

  return {
    assertVoice,
    async begin({ caller, origin, voice, sdp }) {
      const { session } = caller;
      if (!session || session.conversationId === null) throw fail('conversation_required');
      if (!isOffer(sdp)) throw fail('sdp_required', { param: 'sdp' });
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
      await assertMoneyForCall(engine.db, caller, conversation.user_id);
      assertRoom(caller, session.id);
      const open = streams.open(caller, new AbortController().signal);
      void endEarlier(session.id);
      bell.ring('voice_call', session.id);
      const over = Promise.withResolvers<void>();
      const ended = () => {
        open.close();
        if (running.get(session.id)?.over === over.promise) running.delete(session.id);
        over.resolve();
      };
      const talk = createTalk({ engine, followers }, { caller, origin, conversation });
      const of = { voice: chosen, sdp, signal: open.signal, ended };
      const call = holdCall({ talk, lines, speech, log, times: { ...usualTimes, ...times } }, of);
      running.set(session.id, { orgId: caller.orgId, call, over: over.promise });
      try {
        return { sdp: (await call).sdp, endsAt: session.expiresAt };
      } catch (error) {
        ended();
        if (!(error instanceof LineFailure)) throw error;
        if (error.reason === 'sdp') throw fail('sdp_required', { param: 'sdp' });
        log.error({ err: error }, 'a voice call could not be begun');
        throw fail('model_unavailable', { message: notBegun, told: notBegun });
      }
    },
    count: () => running.size,
    async stop() {
      const all = [...running.values()];
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

/** What is no offer of sound at all; the rest is for the process that answers it to find out. */
const isOffer = (sdp: string) => /^v=0\r?\n/.test(sdp) && /^m=audio /m.test(sdp) && sdp.length <= 100_000;
