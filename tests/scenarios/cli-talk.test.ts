import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runHere } from '@vestra/cli/terminal.fixture';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp } from '../../packages/server/src/edges/mcp/client.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { resultsIn } from '../support/cast.ts';
import { runCli, startCli } from '../support/cli.ts';

let server: AgentServer;
let folder: string;
beforeAll(async () => {
  server = await startAgentServer();
  folder = await mkdtemp(join(tmpdir(), 'vestra-cli-talk-'));
  await server.apply({
    name: 'desk',
    tools: [
      { function: 'refund', description: 'Refunds an order.', input: { number: 'string' } },
      { function: 'write_off', description: 'Writes an order off.', approver: 'org' },
    ],
  });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

const env = () => ({ VESTRA_URL: server.url, VESTRA_KEY: server.testKey });
const vestra = (...words: string[]) => runCli(words, { cwd: folder, env: env() });
/** Runs the command inside this process. Starting another process would prove nothing more. */
const here = (...words: string[]) => runHere(words, { cwd: folder, env: { ...env(), XDG_CONFIG_HOME: folder } });

describe('vestra ask', () => {
  it('prints only the reply on standard output, and continues in the same conversation', async () => {
    server.script(({ messages }) => ({ text: `Message ${messages.filter(({ role }) => role === 'user').length}.` }));
    const first = await vestra('ask', 'Hello', 'there', '--user', 'ada', '--deployment', 'desk');
    expect([first.code, first.out]).toEqual([0, 'Message 1.\n']);
    const conversation = /^(conv_\w+) · \$0\.\d+\n$/.exec(first.err)?.[1] as string;
    expect((await server.call('GET', `/v1/conversations/${conversation}`)).body.user_id).toBe('ada');
    const second = await vestra('ask', 'And', 'now?', '--conversation', conversation, '--json');
    expect(JSON.parse(second.out)).toMatchObject({ object: 'turn', status: 'settled', reply: { text: 'Message 2.' } });
    const sent = await server.call('GET', `/v1/conversations/${conversation}/messages`);
    expect(sent.body.data.map(({ text: said }: { text: string }) => said).reverse()).toEqual([
      'Hello there',
      'Message 1.',
      'And now?',
      'Message 2.',
    ]);
  });

  it('shows the reply while it is written, and Ctrl-C leaves it to the server', async () => {
    server.script(() => ({ text: ['The first half', '\u001b[2J and'], fail: 'hang' }));
    const asking = startCli(['ask', 'Tell', 'me'], { cwd: folder, env: env(), input: '' });
    await asking.until(({ out }) => out.includes('The first half and'));
    asking.child.kill('SIGINT');
    expect(await asking.ended).toBe(130);
    const conversation = /vestra conversations stop (conv_\w+)/.exec(asking.err())?.[1];
    expect(asking.out()).not.toContain('\u001b');
    const stopped = await here('conversations', 'stop', conversation as string, '--json');
    expect(JSON.parse(stopped.out)).toMatchObject({ id: conversation, status: 'idle' });
  });

  it('exits with 1 and prints the reason if the turn failed [OPS-323]', async () => {
    server.script(() => ({ fail: 400, failMessage: 'No.' }));
    const asked = await vestra('ask', 'Hello', '--user', 'failing');
    expect([asked.code, asked.out]).toEqual([1, '']);
    expect(asked.err).toContain('model_error');
  });

  it('exits with 5 if the agent waits, and `answer` resumes it [OPS-323]', async () => {
    server.script((request) => {
      const [result] = resultsIn(request);
      return result ? { text: `Done: ${result}` } : { calls: [{ name: 'refund', arguments: { number: 'A-1' } }] };
    });
    const asked = await vestra('ask', 'Refund', 'A-1', '--user', 'bob');
    expect([asked.code, asked.out]).toEqual([5, '']);
    expect(asked.err).toMatch(
      /^\? Refunds an order\..*\n {4}number: A-1\n {2}vestra answer int_\w+ --approve --present-user/,
    );

    const { conversation_id: asking } = (await server.call('GET', '/v1/interactions?user_id=bob')).body.data[0];
    expect((await here('trace', asking)).out).toMatch(/└─ refund: .* {2}not ended\n$/);
    expect((await here('answer')).code).toBe(2);
    const approved = await vestra('answer', '--approve', '--present-user', '--user', 'bob');
    expect([approved.code, approved.out]).toEqual([0, expect.stringMatching(/: approved\n$/)]);
    const call = await server.until('/v1/interactions?user_id=bob', ({ data }) => data[0]?.type === 'tool_call');
    const refused = await here('answer', call.data[0].id, '--approve', '--json');
    expect([refused.code, JSON.parse(refused.err).error.code]).toEqual([1, 'answer_mismatch']);
    await here('answer', call.data[0].id, '--output', '{"refunded":true}');
    const { conversation_id } = call.data[0];
    await server.until(`/v1/conversations/${conversation_id}`, ({ status }) => status === 'idle');
    const { out } = await here('conversations', 'messages', conversation_id);
    expect(out).toMatch(/agent +Done: .*refunded/);
    expect(await here('answer', '--approve', '--user', 'bob')).toMatchObject({
      code: 1,
      err: expect.stringContaining('No interaction is open for the agent of bob.'),
    });
  });

  it.each([
    ['a function', { name: 'refund', arguments: { number: 'A-1' } }, ['answer', '--approve', '--present-user']],
    ['what the company decides', { name: 'write_off', arguments: {} }, ['answer', '--approve']],
    [
      'what is approved in person',
      { name: 'ask_question', arguments: { question: 'Wipe the disk?', in_person: true } },
      ['answer', '--approve', '--present-user', '--nonce'],
    ],
    [
      'a question with options and one without',
      {
        name: 'ask_question',
        arguments: { question: 'Which size?', options: ['XL', '$(id)'], also: [{ question: 'Why?' }] },
      },
      ['answer', '--answers', '--answers'],
    ],
  ])('prints a command for %s that works unchanged [INT-241]', async (_, call, flags) => {
    server.script((request) => (resultsIn(request)[0] ? { text: 'Done.' } : { calls: [call] }));
    const asked = await here('ask', 'Go on', '--user', 'dora');
    const [command = '', second = ''] = asked.err.match(/vestra answer .*/g) ?? [];
    const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '').slice(1);
    expect(words.filter((word) => word === 'answer' || word.startsWith('--'))).toEqual(flags);
    if (flags.includes('--approve')) {
      expect(second).toMatch(/--no-approve$/);
      const bare = await here('answer', words[1] as string, '--approve');
      if (flags.length > 2) {
        expect([bare.code, bare.err]).toEqual([1, expect.stringContaining(`This approval needs more:\n  ${command}`)]);
        expect((await here(...words)).code).toBe(0);
      } else expect(bare.code).toBe(0);
    } else expect((await here(...words)).code).toBe(0);
    const [called] = (await server.call('GET', '/v1/interactions?user_id=dora&type=tool_call')).body.data;
    if (called) await here('answer', called.id, '--output', '{"done": true}');
  });

  it('adds the required fields to an approval typed at a terminal, because the person is present [INT-241]', async () => {
    server.script((request) =>
      resultsIn(request)[0]
        ? { text: 'Done.' }
        : { calls: [{ name: 'ask_question', arguments: { question: 'Sure?', in_person: true } }] },
    );
    await here('ask', 'Go on', '--user', 'eve');
    const typed = ['answer', '--approve', '--user', 'eve'];
    const atTerminal = { cwd: folder, env: { ...env(), XDG_CONFIG_HOME: folder }, isInteractive: true };
    expect(await runHere(typed, atTerminal)).toMatchObject({ code: 0, out: expect.stringMatching(/: approved\n$/) });
  });

  it('at a terminal shows that the agent thinks, Markdown as styles, and the tools it called [OPS-324]', async () => {
    server.script((request) =>
      resultsIn(request)[0]
        ? { text: 'It comes **Friday**.' }
        : { calls: [{ name: 'remember', arguments: { text: 'x' } }] },
    );
    const atTerminal = { cwd: folder, env: { ...env(), XDG_CONFIG_HOME: folder }, isInteractive: true, columns: 100 };
    const { code, out, err } = await runHere(['ask', 'When?', '--user', 'fred', '--deployment', 'desk'], atTerminal);
    expect([code, out]).toEqual([0, 'It comes \u001b[1mFriday\u001b[22m.\n']);
    expect(err.split('Thinking')[0]).toBe('\r\u001b[K⠋ ');
    expect(err).toMatch(/remember.*\((\d+ ms|\d+\.\d s)\)/);
    const conversation = /conv_\w+/.exec(err)?.[0] as string;

    const trace = await here('trace', conversation);
    expect(trace.out).toMatch(
      /^reply turn_\w+ {2}.* tokens · \$0\.\d+\n├─ \S*scripted.*\n├─ (✖ )?remember.*\n└─ \S*scripted.*\n$/,
    );
    const { turn_id } = JSON.parse((await here('trace', conversation, '--json')).out);
    expect((await here('trace', turn_id)).out).toBe(trace.out);
    expect((await here('trace', `turn_${'0'.repeat(24)}`)).err).toContain('set --conversation');
  });

  it('uploads attached files', async () => {
    server.script(() => ({ text: 'Got it.' }));
    await writeFile(join(folder, 'note.txt'), 'A note.');
    const { out } = await here('ask', 'Read this', '--user', 'carol', '--attach', 'note.txt', '--json');
    const sent = await server.call('GET', `/v1/conversations/${JSON.parse(out).conversation_id}/messages`);
    expect(sent.body.data.at(-1).attachments).toEqual([{ file_id: expect.any(String), filename: 'note.txt' }]);
  });
});

describe('vestra events', () => {
  it('reads and follows', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const made = await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } });
    const path = `/v1/conversations/${made.body.id}`;
    await server.until(path, ({ status }) => status === 'idle');
    const page = await here('events', '--conversation', made.body.id, '--limit', '100', '--json');
    const kept = await server.call('GET', `${path}/events?format=json&limit=100`);
    expect(JSON.parse(page.out)).toEqual(kept.body);

    const following = startCli(['events', '--conversation', made.body.id, '--follow', '--json'], {
      cwd: folder,
      env: env(),
      input: '',
    });
    await server.call('POST', `${path}/messages`, { body: { message: 'Again' } });
    await following.until(({ out }) => out.split('"turn.settled"').length === 3);
    following.child.kill('SIGINT');
    expect(await following.ended).toBe(130);
    const seen = following.out().trimEnd().split('\n');
    expect(seen.map((line) => JSON.parse(line).seq)).toEqual(seen.map((_, at) => at + 1));
  });
});

