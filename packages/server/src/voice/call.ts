import { createHmac } from 'node:crypto';
import { Failure } from '@vestra/contract/errors';
import type { StreamEvent } from '@vestra/contract/events';
import type { Logger } from 'pino';
import type { LogEntry } from '../account/index.ts';
import type { InteractionRow } from '../engine/interactions/index.ts';
import { askAloud, hearAnswer, sentences } from './ask-aloud.ts';
import type { Talk } from './call-conversation.ts';
import type { Line, LineNews, Lines } from './speech/call-connection.ts';
import type { Speech, Utterance } from './speech/speech.ts';
import { createSpoken } from './speech-queue.ts';
import { createSentences, isEcho } from './spoken-text.ts';
import { atFirst, type Deed, type Happening, type Taking, take } from './turn-taking.ts';

type CallEnd =
  | 'hung_up'
  | 'session_ended'
  | 'replaced'
  | 'lost'
  | 'not_connected'
  | 'nobody_speaks'
  | 'budget'
  | 'failed';

export type CallTimes = {
  /** Within which the browser must have connected. */
  connectMs: number;
  /** After which a call in which nobody speaks ends. */
  silenceMs: number;
  /** Between two charges, each of which looks whether there is money for the next. */
  chargeEveryMs: number;
  /** For a sentence that sounded unfinished to go on. */
  unfinishedMs: number;
};

type Ports = { talk: Talk; lines: Lines; speech: Speech; log: Pick<Logger, 'warn' | 'error'>; times: CallTimes };

type Of = {
  voice: string;
  sdp: string;
  iceServers: readonly IceServer[];
  /** Ends with the session and with the server. */
  signal: AbortSignal;
  ended: () => void;
};

export type Call = { sdp: string; end: (why: CallEnd) => Promise<void> };

const lastWordsMs = 10_000;

