import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownModels } from '../catalogue/own-models.ts';
import { createModels } from '../models.ts';
import type { ModelSettings } from '../settings.ts';
import { followTrial } from '../testing/follow-trial.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../testing/scripted-answer.ts';
import { cloudsAt } from '../testing/scripted-clouds.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../testing/scripted-server.ts';
import { checks } from './checks.ts';
import { startRecorder } from './recording.ts';
import { createRedactor, secretsOf } from './redact.ts';
import { type CheckReport, estimateTrial, runTrial } from './run-trial.ts';

let server: ScriptedModelServer;
let settings: ModelSettings;
let respond: (request: NormalisedRequest) => ScriptedAnswer = followTrial;
beforeAll(async () => {
  server = await startScriptedModelServer({ respond: (request) => respond(request) });
  const own = ownModels([{ id: 'azure/prod', provider: 'azure', like: 'gpt-6.1-terra' }], () => undefined);
  settings = { ...server.settings, clouds: cloudsAt(server.url), own };
});
afterAll(() => server.close());

async function tried(id: string, used: ModelSettings = settings) {
  const models = createModels(used, { attempts: 2, firstPauseMs: 1 });
  const entry = models.catalogue.find('test', id);
  if (!entry) throw new Error(`No ${id}.`);
  const recorder = startRecorder(createRedactor(secretsOf(used, {})));
  const rows: CheckReport[] = [];
  const { signal } = new AbortController();
  const reads = (kind: 'image' | 'pdf') => models.takes(id, kind);
  const trial = { model: models.model(id), entry, reads, recorder, signal };
  for await (const row of runTrial(trial)) rows.push(row);
  recorder.close();
  return { rows, exchanges: recorder.exchanges(), estimate: await estimateTrial(entry, reads) };
}

const failing = (rows: readonly CheckReport[]) => rows.filter(({ status }) => status === 'fails');

describe('[MOD-765] the checks of a model', () => {
  it.each([
    ...['claude-opus-5-5', 'gpt-6.1-terra', 'gemini-3.8-flash', 'compatible/scripted'],
    ...['bedrock/global.anthropic.claude-opus-5-5', 'vertex/gemini-3.8-flash', 'azure/prod'],
  ])('all pass, within the estimate: %s', async (id) => {
    respond = followTrial;
    const { rows, estimate } = await tried(id);
    expect(rows.map(({ check }) => check)).toEqual(checks.map(({ name }) => name));
    // The matrix has the schemas that a vendor is known to reject. Pieces of a stream depend on the machine's speed.
    const others = rows.filter(
      ({ status, check }) => status !== 'works' && !/^(stream|hard tool schemas)$/.test(check),
    );
    const isReasoning = !id.startsWith('compatible');
    expect(others.map(({ check, status }) => `${check} ${status}`)).toEqual(
      isReasoning ? [] : ['image skipped', 'image from a tool skipped', 'PDF skipped', 'reasoning replay skipped'],
    );
    const requests = rows.reduce(
      (sum, { check, requests: sent }) => sum + (check === 'hard tool schemas' ? 1 : sent),
      0,
    );
    expect(Math.abs(requests - estimate.requests)).toBeLessThanOrEqual(id.startsWith('vertex') ? 2 : 1);
    const cost = rows.reduce((sum, row) => sum + row.cost_usd, 0);
    expect([cost > 0, cost < estimate.most_usd, estimate.usual_usd < estimate.most_usd]).toEqual([true, true, true]);
  });

  it('name the tool schema that a provider rejects', async () => {
    respond = (request) =>
      request.tools.some(({ name }) => name === 'recursive')
        ? { fail: 400, failMessage: 'Recursion is not supported.', failCode: 'invalid_request_error' }
        : followTrial(request);
    const { rows } = await tried('claude-opus-5-5');
    const row = rows.find(({ check }) => check === 'hard tool schemas');
    expect(row).toMatchObject({ essential: true, status: expect.not.stringMatching('works') });
    expect(row?.note).toMatch(/^Rejected[^:]*: recursive\./);
  });

  it('show the words of the provider, without keys', async () => {
    respond = (request) =>
      JSON.stringify(request.body).includes('PDF')
        ? { fail: 400, failMessage: 'PDFs need sk-scripted-openai-0123456789abcdef', failCode: 'bad' }
        : followTrial(request);
    const { rows } = await tried('gpt-6.1-terra');
    expect(failing(rows).map(({ check, note }) => `${check}: ${note}`)).toEqual([
      expect.stringMatching(/^PDF: .*The vendor says: PDFs need \[removed\]$/),
    ]);
  });

  it('see a model that calls nothing and reads nothing', async () => {
    respond = () => ({ text: 'No.' });
    const { rows } = await tried('claude-opus-5-5');
    const partly = rows.flatMap(({ status, check }) => (status === 'partly' ? [check] : []));
    expect(partly).toEqual(
      expect.arrayContaining(['tool call', 'parallel calls', 'no-argument tool', 'image', 'PDF', 'cache']),
    );
    expect(failing(rows)).toEqual([]);
  });
});

