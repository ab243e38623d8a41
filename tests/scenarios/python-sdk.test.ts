import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { routes } from '@vestra/contract/api';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { applyFolder } from '@vestra/sdk/apply';
import { createClient } from '@vestra/sdk/client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { examplesFolder } from '../support/example.ts';
import { paperDesk, resultsIn } from './interactions.fixture.ts';

const root = join(import.meta.dirname, '../..');

/** A test of `packages/python/tests`, and what went wrong with it. */
type Ended = { test: string; error: string | null };

let server: AgentServer;
let folder: string;
let ended: Ended[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-python-'));
  server = await startAgentServer({ respond });
  await server.apply(paperDesk);
  await server.apply({ name: 'tested', tests: [{ name: 'Greets', ask: 'Hello', expect: 'The agent greets.' }] });
  ended = await runPython();
}, 600_000);
afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** By what the person said last, so that every test in Python has the model that it needs. */
function respond(request: NormalisedRequest): ScriptedAnswer {
  const said = request.messages.findLast((message) => message.role === 'user')?.text ?? '';
  const heard = resultsIn(request).map((output) => output.split('\n').slice(1, -1).join('\n'));
  if (heard.length > 0) return { text: `Heard: ${heard.join(' | ')}` };
  const calls: [RegExp, NonNullable<ScriptedAnswer['calls']>][] = [
    [/Stock\?/, [{ name: 'find_stock', arguments: { sku: 'A4' } }]],
    [/Order paper\./, [{ name: 'order_paper', arguments: { sheets: 500 } }]],
    [/Weather\?/, ['Oslo', 'Rome'].map((city) => ({ name: 'weather', arguments: { city } }))],
    [/Where is MT-1042\?/, [{ name: 'find_order', arguments: { number: 'MT-1042' } }]],
  ];
  const call = calls.find(([pattern]) => pattern.test(said));
  if (call) return { calls: call[1] };
  if (/Count\./.test(said)) return { text: Array.from({ length: 12 }, (_, at) => `word${at} `), chunkDelayMs: 60 };
  return { text: 'Hello, Ada.' };
}

/** Debian's own Python, whose httpx and PyYAML scripts/install-system.ts has put there. */
async function runPython(): Promise<Ended[]> {
  await writeFile(join(folder, 'routes.json'), JSON.stringify(routes.map(told)));
  await writeFile(join(folder, 'vectors.json'), JSON.stringify(vectors()));
  const missing = spawnSync('/usr/bin/python3', ['-c', 'import httpx, yaml']).status !== 0;
  if (missing) throw new Error('python3-httpx and python3-yaml are needed: npm run setup:system');
  const program = spawn('/usr/bin/python3', ['-W', 'error::ResourceWarning', 'packages/python/tests/run.py'], {
    cwd: root,
    env: {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      VESTRA_URL: server.url,
      VESTRA_KEY: server.testKey,
      VESTRA_ROUTES: join(folder, 'routes.json'),
      VESTRA_VECTORS: join(folder, 'vectors.json'),
      VESTRA_EXAMPLES: examplesFolder,
      VESTRA_YAML_FAULTS: join(root, 'packages/sdk/src/apply/yaml-faults.json'),
      VESTRA_DOCS: join(root, 'docs/python.md'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  program.stderr.on('data', (chunk) => errors.push(String(chunk)));
  const lines: string[] = [];
  for await (const line of createInterface(program.stdout)) lines.push(line);
  const code = await new Promise((resolve) => program.once('close', resolve));
  if (code !== 0) throw new Error(`python3 ended with ${code}: ${errors.join('')}\n${lines.join('\n')}`);
  return lines.map((line) => JSON.parse(line));
}

const told = ({ name, route }: (typeof routes)[number]) => ({
  name,
  summary: route.summary,
  params: Object.keys(route.params?.shape ?? {}),
  fields: Object.keys(route.query?.shape ?? {}),
});

/** As the library of Standard Webhooks signs them. */
const vectors = () =>
  ['{"type":"task.failed"}', '{"text":"ü\\u2028 \\"quoted\\""}', '[]'].map((body, index) => {
    const secret = `whsec_${Buffer.from(`a secret of thirty-two bytes ${index}..`).toString('base64')}`;
    const at = 1_700_000_000 + index;
    const id = `evt_${index}`;
    const signature = new Webhook(secret).sign(id, new Date(at * 1000), body);
    return {
      body,
      secret,
      at,
      headers: { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature },
    };
  });

/** Every test of these classes was run, and none failed. */
function expectPassed(...classes: string[]): void {
  for (const name of classes) {
    const own = ended.filter(({ test }) => test.startsWith(`${name}.`));
    expect(own.length, name).toBeGreaterThan(0);
    expect(own.filter(({ error }) => error !== null).map(({ test, error }) => `${test}\n${error}`)).toEqual([]);
  }
}

it('has every route as a method of both clients [PY-001]', () => expectPassed('test_calls.Routes'));

it('gives answers as objects, those of a newer service too [PY-002]', () => expectPassed('test_calls.Answers'));

it('raises errors with every field of the response [PY-003]', () => expectPassed('test_calls.Errors'));

it('repeats a call whose response is lost, and it takes effect once [PY-004]', () =>
  expectPassed('test_calls.Repeating', 'test_calls.Patience'));

it('lists through all pages, and moves files up and down [PY-005]', () =>
  expectPassed('test_calls.Lists', 'test_calls.Files'));

it('gives every event of a lost stream once [PY-006]', () =>
  expectPassed('test_streams.Streams', 'test_streams.Parser'));

it('asks and answers [PY-007]', () => expectPassed('test_streams.Commands'));

it('serves functions, and releases unfinished calls [PY-008, PY-009]', () =>
  expectPassed('test_functions.Served', 'test_functions.Signatures'));

it('waits for functions, and returns calls that were not answered in time [PY-660]', () =>
  expectPassed('test_functions.Unanswered'));

it('believes deliveries that are signed, and no others [PY-010]', () => expectPassed('test_webhooks.Webhooks'));

it('applies folders as the command line does [PY-011]', async () => {
  expectPassed('test_apply.Folders', 'test_apply.Yaml');
  // The docs have applied it in Python: to the other client there is nothing left to do.
  const client = createClient({ baseUrl: server.url, key: server.testKey });
  const applied = await applyFolder({ client, folder: join(examplesFolder, 'support-desk'), promote: 'no' });
  expect([applied.uploaded, applied.answer?.changed]).toEqual([[], []]);
});

it('describes broken YAML in the sentences of the TypeScript SDK [FIRST-703]', () => expectPassed('test_apply.Yaml'));

it('runs every block of its page [PY-012]', () => expectPassed('test_docs.Docs'));