describe('a command and the tool of its name', () => {
  /** Arguments given without a flag. */
  const positional: Record<string, string> = { ask: 'message', answer: 'interaction', test: 'deployment' };
  const asksBack = (request: Parameters<typeof resultsIn>[0]) =>
    resultsIn(request).length > 0
      ? { text: 'Thanks.' }
      : { calls: [{ name: 'ask_question', arguments: { question: 'Which size?', options: ['S', 'M'] } }] };

  let tools: Awaited<ReturnType<typeof connectMcp>>;
  let settled: string;
  let task: { id: string; conversation_id: string };
  beforeAll(async () => {
    tools = await connectMcp(server.url, server.testKey);
    server.script(() => ({ text: 'Good morning.' }));
    const scenario = { name: 'greets', persona: 'A guest', goal: 'Hear hello', success_criteria: ['It greets.'] };
    expect((await server.call('POST', '/v1/deployments/desk/scenarios', { body: scenario })).status).toBe(201);
    const body = { message: 'Hello', user_id: 'dora', hand_off: 'always' };
    settled = (await server.call('POST', '/v1/conversations', { body })).body.id;
    const { data } = await server.until(
      `/v1/tasks?conversation_id=${settled}`,
      (page) => page.data[0]?.status === 'done',
    );
    task = data[0];
    await server.until(`/v1/conversations/${settled}`, ({ status }) => status === 'idle');
  });
  afterAll(() => tools.close());

  type Given = Record<string, unknown>;

  async function byTool(name: string, given: Given) {
    const { isError, structuredContent, _meta } = await tools.callTool({ name, arguments: given });
    const said = isError ? { error: _meta?.['vestra/error'] } : structuredContent;
    return { isRefused: isError === true, said: said as Given };
  }

  async function typed(name: string, given: Given) {
    const { [positional[name] ?? '']: first, ...flags } = given;
    const words = Object.entries(flags).flatMap(([flag, value]) =>
      value === true ? [`--${flag}`] : [`--${flag.replaceAll('_', '-')}`, String(value)],
    );
    const { code, out, err } = await here(name, ...(first === undefined ? [] : [String(first)]), ...words, '--json');
    return { code, isRefused: out === '', said: JSON.parse(out || err) as Given };
  }

  /** Without what no two calls have in common. */
  const comparable = (said: unknown): unknown =>
    JSON.parse(
      JSON.stringify(said, (key, value) =>
        /_at$|^(url|request_id|duration_ms|cost_usd)$/.test(key)
          ? undefined
          : typeof value === 'string'
            ? value.replace(/\b([a-z]{3,4})_[0-9A-Za-z]{24}\b/g, '$1_')
            : value,
      ),
    );

  const asking = async (user?: string) => {
    server.script(asksBack);
    const body = { message: 'A shirt', ...(user && { user_id: user }) };
    const { id } = (await server.call('POST', '/v1/conversations', { body })).body;
    await server.until(`/v1/interactions?conversation_id=${id}`, ({ data }) => data.length === 1);
  };
  const greeting = async () => server.script(() => ({ text: 'Good morning.' }));

  it.each<[string, string, () => Given, object, (() => Promise<void>)?]>([
    [
      'a reply',
      'ask',
      () => ({ message: 'Hi', user: 'dora' }),
      { status: 'settled', reply: { text: 'Good morning.' } },
    ],
    [
      'the next reply',
      'ask',
      () => ({ message: 'And now?', conversation: settled }),
      { status: 'settled', task_id: null },
    ],
    [
      'work that waits',
      'ask',
      () => ({ message: 'A shirt', user: 'eve', hand_off: 'always' }),
      { status: 'waiting', interactions: [{ type: 'question', user_id: 'eve' }] },
      async () => server.script(asksBack),
    ],
    [
      'a message in another user’s conversation',
      'ask',
      () => ({ message: 'Hi', conversation: settled, user: 'eve' }),
      { error: { code: 'conversation_user_mismatch', param: 'user' } },
    ],
    [
      'a message that moves its conversation',
      'ask',
      () => ({ message: 'Hi', conversation: settled, deployment: 'desk' }),
      { error: { code: 'invalid_request', param: 'deployment' } },
    ],
    [
      'a message to nobody',
      'ask',
      () => ({ message: 'Hi', deployment: 'away' }),
      { error: { code: 'invalid_deployment' } },
    ],
    [
      'the answer to the only question',
      'answer',
      () => ({ user: 'fay', answers: 'M' }),
      { status: 'resolved', user_id: 'fay' },
      () => asking('fay'),
    ],
    [
      'an answer to one of two',
      'answer',
      () => ({ user: 'eve', answers: 'M' }),
      { error: { code: 'invalid_request', param: 'interaction' } },
    ],
    [
      'an answer that names nobody while users are asked',
      'answer',
      () => ({ answers: 'M' }),
      { error: { code: 'interaction_not_found' } },
    ],
    [
      'the answer to the org’s own agent',
      'answer',
      () => ({ answers: 'M' }),
      { status: 'resolved', user_id: null },
      () => asking(),
    ],
    [
      'an answer to what is not there',
      'answer',
      () => ({ interaction: `int_${'0'.repeat(24)}`, answers: 'M' }),
      { error: { code: 'interaction_not_found' } },
    ],
    ['a page', 'embed', () => ({ user: 'dora' }), { object: 'session', chat: true, screen: false, user_id: 'dora' }],
    [
      'a page of another’s conversation',
      'embed',
      () => ({ user: 'eve', conversation: settled }),
      { error: { code: 'conversation_user_mismatch' } },
    ],
    [
      'events of a conversation',
      'events',
      () => ({ conversation: settled, after: 1, limit: 2 }),
      { data: [{ seq: 2 }, { seq: 3 }], next_after: 3 },
    ],
    ['events of work', 'events', () => ({ task: task.id, limit: 1 }), { data: [{ type: 'task.started' }] }],
    [
      'events of the org',
      'events',
      () => ({ type: 'task.completed', limit: 1 }),
      { data: [{ type: 'task.completed' }] },
    ],
    ['events after nothing', 'events', () => ({ after: 3 }), { error: { code: 'invalid_request', param: 'after' } }],
    [
      'the org’s events of one conversation',
      'events',
      () => ({ conversation: settled, type: 'task.completed' }),
      { error: { code: 'invalid_request', param: 'type' } },
    ],
    [
      'tests of the only deployment',
      'test',
      () => ({}),
      { object: 'test_run', counts: { total: 1, queued: 0, running: 0 } },
    ],
    ['tests of none', 'test', () => ({ deployment: 'away' }), { error: { code: 'deployment_not_found' } }],
  ])('answer %s alike [MCP-150]', async (_, name, given, expected, prepare = greeting) => {
    const { answers, ...plain } = given();
    await prepare();
    const tool = await byTool(name, { ...plain, ...(answers !== undefined && { answers: [answers] }) });
    await prepare();
    const line = await typed(name, given());
    expect(tool.said).toMatchObject(expected);
    expect(comparable(line.said)).toEqual(comparable(tool.said));
    const isDone = !tool.isRefused && !['failed', 'waiting'].includes(String(tool.said.status));
    expect([line.isRefused, line.code === 0]).toEqual([tool.isRefused, isDone]);
    expect(tool.said).not.toHaveProperty('token');
  });
});

