import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { lastText } from '../support/cast.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

const path = '/v1/deployments/interview';
const describeJob = 'Answers customers of a bicycle shop about repairs.';

/** Begins, and answers until the interview is ready; what each call answered, in order. */
async function interviewed(server: TestServer, deployment: string): Promise<ApiResponse[]> {
  const steps = [await server.call('POST', path, { body: { deployment, describe: describeJob } })];
  for (let at = 1; steps.at(-1)?.body.status === 'asking'; at++) {
    const conversation = steps[0]?.body.conversation_id;
    steps.push(await server.call('POST', path, { body: { conversation, answer: `Answer ${at}` } }));
  }
  return steps;
}

type Told = { name: string; description: string; answers: { question: string; answer: string }[] };

/** The interview state in the interviewer's prompt. */
const told = (request: NormalisedRequest): Told =>
  JSON.parse(/<data-[0-9a-f]{24} of="interview">\n([\s\S]*?)\n<\/data-/.exec(lastText(request))?.[1] as string);

const fileOf = ({ name, answers }: Told, more: Record<string, unknown> = {}) => ({
  name,
  instructions: answers.map(({ answer }) => answer).join(' '),
  tools: [{ function: 'find_repair', description: 'Finds a repair.', input: { number: 'string' }, read_only: true }],
  tests: [
    {
      name: 'Finds it',
      ask: 'Is my bicycle ready?',
      expect: ['The agent says when.'],
      tool_results: { find_repair: { day: 'Friday' } },
    },
  ],
  ...more,
});
const step = (answer: { question?: string; is_done?: boolean; file?: unknown }) => ({
  text: JSON.stringify({ question: '', is_done: false, ...answer, file: JSON.stringify(answer.file ?? {}) }),
});

