import { createHmac } from 'node:crypto';
import { Failure } from '@vestra/contract/errors';
import type { StreamEvent } from '@vestra/contract/events';
import type { Logger } from 'pino';
import type { LogEntry } from '../account/index.ts';
import type { InteractionRow } from '../engine/interactions/index.ts';
import { interpretAnswer, sentences, spokenQuestion } from './ask-aloud.ts';
import type { CallConversation } from './call-conversation.ts';
import type { CallConnection, CallConnections, ConnectionEvent } from './speech/call-connection.ts';
import type { Speech, Utterance } from './speech/speech.ts';
import { createSpeechQueue } from './speech-queue.ts';
import { createSentenceSplitter, isEcho } from './spoken-text.ts';
import {
  type CallAction,
  type CallEvent,
  initialTurn,
  nextTurn,
  soundsUnfinished,
  type TurnState,
} from './turn-taking.ts';

type CallEnd =
  | 'hung_up'
  | 'session_ended'
  | 'server_restarting'
  | 'replaced'
  | 'lost'
  | 'not_connected'
  | 'nobody_speaks'
  | 'budget'
  | 'failed';

export type CallTimes = {
  /** How long the browser may take to connect. */
  connectMs: number;
  /** After this long without speech the call ends. */
  silenceMs: number;
  /** Time between two charges. Each one checks the budget for the next. */
  chargeEveryMs: number;
  /** How long to wait for the rest of a sentence that sounds unfinished. */
  unfinishedMs: number;
};

type Ports = {
  conversation: CallConversation;
  connections: CallConnections;
  speech: Speech;
  log: Pick<Logger, 'warn' | 'error'>;
  times: CallTimes;
};

type CallRequest = {
  voice: string;
  sdp: string;
  iceServers: readonly IceServer[];
  /** Aborts when the session ends and when the server stops. */
  signal: AbortSignal;
  ended: () => void;
};

export type OpenCall = {
  sdp: string;
  end: (why: CallEnd) => Promise<void>;
  /** The server starts to stop: ends the call once nobody speaks and no reply is due. */
  leave: () => void;
};

const lastWordsMs = 10_000;