describe('vestra listen', () => {
  it('forwards new events, signed like a delivery', async () => {
    server.script(() => ({ text: 'Hello.' }));
    const got: { headers: Record<string, string>; body: string }[] = [];
    const endpoint = createServer(async (request, response) => {
      got.push({ headers: request.headers as Record<string, string>, body: await text(request) });
      response.writeHead(204).end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => endpoint.once('listening', resolve));
    // As other tools take it: without its scheme.
    const to = `127.0.0.1:${(endpoint.address() as AddressInfo).port}/hooks`;
    const words = ['listen', '--to', to, '--types', 'reply.completed'];
    const listening = startCli(words, { cwd: folder, env: env(), input: '' });
    await listening.until(({ err }) => err.includes('The signing secret is'));
    const secret = /The signing secret is (\S+)/.exec(listening.err())?.[1] as string;
    const made = await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } });
    await listening.until(({ out }) => out.includes('→ 204'));
    listening.child.kill('SIGINT');
    expect(await listening.ended).toBe(130);
    endpoint.close();

    expect(got).toHaveLength(1);
    const [{ headers, body }] = got as [(typeof got)[0]];
    const event = new Webhook(secret).verify(body, headers) as { id: string; data: { conversation_id: string } };
    expect(event.data.conversation_id).toBe(made.body.id);
    expect(headers['service-signature']).toBe(headers['webhook-signature']);
    expect(event).toEqual((await server.call('GET', `/v1/events/${event.id}`)).body);
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow();
  });
});

