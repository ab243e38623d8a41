import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { pollWithJob } from '../support/jobs.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import type { ApiResponse } from '../support/server.ts';

type Body = ApiResponse['body'];

let server: AgentServer;
let notebook: Body;
beforeAll(async () => {
  server = await startAgentServer();
  notebook = await addNotebook('returns', { 'Return window': returns, 'Opening hours': hours });
  await server.apply({
    name: 'desk',
    instructions: 'Be kind.',
    memory: 'none',
    knowledge: [{ notebook: notebook.id }],
  });
  await server.apply({ name: 'plain', instructions: 'Be kind.', memory: 'none' });
});
afterAll(() => server.stop());

const returns = 'A parcel may be sent back within 41 days of delivery.';
const hours = 'The shop is open until seven in the evening.';

async function addNotebook(slug: string, documents: Record<string, string>, access?: object): Promise<Body> {
  const { body } = await server.call('POST', '/v1/notebooks', {
    body: { name: slug, slug, ...(access && { access }) },
  });
  for (const [title, text] of Object.entries(documents)) {
    await server.call('POST', `/v1/notebooks/${body.id}/documents`, { body: { title, text } });
  }
  return body;
}

const open = async (body: Record<string, unknown> = {}): Promise<Body> =>
  (await server.call('POST', '/v1/conversations', { body: { deployment: 'desk', user_id: 'nora', ...body } })).body;

const say = async ({ id }: Body, message: string, more: Record<string, unknown> = {}): Promise<Body> =>
  (
    await server.call('POST', `/v1/conversations/${id}/messages`, {
      body: { message, ...more },
      headers: { prefer: 'wait=60' },
    })
  ).body;

const newestReply = async ({ id }: Body, key?: string): Promise<Body> => {
  const { body } = await server.call('GET', `/v1/conversations/${id}/messages`, key === undefined ? {} : { key });
  return body.data.find(({ role }: Body) => role !== 'user');
};

const sourcesOf = (message: Body, key?: string) =>
  server.call(
    'GET',
    `/v1/conversations/${message.conversation_id}/messages/${message.id}/sources`,
    key === undefined ? {} : { key },
  );

const resultsOf = ({ messages }: NormalisedRequest) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : []));