describe('with a model', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await startAgentServer();
  });
  afterAll(() => server.stop());
  const call = (body: unknown, options: { headers?: Record<string, string>; key?: string } = {}) =>
    server.call('POST', path, { body, ...options });
  const asking = (request: NormalisedRequest) => {
    const known = told(request);
    return step({ question: `Question ${known.answers.length + 1}?`, file: fileOf(known) });
  };

  it('asks one question at a time and ends with a file that applies without a fault [ITV-001, ITV-004, ITV-005, ITV-007, ITV-008, ITV-009, ITV-010, ITV-012]', async () => {
    server.script((request) => {
      const known = told(request);
      return step({
        question: `Question ${known.answers.length + 1}?`,
        is_done: known.answers.length === 6,
        file: fileOf(known),
      });
    });
    const steps = await interviewed(server, 'Bicycle Shop');
    expect(steps.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200, 200]);
    expect(steps[0]?.body).toEqual({
      object: 'interview',
      conversation_id: expect.stringMatching(/^conv_/),
      deployment: 'bicycle-shop',
      status: 'asking',
      question: 'Question 1?',
      file: expect.objectContaining({ name: 'bicycle-shop' }),
      yaml: expect.stringContaining('name: bicycle-shop'),
      dropped: [],
    });
    expect(steps.map(({ body }) => body.question)).toEqual(
      [1, 2, 3, 4, 5, 6].map((at) => `Question ${at}?`).concat([null] as never),
    );
    const { status, file, yaml } = steps.at(-1)?.body ?? {};
    expect(status).toBe('ready');
    expect(parse(yaml)).toEqual(file);
    expect(file.instructions).toBe('Answer 1 Answer 2 Answer 3 Answer 4 Answer 5 Answer 6');
    for (const body of [file, parse(yaml)]) {
      const applied = await server.call('PUT', '/v1/deployments/bicycle-shop?promote=no', { body });
      expect([applied.status, applied.text.slice(0, 200)]).toEqual([200, expect.any(String)]);
    }
    const [first] = server.asked;
    expect(first?.system.join('\n')).toContain('one question at a time');
    const properties = { question: { type: 'string' }, is_done: { type: 'boolean' }, file: { type: 'string' } };
    const required = Object.keys(properties);
    expect(first?.outputSchema).toEqual({ type: 'object', properties, required, additionalProperties: false });
    expect(first?.system.join('\n')).not.toContain(describeJob);
    expect(told(first as NormalisedRequest)).toEqual({ name: 'bicycle-shop', description: describeJob, answers: [] });
  });

  it.each([
    ['at least five, however early the model is content', () => true, 5],
    ['at most eight, however curious it is', () => false, 8],
  ])('asks %s [ITV-011]', async (_what, isDone, questions) => {
    server.script((request) => step({ question: 'And then?', is_done: isDone(), file: fileOf(told(request)) }));
    const steps = await interviewed(server, `shop-${questions}`);
    expect(steps.filter(({ body }) => body.question !== null)).toHaveLength(questions);
    expect(steps.at(-1)?.body.status).toBe('ready');
  });

  it('accepts a message in its conversation as an answer, and shows the whole interview there [ITV-002]', async () => {
    server.script(asking);
    const begun = (await call({ deployment: 'by-message', describe: describeJob })).body;
    const sent = await server.call('POST', `/v1/conversations/${begun.conversation_id}/messages`, {
      body: { message: 'By message' },
    });
    expect([sent.status, sent.body.status, sent.body.reply.text]).toEqual([200, 'settled', 'Question 2?']);
    const { body } = await server.call('GET', `/v1/conversations/${begun.conversation_id}/messages`);
    expect(body.data.map(({ role, text }: { role: string; text: string }) => `${role}: ${text}`).reverse()).toEqual([
      `user: ${describeJob}`,
      'agent: Question 1?',
      'user: By message',
      'agent: Question 2?',
    ]);
    const next = await call({ conversation: begun.conversation_id, answer: 'By call' });
    expect(next.body).toMatchObject({ question: 'Question 3?', file: { instructions: 'By message By call' } });
    const refused = await server.call('POST', `/v1/conversations/${begun.conversation_id}/messages`, {
      body: { message: 'x', stream: true },
    });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'stream']);
    expect((await server.call('GET', '/v1/conversations')).body.data).toEqual([]);
  });

  it.each([
    [{}],
    [{ deployment: 'a' }],
    [{ describe: 'b' }],
    [{ conversation: 'conv_01m7ex1d2cf3nt3jtpscegak' }],
    [{ answer: 'c' }],
    [{ deployment: 'a', describe: 'b', answer: 'c' }],
    [{ deployment: 'a', describe: 'b', conversation: 'conv_01m7ex1d2cf3nt3jtpscegak', answer: 'c' }],
  ])('refuses %j [ITV-006]', async (body) => {
    const answer = await call(body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'describe_or_answer']);
  });

  it('refuses a taken name, an unknown conversation and one with an agent [ITV-003]', async () => {
    await server.apply({ name: 'taken' });
    server.script(asking);
    const taken = await call({ deployment: 'Taken', describe: describeJob });
    expect([taken.status, taken.body.error.code, server.asked.length]).toEqual([409, 'slug_taken', 0]);
    const talk = (await server.call('POST', '/v1/conversations', { body: { deployment: 'taken' } })).body.id;
    for (const conversation of ['conv_01m7ex1d2cf3nt3jtpscegak', talk]) {
      const unknown = await call({ conversation, answer: 'x' });
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'conversation_not_found']);
    }
    const begun = (await call({ deployment: 'other-mode', describe: describeJob })).body.conversation_id;
    expect((await call({ conversation: begun, answer: 'x' }, { key: server.liveKey })).status).toBe(404);
  });

  it('has the model fix invalid parts of a file, and gives up only if no part is valid, and tells what it dropped [ITV-141, ITV-710]', async () => {
    const bad = [
      { tests: [] },
      { tools: [{ function: 'Bad Name', description: 'x' }] },
      { tests: [{ name: 'a', ask: 'b', expect: 'c', tool_results: { nothing: 1 } }] },
      { knowledge: ['./docs'] },
      { tools: [{ mcp: 'https://shop.example.com/mcp', auth: '${NOT_STORED}' }] },
      { surprise: true },
    ];
    // The fixed file has no entry of these names.
    const left = [
      [],
      [['tools', 'Bad Name']],
      [['tests', 'a']],
      [['knowledge', 'entry 1']],
      [['tools', 'https://shop.example.com/mcp']],
      [['surprise', null]],
    ];
    for (const [at, faulty] of bad.entries()) {
      server.script((request) => {
        const known = told(request);
        const isMended = request.messages.length > 1;
        return step({ question: 'Go on?', is_done: true, file: fileOf(known, isMended ? {} : faulty) });
      });
      const steps = await interviewed(server, `mended-${at}`);
      const last = steps.at(-1)?.body;
      expect([at, last.status]).toEqual([at, 'ready']);
      expect([at, last.dropped.map(({ part, name }: { part: string; name: string }) => [part, name])]).toEqual([
        at,
        left[at],
      ]);
      expect((await server.call('PUT', `/v1/deployments/mended-${at}?promote=no`, { body: last.file })).status).toBe(
        200,
      );
    }
    // A model that never fixes it: the usable part becomes the file.
    server.script((request) => {
      const known = told(request);
      const test = { name: 'Bad', ask: 'x', expect: 'y', tool_results: { nothing: 1 } };
      const file = fileOf(known, { surprise: true, tests: [test, ...fileOf(known).tests] });
      return step({ question: 'Go on?', is_done: true, file });
    });
    const partly = (await interviewed(server, 'partly')).at(-1);
    expect([partly?.status, partly?.body.status, partly?.body.file.tests.length]).toEqual([200, 'ready', 1]);
    expect(partly?.body.file).not.toHaveProperty('surprise');
    expect(partly?.body.dropped).toEqual([
      { part: 'surprise', name: null, message: 'Unknown field `surprise`.' },
      { part: 'tests', name: 'Bad', message: 'Name a function of this file.' },
    ]);
    expect((await server.call('PUT', '/v1/deployments/partly?promote=no', { body: partly?.body.file })).status).toBe(
      200,
    );
    const complaint = lastText(server.asked.at(-1) as NormalisedRequest);
    expect(complaint).toContain('- file.surprise:');
    expect(complaint).toMatch(
      /The rest of the file stays as it is \(.*`instructions`, `tools`.*\)\. Write in `file` only what/,
    );

    // Fields left out of the second answer are taken from the first.
    server.script((request) => {
      const known = told(request);
      const isMended = request.messages.length > 1;
      const file = isMended ? { tests: fileOf(known).tests } : fileOf(known, { tests: [] });
      return step({ question: 'Go on?', is_done: true, file });
    });
    const pieced = (await interviewed(server, 'pieced')).at(-1);
    expect(pieced?.body).toMatchObject({ status: 'ready', file: { tools: [{ function: 'find_repair' }] } });
    expect(pieced?.body.file.tests).toHaveLength(1);

    server.script((request) =>
      step({ question: 'Go on?', is_done: true, file: told(request).answers.length < 5 ? {} : ['no file'] }),
    );
    const steps = await interviewed(server, 'hopeless');
    expect([steps.at(-1)?.status, steps.at(-1)?.body.error.code]).toEqual([502, 'model_error']);
    // The answer was not recorded: the same answer may be sent again.
    server.script((request) => step({ is_done: true, file: fileOf(told(request)) }));
    const again = await call({ conversation: steps[0]?.body.conversation_id, answer: 'Answer 5' });
    expect([again.status, again.body.status]).toEqual([200, 'ready']);
  });

  it('keeps the valid part of a file while it asks further, and accepts remarks when it is ready', async () => {
    server.script((request) => {
      const known = told(request);
      const broken = known.answers.length === 2 ? { surprise: true } : {};
      return step({ question: 'Next?', is_done: true, file: fileOf(known, broken) });
    });
    const steps = await interviewed(server, 'remarked');
    expect(steps.map(({ body }) => body.file.instructions)).toEqual([
      '',
      'Answer 1',
      'Answer 1 Answer 2',
      'Answer 1 Answer 2 Answer 3',
      'Answer 1 Answer 2 Answer 3 Answer 4',
      'Answer 1 Answer 2 Answer 3 Answer 4 Answer 5',
    ]);
    const remark = await call({ conversation: steps[0]?.body.conversation_id, answer: 'Be shorter.' });
    expect([remark.body.status, remark.body.question]).toEqual(['ready', null]);
    expect(remark.body.file.instructions).toContain('Be shorter.');
  });

  it('processes concurrent answers one after the other', async () => {
    server.script((request) => ({ ...asking(request), delayMs: 30 }));
    const begun = (await call({ deployment: 'at-once', describe: describeJob })).body.conversation_id;
    const answers = await Promise.all(['a', 'b', 'c'].map((answer) => call({ conversation: begun, answer })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => body.question).sort()).toEqual(['Question 2?', 'Question 3?', 'Question 4?']);
    const { body } = await server.call('GET', `/v1/conversations/${begun}/messages`);
    const roles = body.data.map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['agent', 'user', 'agent', 'user', 'agent', 'user', 'agent', 'user']);
  });

  it('asks the model once per idempotency key, charges, and returns the errors of a message if it fails', async () => {
    server.script((request) => ({ ...asking(request), usage: { inputTokens: 100_000, outputTokens: 0 } }));
    const before = (await server.call('GET', '/v1/usage')).body.total.cost_usd;
    const headers = { 'idempotency-key': 'interview-1' };
    const first = await call({ deployment: 'once', describe: describeJob }, { headers });
    const second = await call({ deployment: 'once', describe: describeJob }, { headers });
    expect([second.text, second.status, server.asked.length]).toEqual([first.text, 201, 1]);
    expect((await server.call('GET', '/v1/usage')).body.total.cost_usd - before).toBeCloseTo(0.1, 5);
    const poor = await call({ deployment: 'poor', describe: describeJob }, { key: server.liveKey });
    expect([poor.status, poor.body.error.code]).toEqual([402, 'wallet_empty']);
    server.script(() => ({ text: 'What?' }));
    const failed = await call({ deployment: 'failed', describe: describeJob });
    expect([failed.status, failed.body.error.code, server.asked.length]).toEqual([502, 'model_error', 3]);
  });
});