describe('vestra start and admin', () => {
  it('are the server’s own entries, and end as the server ends', async () => {
    const machine = {
      VESTRA_DATA_DIR: join(folder, 'data'),
      DATABASE_URL: server.connectionString,
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      VESTRA_STOP_SECONDS: '1',
    };
    const started = startCli(['start', '--port', '0'], { cwd: folder, env: machine, input: '' });
    await started.until(({ out }) => out.includes('is running at'));
    const url = /is running at (http:\S+)/.exec(started.out())?.[1] as string;
    expect((await here('health', '--url', url, '--json')).out).toContain('"status": "ok"');
    started.child.kill('SIGINT');
    expect(await started.ended).toBe(0);
    const made = await runCli(['admin', 'org', 'create', '--name', 'Another', '--json'], { cwd: folder, env: machine });
    expect(JSON.parse(made.out)).toMatchObject({ org_id: expect.any(String), test_key: expect.any(String) });
    const mistyped = await runCli(['admin', 'credit', '--mode', 'live'], { cwd: folder, env: machine });
    expect([mistyped.code, mistyped.err]).toEqual([2, expect.stringContaining('--org is missing.')]);
    const help = await runCli(['admin', '--help'], { cwd: folder });
    expect([help.code, help.out]).toEqual([0, expect.stringContaining('vestra admin credit')]);
  });
});