/** Holds one call: hears the person, has the agent of the conversation answer, and says what it says. */
export async function holdCall(ports: Ports, of: Of): Promise<Call> {
  const { talk, speech, log, times } = ports;
  const { signal } = of;
  const ears = speech.open(of.voice);
  const timers = new Map<string, NodeJS.Timeout>();
  const replies = new Map<string, { sentences: ReturnType<typeof createSentences>; length: number }>();
  const over = Promise.withResolvers<void>();
  let taking: Taking = atFirst;
  let utterance: Utterance | null = null;
  let guess: Promise<string> | null = null;
  let readings = 0;
  let heardText = '';
  let asked: { row: InteractionRow; wasAsked: boolean; answers: string[] } | null = null;
  let chargedAt: number | null = null;
  let isEnding = false;
  let line: Line | null = null;
  let unfollow = () => {};

  const spoken = createSpoken({
    speak: ears.speak,
    say: (id, samples, isWhole) => line?.say(id, samples, isWhole),
    allSaid: () => happen('all_said'),
    failed: (error) => fail(error),
  });

  const after = (name: string, ms: number, work: () => void) => {
    clearTimeout(timers.get(name));
    timers.set(name, setTimeout(work, ms));
  };

  function happen(happening: Happening): void {
    const before = taking.phase;
    const step = take(taking, happening);
    taking = step.taking;
    for (const deed of step.deeds) deeds[deed]();
    if (taking.phase === before) return;
    line?.note({ type: 'state', state: taking.phase });
    clearTimeout(timers.get('silence'));
    if (taking.phase === 'listening') {
      after('silence', times.silenceMs, () => void end('nobody_speaks', sentences.nobodySpeaks));
    }
  }

  const deeds: Record<Deed, () => void> = {
    read: () => void read().catch(fail),
    send: () => void answerTo(heardText).catch(fail),
    say: () => spoken.release(),
    keep: () => {},
    go_on: () => {
      line?.resume();
      spoken.release();
    },
    drop_unsaid: () => {
      line?.clear();
      spoken.drop();
    },
  };

  /** Said at once, or once the person has been heard. */
  function say(text: string, turnId: string | null = null): Promise<boolean> {
    const out = spoken.add(text, turnId);
    happen('sentence');
    return out;
  }

  function onLine(news: LineNews): void {
    if (news.kind === 'connected') begin();
    if (news.kind === 'speech') onSpeech(news);
    if (news.kind === 'sound') utterance?.push(news.samples);
    if (news.kind === 'said') spoken.wasSaid(news.id);
    if (news.kind === 'hung_up') void end('hung_up');
    if (news.kind === 'lost' || news.kind === 'gone') void end('lost');
  }

  function begin(): void {
    clearTimeout(timers.get('connect'));
    chargedAt = performance.now();
    line?.note({ type: 'state', state: taking.phase });
    after('silence', times.silenceMs, () => void end('nobody_speaks', sentences.nobodySpeaks));
    timers.set(
      'charge',
      setInterval(() => void chargeAndLook().catch(fail), times.chargeEveryMs),
    );
    void talk.firstWaiting().then(ask).catch(fail);
  }

  function onSpeech({ news, broken }: Extract<LineNews, { kind: 'speech' }>): void {
    if (news === 'started' || news === 'resumed') {
      clearTimeout(timers.get('unfinished'));
      if (broken) spoken.brokeOff(broken);
      utterance ??= ears.listen();
      guess = null;
      happen('began');
    }
    // What was said so far is read while it is not yet sure that it was all.
    if (news === 'paused') guess = guessOf(utterance);
    if (news === 'ended') happen('fell_silent');
  }

  async function read(): Promise<void> {
    const own = ++readings;
    const text = (await (guess ?? utterance?.text())) ?? '';
    const isMine = () => own === readings && taking.phase === 'reading' && !isEnding;
    if (!isMine()) return;
    const settle = () => {
      if (!isMine()) return;
      utterance?.drop();
      utterance = null;
      guess = null;
      heardText = text;
      const isWords = /[\p{L}\p{N}]/u.test(text) && !(taking.isBrokenOff && isEcho(text, spoken.lately()));
      happen(isWords ? 'words' : 'no_words');
    };
    // Nobody is cut short in the middle of a sentence; a whole one is answered at once.
    if (text === '' || /[.!?…。！？]$/.test(text)) settle();
    else after('unfinished', times.unfinishedMs, settle);
  }

  /** What was said is an answer to what waits, or a message like any that is typed. */
  async function answerTo(text: string): Promise<void> {
    line?.note({ type: 'heard', text });
    const heard = asked ? hearAnswer(asked.row, text, asked) : { kind: 'message' as const };
    if (!asked || heard.kind === 'message') return talk.send(text, spoken.takeInterrupted());
    if (heard.kind === 'refused') return void say(heard.say);
    if (heard.kind === 'next_question') {
      asked.answers = heard.answers;
      return askNow();
    }
    const { row } = asked;
    asked = null;
    await talk.answer(row, heard.answer);
    if (heard.say !== null) void say(heard.say);
  }

  function onEntry({ type, data, turn_id }: LogEntry): void {
    const event = { type, data } as Pick<StreamEvent, 'type' | 'data'> as StreamEvent;
    if (event.type === 'turn.started') happen('reply_begins');
    if (event.type === 'reply.delta') {
      const { message_id, text } = event.data;
      sayAll(replyOf(message_id, text.length).sentences.add(text), turn_id);
    }
    if (event.type === 'reply.completed') {
      const { id, text } = event.data.message;
      const reply = replyOf(id, 0);
      // What was never streamed is said from the whole.
      sayAll([...reply.sentences.add(text.slice(reply.length)), ...reply.sentences.finish()], turn_id);
      replies.delete(id);
      happen('reply_is_over');
    }
    if (event.type === 'turn.failed') void say(sentences.replyFailed);
    if (event.type === 'turn.failed' || event.type === 'turn.settled') happen('reply_is_over');
    if (event.type === 'interaction.created') void talk.interaction(event.data.interaction.id).then(ask).catch(fail);
    if (event.type === 'interaction.resolved' && asked?.row.id === event.data.interaction.id) asked = null;
  }

  function replyOf(messageId: string, more: number) {
    const reply = replies.get(messageId) ?? { sentences: createSentences(), length: 0 };
    reply.length += more;
    replies.set(messageId, reply);
    return reply;
  }

  function sayAll(texts: readonly string[], turnId: string | null): void {
    for (const text of texts) if (!spoken.isMuted(turnId)) void say(text, turnId);
  }

  async function ask(row: InteractionRow | null): Promise<void> {
    if (row?.status !== 'pending') return;
    asked = { row, wasAsked: false, answers: [] };
    return askNow();
  }

  async function askNow(): Promise<void> {
    const own = asked;
    const text = own && askAloud(own.row, own.answers.length);
    if (!own || !text) return;
    own.wasAsked = false;
    own.wasAsked = await say(text);
  }

  async function chargeAndLook(): Promise<void> {
    await chargeTime();
    await talk.assertMoney();
  }

  async function chargeTime(): Promise<void> {
    if (chargedAt === null) return;
    const now = performance.now();
    const seconds = (now - chargedAt) / 1000;
    chargedAt = now;
    await talk.charge(speech.model, seconds, ears.takeUsed());
  }

  function fail(error: unknown): void {
    const isSpent = error instanceof Failure && error.status === 402;
    if (isSpent) return void end('budget', sentences.budgetSpent);
    if (!isEnding) log.warn({ err: error }, 'a voice call ended by a fault');
    void end('failed');
  }

  async function end(why: CallEnd, lastWords: string | null = null): Promise<void> {
    if (isEnding) return over.promise;
    isEnding = true;
    for (const timer of timers.values()) clearTimeout(timer);
    signal.removeEventListener('abort', endWithSession);
    unfollow();
    if (lastWords !== null && !signal.aborted) await sayLast(lastWords);
    happen('ends');
    line?.note({ type: 'ended', reason: why, ...(lastWords !== null && { message: lastWords }) });
    line?.close();
    await chargeTime().catch((error: unknown) => log.error({ err: error }, 'a voice call could not be charged'));
    ears.close();
    of.ended();
    over.resolve();
  }

  async function sayLast(words: string): Promise<void> {
    line?.clear();
    spoken.drop();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, lastWordsMs);
    const out = spoken.add(words, null);
    spoken.release();
    await Promise.race([out, promise]);
    clearTimeout(timer);
  }

  const endWithSession = () => void end('session_ended');
  signal.addEventListener('abort', endWithSession, { once: true });
  try {
    line = await ports.lines.open({ sdp: of.sdp, iceServers: of.iceServers }, onLine);
  } catch (error) {
    isEnding = true;
    ears.close();
    signal.removeEventListener('abort', endWithSession);
    throw error;
  }
  after('connect', times.connectMs, () => void end('not_connected'));
  unfollow = talk.follow(onEntry, fail);
  if (signal.aborted) endWithSession();
  return { sdp: line.sdp, end: (why) => end(why) };
}

function guessOf(utterance: Utterance | null): Promise<string> | null {
  if (!utterance) return null;
  const text = utterance.text();
  // Whoever awaits it hears of it.
  text.catch(() => {});
  return text;
}

/** What a browser is told, and the process of a call asks, to find a way through firewalls and translated addresses. */
export type IceServer = { urls: string[]; username?: string; credential?: string };

export type IceSettings = {
  /** Such as `stun:stun.example.com:3478` and `turns:turn.example.com:5349?transport=tcp`. */
  urls: readonly string[];
  /** What the TURN servers share with this one; null where there is none among them. */
  secret: string | null;
};

/**
 * A TURN server passes on whatever it is sent: its password must not outlive the session. It knows the secret and works the
 * password out anew, so that nobody has to tell it of each session (coturn's `use-auth-secret`; its hash is SHA-1).
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