/** Runs one call: recognises the user's speech, sends it to the agent and speaks the reply. */
export async function holdCall(ports: Ports, request: CallRequest): Promise<OpenCall> {
  const { conversation, speech, log, times } = ports;
  const { signal } = request;
  const speechSession = speech.open(request.voice);
  const timers = new Map<string, NodeJS.Timeout>();
  const replies = new Map<string, { sentences: ReturnType<typeof createSentenceSplitter>; length: number }>();
  const over = Promise.withResolvers<void>();
  let turn: TurnState = initialTurn;
  let utterance: Utterance | null = null;
  let guess: Promise<string> | null = null;
  let readings = 0;
  let heardText = '';
  let pending: { row: InteractionRow; wasAsked: boolean; answers: string[] } | null = null;
  let chargedAt: number | null = null;
  let isEnding = false;
  let isLeaving = false;
  let connection: CallConnection | null = null;
  let unfollow = () => {};

  const speechQueue = createSpeechQueue({
    speak: speechSession.speak,
    say: (id, samples, isWhole) => connection?.say(id, samples, isWhole),
    saying: (text) => connection?.note({ type: 'saying', text }),
    allSaid: () => handle('all_said'),
    failed: (error) => fail(error),
  });

  const after = (name: string, ms: number, work: () => void) => {
    clearTimeout(timers.get(name));
    timers.set(name, setTimeout(work, ms));
  };

  function handle(event: CallEvent): void {
    const before = turn.phase;
    const next = nextTurn(turn, event);
    turn = next.state;
    for (const action of next.actions) actions[action]();
    if (turn.phase === before) return;
    connection?.note({ type: 'state', state: turn.phase });
    clearTimeout(timers.get('silence'));
    endIfLeaving();
    if (turn.phase === 'listening' && !isEnding) {
      after('silence', times.silenceMs, () => void end('nobody_speaks', sentences.nobodySpeaks));
    }
  }

  function endIfLeaving(): void {
    if (isLeaving && turn.phase === 'listening') void end('server_restarting');
  }

  const actions: Record<CallAction, () => void> = {
    read: () => void read().catch(fail),
    send: () => void answerTo(heardText).catch(fail),
    say: () => speechQueue.release(),
    keep: () => {},
    resume: () => {
      connection?.resume();
      speechQueue.release();
    },
    drop_unsaid: () => {
      connection?.clear();
      speechQueue.drop();
    },
  };

  /** Spoken at once, or after the user has finished. */
  function say(text: string, turnId: string | null = null): Promise<boolean> {
    const out = speechQueue.add(text, turnId);
    handle('sentence');
    return out;
  }

  function onConnectionEvent(event: ConnectionEvent): void {
    if (event.kind === 'connected') begin();
    if (event.kind === 'speech') onSpeech(event);
    if (event.kind === 'sound') utterance?.push(event.samples);
    if (event.kind === 'said') speechQueue.wasSaid(event.id);
    if (event.kind === 'hung_up') void end('hung_up');
    if (event.kind === 'lost' || event.kind === 'gone') void end('lost');
  }

  function begin(): void {
    clearTimeout(timers.get('connect'));
    chargedAt = performance.now();
    connection?.note({ type: 'state', state: turn.phase });
    after('silence', times.silenceMs, () => void end('nobody_speaks', sentences.nobodySpeaks));
    timers.set(
      'charge',
      setInterval(() => void chargeAndLook().catch(fail), times.chargeEveryMs),
    );
    void conversation.firstWaiting().then(ask).catch(fail);
  }

  function onSpeech({ news, broken }: Extract<ConnectionEvent, { kind: 'speech' }>): void {
    if (news === 'started' || news === 'resumed') {
      clearTimeout(timers.get('unfinished'));
      if (broken) speechQueue.brokeOff(broken);
      utterance ??= speechSession.listen();
      guess = null;
      handle('began');
    }
    // Transcribe during the pause, before it is certain that the user has finished.
    if (news === 'paused') guess = guessOf(utterance);
    if (news === 'paused') void showGuess(guess);
    if (news === 'ended') handle('fell_silent');
  }

  /** Shows the words so far. They were needed anyway, so it costs nothing, and an error reaches `read`. */
  async function showGuess(shown: Promise<string> | null): Promise<void> {
    const text = await shown?.catch(() => '');
    if (text && shown === guess && !isEnding) connection?.note({ type: 'hearing', text });
  }

  async function read(): Promise<void> {
    const own = ++readings;
    const text = (await (guess ?? utterance?.text())) ?? '';
    const isMine = () => own === readings && turn.phase === 'reading' && !isEnding;
    if (!isMine()) return;
    const settle = () => {
      if (!isMine()) return;
      utterance?.drop();
      utterance = null;
      guess = null;
      heardText = text;
      const isWords = /[\p{L}\p{N}]/u.test(text) && !(turn.isInterrupted && isEcho(text, speechQueue.lately()));
      handle(isWords ? 'words' : 'no_words');
    };
    // An unfinished sentence may continue after a pause. A complete one is answered at once.
    if (soundsUnfinished(text)) after('unfinished', times.unfinishedMs, settle);
    else settle();
  }

  /** Treats the words as an answer to the pending interaction, or else as a message. */
  async function answerTo(text: string): Promise<void> {
    connection?.note({ type: 'heard', text });
    const heard = pending ? interpretAnswer(pending.row, text, pending) : { kind: 'message' as const };
    if (!pending || heard.kind === 'message') return conversation.send(text, speechQueue.takeInterrupted());
    if (heard.kind === 'refused') return void say(heard.say);
    if (heard.kind === 'next_question') {
      pending.answers = heard.answers;
      return askNow();
    }
    const { row } = pending;
    pending = null;
    await conversation.answer(row, heard.answer);
    if (heard.say !== null) void say(heard.say);
  }

  function onEntry({ type, data, turn_id }: LogEntry): void {
    const event = { type, data } as Pick<StreamEvent, 'type' | 'data'> as StreamEvent;
    if (event.type === 'turn.started') handle('reply_begins');
    if (event.type === 'reply.delta') {
      const { message_id, text } = event.data;
      sayAll(replyOf(message_id, text.length).sentences.add(text), turn_id);
    }
    if (event.type === 'reply.completed') {
      const { id, text } = event.data.message;
      const reply = replyOf(id, 0);
      // Speak the part of the reply that was not streamed.
      sayAll([...reply.sentences.add(text.slice(reply.length)), ...reply.sentences.finish()], turn_id);
      replies.delete(id);
      handle('reply_is_over');
    }
    if (event.type === 'turn.failed') void say(sentences.replyFailed);
    if (event.type === 'turn.failed' || event.type === 'turn.settled') handle('reply_is_over');
    if (event.type === 'interaction.created')
      void conversation.interaction(event.data.interaction.id).then(ask).catch(fail);
    if (event.type === 'interaction.resolved' && pending?.row.id === event.data.interaction.id) pending = null;
  }

  function replyOf(messageId: string, more: number) {
    const reply = replies.get(messageId) ?? { sentences: createSentenceSplitter(), length: 0 };
    reply.length += more;
    replies.set(messageId, reply);
    return reply;
  }

  function sayAll(texts: readonly string[], turnId: string | null): void {
    for (const text of texts) if (!speechQueue.isMuted(turnId)) void say(text, turnId);
  }

  async function ask(row: InteractionRow | null): Promise<void> {
    if (row?.status !== 'pending') return;
    pending = { row, wasAsked: false, answers: [] };
    return askNow();
  }

  async function askNow(): Promise<void> {
    const own = pending;
    const text = own && spokenQuestion(own.row, own.answers.length);
    if (!own || !text) return;
    own.wasAsked = false;
    own.wasAsked = await say(text);
  }

  async function chargeAndLook(): Promise<void> {
    await chargeTime();
    await conversation.assertMoney();
  }

  async function chargeTime(): Promise<void> {
    if (chargedAt === null) return;
    const now = performance.now();
    const seconds = (now - chargedAt) / 1000;
    chargedAt = now;
    await conversation.charge(speech.model, seconds, speechSession.takeUsed());
  }

  function fail(error: unknown): void {
    const isSpent = error instanceof Failure && error.status === 402;
    if (isSpent) return void end('budget', sentences.budgetSpent);
    if (!isEnding) log.warn({ err: error }, 'a voice call ended with an error');
    void end('failed');
  }

  async function end(why: CallEnd, lastWords: string | null = null): Promise<void> {
    if (isEnding) return over.promise;
    isEnding = true;
    for (const timer of timers.values()) clearTimeout(timer);
    signal.removeEventListener('abort', endWithSession);
    unfollow();
    if (lastWords !== null && !signal.aborted) await sayLast(lastWords);
    handle('ends');
    connection?.note({ type: 'ended', reason: why, ...(lastWords !== null && { message: lastWords }) });
    connection?.close();
    await chargeTime().catch((error: unknown) => log.error({ err: error }, 'a voice call could not be charged'));
    speechSession.close();
    request.ended();
    over.resolve();
  }

  async function sayLast(words: string): Promise<void> {
    connection?.clear();
    speechQueue.drop();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, lastWordsMs);
    const out = speechQueue.add(words, null);
    speechQueue.release();
    await Promise.race([out, promise]);
    clearTimeout(timer);
  }

  const endWithSession = () => void end(isRestart(signal.reason) ? 'server_restarting' : 'session_ended');
  signal.addEventListener('abort', endWithSession, { once: true });
  try {
    connection = await ports.connections.open({ sdp: request.sdp, iceServers: request.iceServers }, onConnectionEvent);
  } catch (error) {
    isEnding = true;
    speechSession.close();
    signal.removeEventListener('abort', endWithSession);
    throw error;
  }
  after('connect', times.connectMs, () => void end('not_connected'));
  unfollow = conversation.follow(onEntry, fail);
  if (signal.aborted) endWithSession();
  return {
    sdp: connection.sdp,
    end: (why) => end(why),
    leave() {
      isLeaving = true;
      endIfLeaving();
    },
  };
}