describe('vestra doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const { code, out } = await runCli(['doctor', '--json'], {
      cwd: folder,
      env: { PORT: new URL(server.url).port, ...env },
    });
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: { status: string; what: string }[] };
    expect(ok).toBe(code === 0);
    return { code, out, findings: findings.map(({ status, what }) => `${status} ${what}`) };
  };

  it('finds nothing to fix in a healthy folder beside a running server [OPS-213]', async () => {
    const { code, findings } = await doctor({
      DATABASE_URL: server.connectionString,
      VESTRA_MASTER_KEY: 'ab'.repeat(32),
      VESTRA_COMPUTER: 'off',
    });
    expect(findings.filter((each) => each.startsWith('fail'))).toEqual([]);
    expect(code).toBe(0);
    expect(findings).toContain(`ok ready at ${server.url}`);
    expect(findings).toContain('ok its tables are those of this version');
    expect(findings).toContain('ok reached directly');
    expect(findings.join()).toMatch(/ok PostgreSQL \d+\S* .*takes writes/);
  });

  it('exits with 1 and prints no secret if the database cannot be reached [OPS-213, OPS-214]', async () => {
    const { code, out, findings } = await doctor({
      DATABASE_URL: 'postgresql://vestra:hunter2-secret@127.0.0.1:1/none',
      VESTRA_MASTER_KEY: 'cd'.repeat(32),
      VESTRA_METRICS_TOKEN: 'token-that-is-secret',
      VESTRA_COMPUTER: 'off',
    });
    expect(code).toBe(1);
    expect(findings.filter((each) => each.startsWith('fail'))).toEqual([expect.stringContaining('127.0.0.1:1')]);
    expect(out).not.toMatch(/hunter2|cdcdcd|token-that/);
  });
});

