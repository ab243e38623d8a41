import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { resolveExample } from '../support/example.ts';
import type { ApiResponse } from '../support/server.ts';

type Body = ApiResponse['body'];

/** Messages and calls of one exchange, from the person’s message to the end of its turn. */
type Exchange = {
  message: string;
  output_schema?: unknown;
  /** The model's answers in order. `reads`: text that the results before an answer must contain. */
  model: (Pick<ScriptedAnswer, 'text' | 'calls'> & { reads?: string[] })[];
  /** The interactions that the agent opened, in order, with their answers. */
  people?: { kind: string; tool_name: string; answer: Record<string, unknown> }[];
  acknowledgement?: string;
  reply: string;
  data?: unknown;
  outputs?: string[];
};
type Recorded = { user_id: string; exchanges: Exchange[] };

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer();
});
afterAll(() => server.stop());

const recordings = join(import.meta.dirname, '../conversations');
const recorded = (name: string): Recorded => JSON.parse(readFileSync(join(recordings, `${name}.json`), 'utf8'));

/** The model says what it said then, and fails the test where it is asked once more than that. */
function playModel(answers: Exchange['model']): () => number {
  let at = 0;
  server.script((request) => {
    // In the background the model is asked what is worth remembering: that is no part of the record.
    if (request.tools.length === 0) return { text: '{"facts": [], "outdated": []}' };
    const next = answers[at++];
    if (!next) return { fail: 400, failMessage: 'The recording has no further answer.' };
    const { reads = [], ...answer } = next;
    const missing = reads.filter((text) => !lastResults(request).includes(text));
    if (missing.length > 0) return { fail: 400, failMessage: `The model was not shown: ${missing.join(', ')}` };
    return answer;
  });
  return () => at;
}

function lastResults({ messages }: NormalisedRequest): string {
  const last = messages.at(-1);
  return last?.role === 'tool' ? last.results.map(({ output }) => output).join('\n') : '';
}

/** Answers what the conversation waits for as the record says, until its turn is over. */
async function playPeople(conversationId: string, turnId: string, people: NonNullable<Exchange['people']>) {
  const left = [...people];
  const isOver = ({ type, turn_id }: Body) => type === 'turn.settled' && turn_id === turnId;
  for (;;) {
    const waiting = await server.until(`/v1/conversations/${conversationId}`, ({ status }) =>
      left.length > 0 ? status === 'waiting' || status === 'idle' : status === 'idle',
    );
    if (waiting.status === 'idle') break;
    const { body } = await server.call('GET', `/v1/interactions?conversation_id=${conversationId}`);
    const [open] = body.data.slice().reverse();
    const person = left.shift();
    expect([open.kind, open.details.tool_name]).toEqual([person?.kind, person?.tool_name]);
    const answered = await server.call('POST', `/v1/interactions/${open.id}/answer`, { body: person?.answer });
    expect([answered.status, answered.text]).toEqual([200, expect.any(String)]);
    // The same wait must not be met twice.
    await server.until(`/v1/interactions/${open.id}`, ({ status }) => status === 'resolved');
  }
  expect(left).toEqual([]);
  const log = await server.until(`/v1/conversations/${conversationId}/events?format=json&limit=100`, ({ data }) =>
    data.some(isOver),
  );
  return log.data.find(isOver).data.turn;
}

const names = readdirSync(recordings)
  .map((file) => basename(file, '.json'))
  .sort();

describe('the recorded conversation', () => {
  it.each(names)('of %s is played to its end by the server', async (name) => {
    await server.apply(await resolveExample(server, name));
    const { user_id, exchanges } = recorded(name);
    const { body: conversation } = await server.call('POST', '/v1/conversations', {
      body: { deployment: name, user_id },
    });
    const transcript: Body[] = [];
    for (const {
      message,
      output_schema,
      model,
      people = [],
      acknowledgement,
      reply,
      data = null,
      outputs = [],
    } of exchanges) {
      const asked = playModel(model);
      const sent = await server.call('POST', `/v1/conversations/${conversation.id}/messages`, {
        body: { message, ...(output_schema !== undefined && { output_schema }) },
      });
      expect(sent.status, sent.text).toBeLessThan(300);
      const turn = await playPeople(conversation.id, sent.body.id, people);
      expect([turn.status, turn.error, turn.reply]).toEqual(['settled', null, { text: reply, data }]);
      expect(asked()).toBe(model.length);
      transcript.push({ role: 'user', text: message, data: null });
      if (acknowledgement !== undefined) transcript.push({ role: 'agent', text: acknowledgement, data: null });
      transcript.push({ role: acknowledgement === undefined ? 'agent' : 'work', text: reply, data });
      const files = turn.task_id ? (await server.call('GET', `/v1/files?task_id=${turn.task_id}`)).body.data : [];
      expect(files.map(({ filename }: Body) => filename)).toEqual(outputs);
    }
    const { body: messages } = await server.call('GET', `/v1/conversations/${conversation.id}/messages?limit=100`);
    const said = messages.data.map(({ role, text, data }: Body) => ({ role, text, data })).reverse();
    expect(said).toEqual(transcript);
  });

  it.each(names)('of %s shows a notebook, a tool, an approval and a structured result', (name) => {
    const { exchanges } = recorded(name);
    const calls = exchanges.flatMap(({ model }) =>
      model.flatMap((answer) => answer.calls?.map((call) => call.name) ?? []),
    );
    const kinds = exchanges.flatMap(({ people = [] }) => people.map(({ kind }) => kind));
    expect(calls).toContain('search_notebooks');
    expect(kinds).toEqual(expect.arrayContaining(['custom', 'tool_permission']));
    expect(exchanges.some(({ data }) => data !== undefined)).toBe(true);
  });
});