describe('with the offline stand-in', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.stop());

  it('asks the same questions each time and ends with a file that applies, whose tests can be played', async () => {
    const steps = await interviewed(server, 'plain');
    const again = await interviewed(server, 'plain');
    const questions = (all: ApiResponse[]) => all.map(({ body }) => body.question);
    expect(questions(steps)).toEqual(questions(again));
    expect(new Set(questions(steps)).size).toBe(9);
    const { file } = steps.at(-1)?.body ?? {};
    expect(file.tests.length).toBeGreaterThan(0);
    const applied = await server.call('PUT', '/v1/deployments/plain?promote=after_tests', { body: file });
    expect([applied.status, applied.body.test_run.status]).toEqual([200, 'queued']);
    for (;;) {
      const { body } = await server.call('GET', `/v1/test-runs/${applied.body.test_run.id}`);
      if (body.finished_at !== null) {
        expect([body.error_code, body.counts.error]).toEqual([null, 0]);
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });

  it('takes no rating: there is no deployment yet that it could count for [ITV-711]', async () => {
    const begun = (await server.call('POST', path, { body: { deployment: 'unrated', describe: describeJob } })).body;
    const { body } = await server.call('GET', `/v1/conversations/${begun.conversation_id}/messages`);
    const question = body.data.find(({ role }: { role: string }) => role === 'agent');
    const rated = await server.call('POST', `/v1/messages/${question.id}/feedback`, { body: { rating: 'bad' } });
    expect([rated.status, rated.body.error.code]).toEqual([404, 'message_not_found']);
    const ratings = await server.call('GET', `/v1/conversations/${begun.conversation_id}/feedback`);
    expect(ratings.body.data).toEqual([]);
  });

  it('resumes after a restart from the recorded answers', async () => {
    const begun = (await server.call('POST', path, { body: { deployment: 'restarted', describe: describeJob } })).body;
    const conversation = begun.conversation_id;
    await server.call('POST', path, { body: { conversation, answer: 'Cyclists' } });
    const sibling = await startTestServer({ beside: server });
    try {
      const next = await sibling.call('POST', path, { body: { conversation, answer: 'Be kind' } });
      expect(next.body.file.instructions).toContain('Cyclists');
      expect(next.body.question).toContain('never');
    } finally {
      await sibling.stop();
    }
  });

  it('is not there for live traffic: 503', async () => {
    const answer = await server.call('POST', path, {
      key: server.liveKey,
      body: { deployment: 'live', describe: describeJob },
    });
    expect([answer.status, answer.body.error.code]).toEqual([503, 'model_unavailable']);
  });
});