const isRestart = (reason: unknown) => reason instanceof Failure && reason.code === 'not_ready';

function guessOf(utterance: Utterance | null): Promise<string> | null {
  if (!utterance) return null;
  const text = utterance.text();
  // Errors reach the caller that awaits it.
  text.catch(() => {});
  return text;
}

/** A STUN or TURN server for the browser and for the process of the call. */
export type IceServer = { urls: string[]; username?: string; credential?: string };

export type IceSettings = {
  /** Such as `stun:stun.example.com:3478` and `turns:turn.example.com:5349?transport=tcp`. */
  urls: readonly string[];
  /** The secret shared with the TURN servers; null if there are none. */
  secret: string | null;
};

/**
 * A TURN server relays any traffic, so its password must not outlive the session. The TURN server derives the same
 * password from the shared secret (coturn's `use-auth-secret`, with SHA-1).
 */
export function iceServersFor(
  { urls, secret }: IceSettings,
  { id, expiresAt }: { id: string; expiresAt: Date },
): IceServer[] {
  const relays = urls.filter((url) => url.startsWith('turn'));
  const others = urls.filter((url) => !url.startsWith('turn'));
  const servers: IceServer[] = others.length > 0 ? [{ urls: others }] : [];
  if (relays.length === 0 || secret === null) return servers;
  const username = `${Math.floor(expiresAt.getTime() / 1000)}:${id}`;
  const credential = createHmac('sha1', secret).update(username).digest('base64');
  return [...servers, { urls: relays, username, credential }];
}