/** The mark that the search gave the passage with this text. */
const markOf = (request: NormalisedRequest, text: string) =>
  resultsOf(request)
    .flatMap((output) => output.split(/^(?=# )/m))
    .find((passage) => passage.includes(text))
    ?.match(/^Cite as \[(\d+)\]$/m)?.[1];

/** Searches in its first step, and answers with the passages that it found. */
const searchThen = (answer: (request: NormalisedRequest) => string) => (request: NormalisedRequest) =>
  request.messages.at(-1)?.role === 'tool'
    ? { text: answer(request) }
    : { calls: [{ name: 'search_notebooks', arguments: { query: 'send back a parcel, open shop' } }] };

const cites = (text: string) => (request: NormalisedRequest) => `${text} [${markOf(request, text)}]`;

describe('a reply that cites passages', () => {
  it('has them as sources in the order of its marks, and no mark that belongs to no passage [NB-264, NB-265]', async () => {
    server.script(
      searchThen(
        (request) => `Until seven [${markOf(request, hours)}]. 41 days [${markOf(request, returns)}, 99]. \`[1]\``,
      ),
    );
    const conversation = await open();
    await say(conversation, 'When are you open, and how long may I send it back?');
    const reply = await newestReply(conversation);
    expect(reply.text).toMatch(/^Until seven \[\d\]\. 41 days \[\d, 99\]\. `\[1\]`$/);
    const { body } = await sourcesOf(reply);
    expect(body.data).toEqual([
      expect.objectContaining({
        title: 'Opening hours',
        text: hours,
        heading: '',
        page: null,
        notebook_id: notebook.id,
      }),
      expect.objectContaining({ title: 'Return window', text: returns }),
    ]);
    expect(reply.sources).toEqual(
      body.data.map(({ mark, document_id, notebook_id }: Body) => ({ mark, document_id, notebook_id })),
    );
    const events = (await server.call('GET', `/v1/conversations/${conversation.id}/events?format=json`)).body.data;
    const completed = events.find(({ type }: Body) => type === 'reply.completed');
    expect(completed.data.message.sources).toEqual(reply.sources);
  });

  it('may cite what an earlier reply found, and each passage keeps its mark [NB-270]', async () => {
    server.script(searchThen(cites(returns)));
    const conversation = await open();
    await say(conversation, 'How long may I send it back?');
    const first = await newestReply(conversation);
    const [{ mark }] = first.sources;
    server.script(() => ({ text: `As I said, 41 days [${mark}].` }));
    await say(conversation, 'Again, please?');
    const second = await newestReply(conversation);
    expect([second.text, second.sources]).toEqual([`As I said, 41 days [${mark}].`, first.sources]);
    server.script(searchThen(cites(returns)));
    await say(conversation, 'Look again, please.');
    expect((await newestReply(conversation)).sources).toEqual(first.sources);
  });

  it('may cite a document that it read, and then has its beginning [NB-264]', async () => {
    const long = `The long rules. ${'A rule. '.repeat(1000)}`;
    await server.call('POST', `/v1/notebooks/${notebook.id}/documents`, { body: { title: 'Long rules', text: long } });
    server.script((request) =>
      request.messages.at(-1)?.role === 'tool'
        ? { text: `There are rules [${markOf(request, 'The long rules.')}].` }
        : { calls: [{ name: 'read_document', arguments: { document: 'Long rules' } }] },
    );
    const conversation = await open();
    await say(conversation, 'What are the rules?');
    const { body } = await sourcesOf(await newestReply(conversation));
    expect(body.data).toEqual([expect.objectContaining({ title: 'Long rules', text: long.slice(0, 2000) })]);
  });

  it('of a task has them too [NB-264]', async () => {
    server.script(searchThen(cites(returns)));
    const conversation = await open();
    await say(conversation, 'Find out how long I may send it back.', { hand_off: 'always' });
    await server.until(`/v1/conversations/${conversation.id}`, ({ status }) => status === 'idle');
    const result = await newestReply(conversation);
    expect([result.role, (await sourcesOf(result)).body.data[0].text]).toEqual(['work', returns]);
  });

  it('shows a session their text, and no ids of documents [NB-268]', async () => {
    server.script(searchThen(cites(returns)));
    const { body: session } = await server.call('POST', '/v1/sessions', {
      body: { user_id: 'nora', chat: true, deployment: 'desk' },
    });
    const conversation = { id: session.conversation_id };
    await say(conversation, 'How long may I send it back?');
    const reply = await newestReply(conversation, session.token);
    expect(reply.sources).toEqual([{ mark: expect.any(Number) }]);
    const { body } = await sourcesOf(reply, session.token);
    const [{ mark }] = reply.sources;
    expect(body.data).toEqual([{ mark, title: 'Return window', heading: '', page: null, text: returns }]);
    const other = await open();
    expect((await sourcesOf({ ...reply, conversation_id: other.id }, session.token)).status).toBe(403);
    expect((await sourcesOf({ ...reply, conversation_id: other.id })).body.error.code).toBe('message_not_found');
    const { body: another } = await server.call('POST', '/v1/sessions', {
      body: { user_id: 'ada', chat: true, deployment: 'desk' },
    });
    const refused = await sourcesOf(reply, another.token);
    expect([refused.status, refused.body.error.code, refused.text.includes(returns)]).toEqual([
      403,
      'session_scope',
      false,
    ]);
  });

  it('has no sources if it is structured, or if its agent reads no notebooks [NB-266]', async () => {
    const conversation = await open();
    server.script(searchThen(() => '{"days": [1]}'));
    await say(conversation, 'How many days?', {
      output_schema: { type: 'object', properties: { days: { type: 'array', items: { type: 'integer' } } } },
    });
    const structured = await newestReply(conversation);
    expect([structured.data, structured.sources]).toEqual([{ days: [1] }, undefined]);
    const other = await open({ deployment: 'plain' });
    server.script(() => ({ text: 'See [1].' }));
    await say(other, 'Hello');
    const reply = await newestReply(other);
    expect([reply.text, reply.sources, (await sourcesOf(reply)).body.data]).toEqual(['See [1].', undefined, []]);
  });
});

describe('a cited passage', () => {
  const withDocument = async (slug: string, access?: object) => {
    const own = await addNotebook(slug, { [`${slug} rules`]: `The ${slug} rule is secret.` }, access);
    await server.apply({
      name: slug,
      instructions: 'Be kind.',
      memory: 'none',
      knowledge: [{ notebook: own.id }],
    });
    const text = `The ${slug} rule is secret.`;
    server.script((request) =>
      request.messages.at(-1)?.role === 'tool'
        ? { text: `I found it [${markOf(request, text)}].` }
        : { calls: [{ name: 'search_notebooks', arguments: { query: `${slug} rule` } }] },
    );
    const conversation = await open({ deployment: slug });
    await say(conversation, 'What is the rule?');
    const reply = await newestReply(conversation);
    const [{ document_id }] = reply.sources;
    expect((await sourcesOf(reply)).body.data).toEqual([expect.objectContaining({ text })]);
    return { own, reply, documentId: document_id, conversation };
  };

  it('of a deleted document is gone at once, and nowhere stored [NB-267]', async () => {
    const { own, reply, documentId, conversation } = await withDocument('deleted');
    await server.call('DELETE', `/v1/notebooks/${own.id}/documents/${documentId}`);
    expect((await sourcesOf(reply)).body.data).toEqual([]);
    const traces = () =>
      query(server.connectionString, 'SELECT output FROM run_calls WHERE run_id = $1', [reply.turn_id]);
    await pollWithJob(server.connectionString, 'knowledge.empty', traces).toEqual([
      { output: 'This result was deleted, because something that it showed was deleted.' },
    ]);
    const stored = await query(
      server.connectionString,
      `SELECT data::text AS text FROM conversation_events WHERE conversation_id = $1
        UNION ALL SELECT to_jsonb(m)::text FROM messages m WHERE conversation_id = $1
        UNION ALL SELECT to_jsonb(c)::text FROM run_calls c WHERE run_id = $2`,
      [conversation.id, reply.turn_id],
    );
    expect(stored.map(({ text }) => text).join('\n')).not.toMatch(/deleted rules|is secret/);
    // A mark is not given again, although its passage is gone.
    expect((await newestReply(conversation)).sources).toEqual(reply.sources);
  });

  it('of a replaced document is not shown as if it still held [NB-267]', async () => {
    const { own, reply } = await withDocument('replaced');
    await server.call('POST', `/v1/notebooks/${own.id}/documents`, {
      body: { title: 'replaced rules', text: 'Another rule.', replace: true },
    });
    expect((await sourcesOf(reply)).body.data).toEqual([]);
  });

  it('of a notebook that is closed to the user is not shown any more [NB-268]', async () => {
    const { own, reply } = await withDocument('closed', { mode: 'users', user_ids: ['nora'] });
    await server.call('PATCH', `/v1/notebooks/${own.id}`, { body: { access: { mode: 'users', user_ids: ['ada'] } } });
    expect((await sourcesOf(reply)).body.data).toEqual([]);
  });

  it('of another org is not shown, whatever a message names [NB-268]', async () => {
    const { reply, own } = await withDocument('foreign');
    const [org] = await query(server.connectionString, 'SELECT org_id FROM notebooks WHERE id = $1', [own.id]);
    const moveTo = async (orgId: unknown) => {
      await query(server.connectionString, 'UPDATE notebooks SET org_id = $1 WHERE id = $2', [orgId, own.id]);
      await query(server.connectionString, 'UPDATE documents SET org_id = $1 WHERE notebook_id = $2', [orgId, own.id]);
    };
    const { body: other } = await server.call('GET', '/v1/me', { key: await makeOtherOrg(server) });
    await moveTo(other.org.id);
    expect((await sourcesOf(reply)).body.data).toEqual([]);
    await moveTo(org?.org_id);
    expect((await sourcesOf(reply)).body.data).toHaveLength(1);
  });
});

describe('the agent', () => {
  it('is asked to cite by marks, and its tools are announced while it replies [NB-264, CON-760]', async () => {
    server.script(searchThen(cites(returns)));
    const conversation = await open();
    await say(conversation, 'How long?');
    const [first] = server.asked as [NormalisedRequest];
    expect(first.system.join('\n')).toMatch(/mark of (?:a|the) passage/);
    const { data } = (await server.call('GET', `/v1/conversations/${conversation.id}/events?format=json`)).body;
    const at = (type: string) => data.findIndex((event: Body) => event.type === type);
    expect(data[at('tool_call.started')].data).toEqual({ call_id: expect.any(String), name: 'search_notebooks' });
    expect(at('tool_call.started')).toBeLessThan(at('reply.completed'));
  });
});