describe('[MOD-766] a provider that cannot answer', () => {
  async function triedAgainst(listener: RequestListener): Promise<CheckReport[]> {
    const other = createServer(listener);
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const baseUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`;
    const { rows } = await tried('claude-opus-5-5', {
      ...settings,
      anthropic: { apiKey: () => 'sk-ant-secret-key', baseUrl },
    });
    other.closeAllConnections();
    other.close();
    return rows;
  }
  const answering = (status: number, type: string, body: string): RequestListener => {
    return (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body);
  };

  it.each<[string, RequestListener, RegExp]>([
    [
      'a web page',
      answering(200, 'text/html; charset=utf-8', '<html>Sign in</html>'),
      /answered with a web page \(200/,
    ],
    [
      'a web page as an error',
      answering(502, 'text/html', '<html>Bad gateway</html>'),
      /answered with a web page \(502/,
    ],
    [
      'a wrong key',
      answering(401, 'application/json', '{"error":{"type":"authentication_error","message":"invalid x-api-key"}}'),
      /did not accept the key \(401 authentication_error\): check ANTHROPIC_API_KEY\. The vendor says: invalid x-api-key$/,
    ],
    [
      'a model that it no longer has',
      answering(404, 'application/json', '{"error":{"type":"not_found_error","message":"model: claude"}}'),
      /Anthropic has no model claude-opus-5-5/,
    ],
  ])('is tried with one check: %s', async (_what, listener, note) => {
    const rows = await triedAgainst(listener);
    expect(rows).toMatchObject([
      { check: 'text', status: 'fails', essential: true, note: expect.stringMatching(note) },
    ]);
    expect(JSON.stringify(rows)).not.toContain('sk-ant-secret-key');
  });
});

describe('[MOD-767] a recording', () => {
  it.each([
    'claude-opus-5-5',
    'compatible/scripted',
    'bedrock/global.anthropic.claude-opus-5-5',
    'vertex/gemini-3.8-flash',
    'azure/prod',
  ])('has every request and response of %s, and none of its secrets', async (id) => {
    const secrets = secretsOf(settings, {}).concat('scripted-access-token');
    respond = (request) => ({
      ...followTrial(request),
      headers: { 'set-cookie': 'session=1', 'x-request-id': 'req_1' },
    });
    const { exchanges, rows } = await tried(id);
    expect(exchanges).toHaveLength(rows.reduce((sum, row) => sum + row.requests, 0));
    const calls = exchanges.filter(({ request }) => !request.url.endsWith('/token'));
    for (const { request, response } of calls) {
      expect(request.method).toBe('POST');
      expect(JSON.parse(request.body)).toBeTypeOf('object');
      expect(response?.status).toBeGreaterThanOrEqual(200);
      if (response?.status === 200) expect(response.headers['x-request-id']).toBe('req_1');
      expect(response?.body.length).toBeGreaterThan(0);
    }
    const written = JSON.stringify(exchanges);
    const decoded = calls
      .map(({ response }) => Buffer.from(response?.body ?? '', 'base64').toString('latin1'))
      .join('');
    for (const secret of secrets) expect(`${written}${decoded}`).not.toContain(secret.slice(0, 60));
    expect(written).not.toMatch(/session=1|BEGIN PRIVATE/);
  });
});
