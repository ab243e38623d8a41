import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { askedFor, spoken, startTalk, type Talk } from './conversations.fixture.ts';
import { unpaired } from './talks.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

/** The window of the scripted model, in the bytes that a token is taken for. */
const windowBytes = 128_000 * 3.5;
const earlier = 2_000;
const summary = 'THE SUMMARY: they talked about numbers.';

/** As if it had been said in 1,000 turns before: each message with its number. */
async function longConversation(): Promise<string> {
  const { id } = await server.begin();
  const rows = Array.from({ length: earlier }, (_, at) => ({
    conversation_id: id,
    id: newId('msg'),
    turn_id: newId('turn'),
    turn_ordinal: Math.floor(at / 2) + 1,
    role: at % 2 === 0 ? 'user' : 'agent',
    text: `#${at} ${'word '.repeat(40)}`,
  }));
  await query(
    server.connectionString,
    `INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text)
     SELECT conversation_id, id, turn_id, turn_ordinal, role, text FROM json_to_recordset($1::json)
       AS m(conversation_id text, id text, turn_id text, turn_ordinal integer, role text, text text)`,
    [JSON.stringify(rows)],
  );
  await query(server.connectionString, 'UPDATE conversations SET turn_count = $2 WHERE id = $1', [id, earlier / 2]);
  return id;
}

/** A model that refuses what does not fit, as a real one does. */
function answerWithinWindow(): void {
  server.script((request) => {
    if (Buffer.byteLength(JSON.stringify(request.body)) > windowBytes) {
      return { fail: 400, failCode: 'context_length_exceeded', failMessage: 'maximum context length exceeded' };
    }
    return { text: isSummary(request) ? summary : `Answer to ${askedFor(request)}` };
  });
}

const isSummary = (request: Parameters<typeof askedFor>[0]) => request.tools.length === 0;
const numbersIn = (text: string) => [...text.matchAll(/#(\d+) /g)].map(([, number]) => Number(number));
const countTo = (from: number, last: number) => Array.from({ length: last - from + 1 }, (_, at) => from + at);

/** Each turn has called something, with a result that takes the most of a request. */
async function manyCalls(id: string): Promise<void> {
  const turns = await query<{ turn_id: string; ordinal: number }>(
    server.connectionString,
    `SELECT turn_id, turn_ordinal AS ordinal FROM messages WHERE conversation_id = $1 AND role = 'agent'
     ORDER BY id DESC LIMIT 500`,
    [id],
  );
  await query(
    server.connectionString,
    `WITH turn AS (SELECT * FROM json_to_recordset($1::json) AS t(turn_id text, ordinal integer)),
     steps AS (
       INSERT INTO run_steps (run_id, step_index, kind, text, model, input_tokens, output_tokens, cache_read_tokens, cost_micros, started_at)
       SELECT turn_id, at, 'model', CASE at WHEN 0 THEN '' ELSE '#' || (ordinal * 2 - 1) || ' said' END, 'm', 1, 1, 0, 0, now()
       FROM turn, generate_series(0, 1) AS at
     )
     INSERT INTO run_calls (run_id, step_index, position, id, name, arguments, output, is_error, result_from, finished_at)
     SELECT turn_id, 0, 0, 'call_' || turn_id, 'get_order', json_build_object('id', ordinal),
       'Order ORD-' || ordinal || ' ' || repeat('word ', 150), false, 'tool', now() FROM turn`,
    [JSON.stringify(turns)],
  );
}

describe('a conversation that has grown too long for its model', () => {
  it('of 2,000 messages with 500 calls separates no call from its result, and keeps the numbers [MSG-401, MSG-407]', async () => {
    const id = await longConversation();
    await manyCalls(id);
    answerWithinWindow();
    expect((await server.tell(id, 'And now?')).reply.text).toBe('Answer to And now?');
    const answering = server.asked.at(-1) as Parameters<typeof unpaired>[0];
    expect(server.asked.filter(isSummary).length).toBeGreaterThan(0);
    expect(unpaired(answering)).toEqual([]);
    const calls = answering.messages.flatMap((message) => (message.role === 'agent' ? message.calls : []));
    expect(calls.length).toBeGreaterThan(10);
    const read = spoken(answering).flat();
    expect(read[0]).toContain('Kept word for word:');
    expect(read.join('\n')).toContain('Order ORD-1000');
  });

  it('is summarised once, keeps its newest messages unchanged, and continues from the summary', async () => {
    const id = await longConversation();
    answerWithinWindow();
    expect((await server.tell(id, 'And now?')).reply.text).toBe('Answer to And now?');

    const [summarising, answering, ...others] = server.asked;
    if (!summarising || !answering) throw new Error('The model was not asked twice.');
    expect([isSummary(summarising), isSummary(answering), others]).toEqual([true, false, []]);
    const told = numbersIn(spoken(summarising).join('\n'));
    const covered = told.at(-1) ?? 0;
    expect(told).toEqual(countTo(0, covered));
    const read = spoken(answering);
    expect(read[0]).toContain(summary);
    expect(numbersIn(read.slice(1).join('\n'))).toEqual(countTo(covered + 1, earlier - 1));
    expect(read.at(-1)).toBe('And now?');
    expect(earlier - covered).toBeGreaterThan(100);

    const rows = await query<{ summary: string; until: string }>(
      server.connectionString,
      `SELECT c.summary, m.text AS until FROM conversations c
       JOIN messages m ON m.conversation_id = c.id AND m.id = c.summary_until WHERE c.id = $1`,
      [id],
    );
    expect(rows.map(({ summary: kept, until }) => [kept.startsWith(summary), numbersIn(until)])).toEqual([
      [true, [covered]],
    ]);

    answerWithinWindow();
    await server.tell(id, 'And then?');
    expect(server.asked).toHaveLength(1);
    const next = server.asked[0] && spoken(server.asked[0]);
    expect(next?.[0]).toContain(summary);
    expect(numbersIn(next?.slice(1).join('\n') ?? '')).toEqual(countTo(covered + 1, earlier - 1));
    expect(next?.slice(-3)).toEqual(['And now?', 'Answer to And now?', 'And then?']);
    expect((await server.messages(id)).length).toBe(100);
  });

  it('is summarised again if the model rejects the request as too long', async () => {
    const id = await longConversation();
    let refusals = 1;
    server.script((request) => {
      if (isSummary(request)) return { text: summary };
      if (refusals-- > 0) return { fail: 400, failCode: 'context_length_exceeded', failMessage: 'too long' };
      return { text: 'Fits now.' };
    });
    expect((await server.tell(id, 'And now?')).reply.text).toBe('Fits now.');
    expect(server.asked.map(isSummary)).toEqual([true, false, true, false]);
    const [, first, , second] = server.asked.map((request) => numbersIn(spoken(request).join('\n')));
    expect(second?.length).toBeLessThan(first?.length ?? 0);
    expect(second?.at(-1)).toBe(earlier - 1);
  });
});
