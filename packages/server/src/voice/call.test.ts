import { Failure, fail } from '@vestra/contract/errors';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LogEntry } from '../account/events/conversation-log.ts';
import type { InteractionRow } from '../engine/records/tables.ts';
import { type InteractionAnswer, readAnswer } from '../engine/turns/interaction-answer.ts';
import { sentences } from './ask-aloud.ts';
import { holdCall } from './call.ts';
import type { CallConversation } from './call-conversation.ts';
import type { CallConnection, ConnectionEvent } from './speech/call-connection.ts';
import type { Speech } from './speech/speech.ts';

/** Encodes text as sound and back: these tests are about turn-taking. */
const soundOf = (text: string) => Int16Array.from(text, (sign) => sign.charCodeAt(0));
const textOf = (samples: Int16Array) => String.fromCharCode(...samples);

const times = { connectMs: 20_000, silenceMs: 60_000, chargeEveryMs: 10_000, unfinishedMs: 400 };

/** `synthesis`: delays the synthesis of a sentence. */
async function callUp(given: Partial<CallConversation> = {}, synthesis: Promise<void> = Promise.resolve()) {
  const line = {
    saying: [] as { id: number; text: string }[],
    notes: [] as string[],
    captions: [] as string[],
    done: [] as string[],
  };
  const sent: [string, string | null][] = [];
  const answered: unknown[] = [];
  const charged: number[] = [];
  const session = new AbortController();
  let hear: (news: ConnectionEvent) => void = () => {};
  let happened: (entry: LogEntry) => void = () => {};
  const open: CallConnection = {
    sdp: 'answer',
    say: (id, samples) => {
      if (samples.length > 0) line.saying.push({ id, text: textOf(samples) });
    },
    resume: () => line.done.push('resume'),
    clear: () => {
      line.saying = [];
      line.done.push('clear');
    },
    note: ({ type, ...note }) => {
      if (type === 'hearing' || type === 'saying') line.captions.push(`${type}: ${note.text}`);
      else line.notes.push(String(note.state ?? note.text ?? `ended: ${note.reason}`));
    },
    close: () => line.done.push('close'),
  };
  const speech: Speech = {
    model: 'offline',
    voices: ['slt'],
    obstacle: () => null,
    close: async () => {},
    open: () => ({
      listen: () => {
        let heard = '';
        return {
          push: (samples) => {
            heard += textOf(samples);
          },
          text: async () => heard,
          drop: () => {},
        };
      },
      async *speak(text) {
        await synthesis;
        yield soundOf(text);
      },
      takeUsed: () => [],
      close: () => line.done.push('closed speech'),
    }),
  };
  const conversation: CallConversation = {
    follow: (each) => {
      happened = each;
      return () => {
        happened = () => {};
      };
    },
    send: async (text, interrupted) => void sent.push([text, interrupted]),
    interaction: async () => null,
    firstWaiting: async () => null,
    answer: async (_, answer) => void answered.push(answer),
    charge: async (_, seconds) => void charged.push(seconds),
    assertMoney: async () => {},
    ...given,
  };
  const connections = {
    obstacle: async () => null,
    open: async (_: unknown, told: typeof hear) => {
      hear = told;
      return open;
    },
  };
  const ended = vi.fn();
  const log = { warn: vi.fn(), error: vi.fn() };
  const of = { voice: 'slt', sdp: 'offer', iceServers: [], signal: session.signal, ended };
  const call = await holdCall({ conversation, connections, speech, log, times }, of);
  const rest = () => vi.advanceTimersByTimeAsync(0);
  hear({ kind: 'connected' });
  await rest();
  return {
    ...{ call, line, sent, answered, charged, session, ended, rest, log },
    hear: (news: ConnectionEvent) => hear(news),
    /** Speaks to the end, or until `then`. */
    async speak(text: string, { broken = null as { id: number; share: number } | null } = {}) {
      hear({ kind: 'speech', news: 'started', broken });
      hear({ kind: 'sound', samples: soundOf(text) });
      hear({ kind: 'speech', news: 'paused', broken: null });
      hear({ kind: 'speech', news: 'ended', broken: null });
      await rest();
    },
    async happens(type: string, data: unknown, turn_id = 'turn_1') {
      happened({ type, data, turn_id } as LogEntry);
      await rest();
    },
    async reply(text: string, turn = 'turn_1', isWhole = true) {
      const id = `msg_${turn}`;
      happened({ type: 'turn.started', data: {}, turn_id: turn } as unknown as LogEntry);
      happened({ type: 'reply.delta', data: { message_id: id, text }, turn_id: turn } as unknown as LogEntry);
      if (isWhole)
        happened({ type: 'reply.completed', data: { message: { id, text } }, turn_id: turn } as unknown as LogEntry);
      await rest();
    },
    async out(id = line.saying[0]?.id) {
      line.saying = line.saying.filter((each) => each.id !== id);
      hear({ kind: 'said', id: id as number });
      await rest();
    },
    texts: () => line.saying.map(({ text }) => text),
  };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a call', () => {
  it('sends speech as a message and speaks the reply sentence by sentence [VOI-006]', async () => {
    const call = await callUp();
    await call.speak('Where is it?');
    expect(call.sent).toEqual([['Where is it?', null]]);
    await call.reply('It is here. It is **blue**.');
    expect(call.texts()).toEqual(['It is here.', 'It is blue.']);
    await call.out();
    await call.out();
    expect(call.line.notes).toEqual([
      'listening',
      'hearing',
      'reading',
      'Where is it?',
      'thinking',
      'speaking',
      'listening',
    ]);
  });

  it('shows the words so far at each pause, and each sentence of the agent when it is heard [VOI-620]', async () => {
    const call = await callUp();
    call.hear({ kind: 'speech', news: 'started', broken: null });
    call.hear({ kind: 'sound', samples: soundOf('I would like') });
    call.hear({ kind: 'speech', news: 'paused', broken: null });
    await call.rest();
    call.hear({ kind: 'speech', news: 'resumed', broken: null });
    call.hear({ kind: 'sound', samples: soundOf(' a coat.') });
    call.hear({ kind: 'speech', news: 'paused', broken: null });
    await call.rest();
    call.hear({ kind: 'speech', news: 'ended', broken: null });
    await call.rest();
    expect(call.line.captions).toEqual(['hearing: I would like', 'hearing: I would like a coat.']);
    await call.reply('Which size? We have two.');
    expect(call.line.captions.slice(2)).toEqual(['saying: Which size?']);
    await call.out();
    expect(call.line.captions.slice(3)).toEqual(['saying: We have two.']);
  });

  it('waits for the rest of an unfinished sentence and sends one message', async () => {
    const call = await callUp();
    await call.speak('I would like to');
    await vi.advanceTimersByTimeAsync(300);
    expect(call.sent).toEqual([]);
    await call.speak(' change my order.');
    expect(call.sent).toEqual([['I would like to change my order.', null]]);
    await call.speak('And then');
    await vi.advanceTimersByTimeAsync(times.unfinishedMs);
    expect(call.sent[1]).toEqual(['And then', null]);
  });

  it('is not cut into two messages by a pause in a sentence, although the words so far end with a full stop [VOI-622]', async () => {
    const call = await callUp();
    await call.speak('I would like to.');
    await vi.advanceTimersByTimeAsync(times.unfinishedMs - 1);
    expect(call.sent).toEqual([]);
    await call.speak(' change the address of my order.');
    expect(call.sent).toEqual([['I would like to. change the address of my order.', null]]);
    // Nobody waits behind a whole sentence.
    await call.speak('Thank you.');
    expect(call.sent[1]).toEqual(['Thank you.', null]);
  });

  it('stops when interrupted, tells the agent how much was heard, and never speaks the rest [VOI-261]', async () => {
    const call = await callUp();
    await call.reply('One two. Three four five six. Seven eight.', 'turn_1', false);
    expect(call.texts()).toEqual(['One two.', 'Three four five six.']);
    await call.out();
    await call.speak('No, wait.', { broken: { id: 2, share: 0.5 } });
    expect(call.line.done).toContain('clear');
    expect(call.sent).toEqual([['No, wait.', 'One two. Three four']]);
    await call.happens('reply.delta', { message_id: 'msg_turn_1', text: ' Nine ten. Eleven. ' });
    await call.happens('reply.completed', {
      message: { id: 'msg_turn_1', text: 'One two. Three four five six. Seven eight. Nine ten. Eleven. ' },
    });
    expect(call.texts()).toEqual([]);
    await call.reply('Right.', 'turn_2');
    expect(call.texts()).toEqual(['Right.']);
    await call.out();
    await call.speak('Thanks.');
    expect(call.sent[1]).toEqual(['Thanks.', null]);
  });

  it('speaks the whole next reply while the interrupted one is still being synthesised [VOI-421]', async () => {
    const synthesis = Promise.withResolvers<void>();
    const call = await callUp({}, synthesis.promise);
    await call.reply('One. Two.');
    await call.speak('No, wait.');
    await call.reply('Three. Four. Five.', 'turn_2');
    synthesis.resolve();
    await call.rest();
    expect(call.texts()).toEqual(['Three.', 'Four.', 'Five.']);
  });

  it('continues after a noise and after its own echo', async () => {
    const call = await callUp();
    await call.reply('Your parcel arrives on Tuesday.');
    await call.speak('', { broken: { id: 1, share: 0.3 } });
    await call.speak('parcel arrives on.', { broken: { id: 1, share: 0.6 } });
    expect(call.line.done).toEqual(['resume', 'resume']);
    expect(call.sent).toEqual([]);
  });

  it('asks for an approval and accepts a valid one [VOI-263]', async () => {
    const row = {
      ...{ id: 'int_1', type: 'approval', kind: 'tool_permission', status: 'pending', summary: 'Books a table' },
      ...{
        moves_money: null,
        requires_present_user: false,
        details: {},
        questions: null,
        approver: 'user',
        nonce: null,
      },
    } as unknown as InteractionRow;
    const call = await callUp({ interaction: async () => row });
    await call.happens('interaction.created', { interaction: { id: 'int_1' } });
    expect(call.texts()).toEqual(['Books a table. Please say yes or no.']);
    await call.speak('Yes.', { broken: { id: 1, share: 0.4 } });
    expect(call.answered).toEqual([]);
    await call.out();
    await call.happens('interaction.created', { interaction: { id: 'int_1' } });
    await call.out();
    await call.speak('Yes.');
    expect(call.answered).toEqual([{ approve: true, present_user: true }]);
    // As the engine reads it.
    expect(readAnswer(row, call.answered[0] as InteractionAnswer)).toMatchObject({ decision: 'approved' });
    expect(call.sent).toEqual([]);
  });

  it('ends with a sentence when the budget is used up, by time or by a message [VOI-264]', async () => {
    const spent = () => Promise.reject(fail('user_cap_reached'));
    const byClock = await callUp({ assertMoney: spent });
    await vi.advanceTimersByTimeAsync(times.chargeEveryMs);
    expect(byClock.texts()).toEqual([sentences.budgetSpent]);
    expect(byClock.ended).not.toHaveBeenCalled();
    await byClock.out();
    expect(byClock.line.notes.at(-1)).toBe('ended: budget');
    expect(byClock.ended).toHaveBeenCalledOnce();

    const byMessage = await callUp({ send: spent });
    await byMessage.speak('Hello there.');
    expect(byMessage.texts()).toEqual([sentences.budgetSpent]);
    // No one consumes the sound. The call ends all the same.
    await vi.advanceTimersByTimeAsync(10_000);
    expect(byMessage.ended).toHaveBeenCalledOnce();
  });

  it('ends on silence, without a connection, when its process dies and when the session ends [VOI-265, SES-018]', async () => {
    const silent = await callUp();
    await vi.advanceTimersByTimeAsync(times.silenceMs);
    expect(silent.texts()).toEqual([sentences.nobodySpeaks]);
    await silent.out();
    expect([silent.line.notes.at(-1), silent.line.done]).toEqual([
      'ended: nobody_speaks',
      ['clear', 'clear', 'close', 'closed speech'],
    ]);

    const dead = await callUp();
    await dead.reply('A long story.');
    dead.hear({ kind: 'gone' });
    await dead.rest();
    expect(dead.ended).toHaveBeenCalledOnce();

    const revoked = await callUp();
    await vi.advanceTimersByTimeAsync(2_500);
    revoked.session.abort();
    await revoked.rest();
    expect([revoked.ended.mock.calls.length, revoked.line.notes.at(-1)]).toEqual([1, 'ended: session_ended']);
    expect(revoked.charged).toEqual([2.5]);
    await revoked.call.end('hung_up');
    expect(revoked.ended).toHaveBeenCalledOnce();
  });

  it('is held through a restart of the server until nobody speaks, and its end names the restart [OPS-731]', async () => {
    const idle = await callUp();
    idle.call.leave();
    await idle.rest();
    expect([idle.ended.mock.calls.length, idle.line.notes.at(-1)]).toEqual([1, 'ended: server_restarting']);

    const busy = await callUp();
    await busy.speak('Where is my parcel?');
    busy.call.leave();
    await busy.reply('It arrives today. Thank you.');
    await busy.happens('turn.settled', {});
    expect(busy.ended.mock.calls.length).toBe(0);
    while (busy.texts().length > 0) await busy.out();
    expect([busy.ended.mock.calls.length, busy.line.notes.at(-1)]).toEqual([1, 'ended: server_restarting']);

    const late = await callUp();
    await late.speak('Where is my parcel?');
    late.call.leave();
    late.session.abort(fail('not_ready'));
    await late.rest();
    expect([late.ended.mock.calls.length, late.line.notes.at(-1)]).toEqual([1, 'ended: server_restarting']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends after a fault without describing it', async () => {
    const call = await callUp({ send: () => Promise.reject(new Failure('user_disabled')) });
    await call.speak('Hello there.');
    expect([call.line.notes.at(-1), call.texts()]).toEqual(['ended: failed', []]);
    expect(call.ended).toHaveBeenCalledOnce();
  });
});