describe('which server and key', () => {
  it('are saved by login, once the key is valid', async () => {
    const login = (key: string) =>
      runCli(['login', '--url', server.url, '--key', '-'], { cwd: folder, input: `${key}\n` });
    const bad = await login('vk_test_0000000000000000000000000000000000000000000');
    expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('key_invalid')]);
    const good = await login(server.testKey);
    expect([good.code, good.out]).toEqual([0, expect.stringContaining(`key …${server.testKey.slice(-4)} at`)]);
    expect((await stat(join(folder, '.config/vestra/config.json'))).mode & 0o777).toBe(0o600);
    const me = await runCli(['me', '--json'], { cwd: folder });
    expect(JSON.parse(me.out)).toEqual((await server.call('GET', '/v1/me')).body);
    const listed = await runCli(['profiles'], { cwd: folder });
    expect(good.out + good.err + listed.out).not.toContain(server.testKey);
    expect((await runCli(['logout'], { cwd: folder })).code).toBe(0);
    expect((await runCli(['me', '--url', server.url], { cwd: folder })).err).toMatch(/^✖ No API key for http/);
  });

  it('are those of the folder by default, and it prints so once', async () => {
    const project = join(folder, 'project');
    await mkdir(join(project, '.vestra'), { recursive: true });
    const keys = { org_id: server.orgId, test_key: server.testKey, live_key: server.liveKey };
    await writeFile(join(project, '.vestra/credentials.json'), JSON.stringify(keys));
    const { out, err } = await runCli(['me', '--url', server.url], { cwd: project });
    expect(out).toMatch(/^mode +test$/m);
    expect(err).toBe(`Using the test key of .vestra/credentials.json at ${server.url}.\n`);
    const live = await runCli(['me', '--url', server.url, '--live', '--json'], { cwd: project });
    expect([JSON.parse(live.out).mode, live.err]).toEqual(['live', '']);
  });
});

// Last: before it there is one deployment alone.
describe('vestra embed', () => {
  it('prints the address of a page and its agent [SES-201]', async () => {
    await server.apply({ name: 'garage' });
    for (const [named, name] of [
      [[], 'desk'],
      [['--deployment', 'garage'], 'garage'],
    ] as const) {
      const { body: deployment } = await server.call('GET', `/v1/deployments/${name}`);
      const { code, out, err } = await here('embed', '--user', 'ada', ...named);
      expect([code, out]).toEqual([0, expect.stringMatching(/^http\S+#\S+\n$/)]);
      expect(err).toContain(` · with ${deployment.id} · `);
    }
  });
});
