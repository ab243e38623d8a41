import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followTrial } from '@vestra/models/testing/follow-trial';
import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { type ScriptedModelServer, startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runAtTerminal, runCli, startCli } from '../support/cli.ts';
import { blocksOf, commandsIn } from '../support/documented-blocks.ts';

let folder: string;
let provider: ScriptedModelServer;
let respond: (request: NormalisedRequest) => ScriptedAnswer;
let asked = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-models-try-'));
  provider = await startScriptedModelServer({
    respond: (request) => {
      asked += 1;
      return respond(request);
    },
  });
});
beforeEach(() => {
  respond = followTrial;
  asked = 0;
});
afterAll(async () => {
  await provider.close();
  await rm(folder, { recursive: true });
});

const key = 'sk-ant-api03-very-secret-0123456789';
const machine = () => ({
  ANTHROPIC_API_KEY: key,
  ANTHROPIC_BASE_URL: provider.baseUrls.anthropic,
  VESTRA_ASK_FOR_MODELS: '0',
});
const tryModels = (words: readonly string[], env: Record<string, string> = machine()) =>
  runCli(['models', 'try', ...words], { cwd: folder, env });

/** Without numbers and notes, which differ from machine to machine. */
const withoutNumbers = (lines: readonly string[]) =>
  lines
    .map((line) => line.replace(/( works {4}.{18}).*/, '$1').replace(/\$[\d.]+|[\d.]+ s\b/g, '#'))
    .filter((line) => line.trim() !== '' && !line.includes(' stream '));

describe('[MOD-765] vestra models try', () => {
  it('prints what the documentation shows', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/try-a-model.md'), 'utf8');
    const [documented] = blocksOf(page)
      .flatMap(commandsIn)
      .filter(({ command }) => command.startsWith('vestra models try'));
    const words = documented?.command.split(' ').slice(3) ?? [];
    const { code, out, err } = await tryModels(words);
    expect([code, err]).toEqual([0, '']);
    expect(withoutNumbers(out.split('\n'))).toEqual(withoutNumbers(documented?.shows ?? []));
    expect(out).not.toContain(key);
    const recording = await readFile(join(folder, 'recording.json'), 'utf8');
    expect((await stat(join(folder, 'recording.json'))).mode & 0o777).toBe(0o600);
    const { vestra, reports, exchanges } = JSON.parse(recording);
    expect([typeof vestra, reports[0].model, exchanges.length]).toEqual(['string', 'claude-opus-5-5', asked]);
    expect(exchanges[0]).toMatchObject({
      check: 'claude-opus-5-5 text',
      request: {
        method: 'POST',
        headers: { 'x-api-key': '[removed]' },
        body: expect.stringContaining('claude-opus-5-5'),
      },
      response: { status: 200, body: expect.stringContaining('message_stop') },
    });
    expect(recording).not.toContain('very-secret');
    const again = await tryModels(words);
    expect([again.code, again.err]).toEqual([1, expect.stringContaining('The file exists already: recording.json.')]);
  });

  it('prints JSON for a machine, tries the default model, and exits with 1 if an essential check fails', async () => {
    respond = (request) =>
      request.tools.length > 0 ? { fail: 400, failMessage: 'no tools here' } : followTrial(request);
    const { code, out, err } = await tryModels(['--yes', '--json'], {
      ...machine(),
      VESTRA_DEFAULT_MODEL: 'claude-haiku-5-5',
    });
    const { ok, models } = JSON.parse(out);
    expect([code, ok, models.length, models[0].model]).toEqual([1, false, 1, 'claude-haiku-5-5']);
    const row = models[0].checks.find(({ check }: { check: string }) => check === 'tool call');
    expect(row).toMatchObject({ essential: true, status: 'fails', note: expect.stringContaining('no tools here') });
    expect(err).toMatch(/FAILS +tool call/);
  });

  it('sends nothing without a confirmation', async () => {
    const { code, out, err } = await tryModels(['claude-opus-5-5']);
    expect([code, asked]).toEqual([1, 0]);
    expect(out).toMatch(/^claude-opus-5-5: \d+ checks, about \d+ requests, about \$[\d.]+, at most \$[\d.]+\.\n$/);
    expect(err).toBe('These requests cost money. Add --yes to send them without a question.\n');
  });

  it('asks at a terminal, shows its progress there, and sends nothing after a no', async () => {
    const atTerminal = (input: string) =>
      runAtTerminal(['models', 'try', 'claude-haiku-5-5'], { cwd: folder, env: machine(), input }).catch(
        ({ code, stdout }: { code: number; stdout: string }) => `${code} ${stdout}`,
      );
    const refused = await atTerminal('n\n');
    expect([refused.startsWith('1 '), asked]).toEqual([true, 0]);
    expect(refused).toMatch(/Send these requests to the provider\? \[y\/N\][\s\S]*Nothing was sent\./);
    const accepted = await atTerminal('y\n');
    expect(accepted).toContain('claude-haiku-5-5: 1 of 17, text …');
    expect(accepted).toContain('17 of 17 checks work.');
  });

  it('stops at Ctrl-C and still writes the recording', async () => {
    const started = startCli(['models', 'try', 'claude-opus-5-5', '--yes', '--record', 'stopped.json'], {
      cwd: folder,
      env: machine(),
    });
    await started.until(({ out }) => out.includes('works    text'));
    started.child.kill('SIGINT');
    expect(await started.ended).toBe(130);
    expect(JSON.parse(await readFile(join(folder, 'stopped.json'), 'utf8')).exchanges.length).toBeGreaterThan(0);
  });
});

describe('[MOD-766] vestra models try says in one sentence', () => {
  it.each<[string, readonly string[], Record<string, string>, string]>([
    [
      'that no key is set',
      [],
      {},
      'No model provider is configured, so there is nothing to try. Set ANTHROPIC_API_KEY, ',
    ],
    [
      'which key a model needs',
      ['gemini-3.8-flash'],
      { ANTHROPIC_API_KEY: key },
      'gemini-3.8-flash is a model of google, which is not configured: set GOOGLE_GENERATIVE_AI_API_KEY.',
    ],
    [
      'that a model is unknown',
      ['claude-opuss-5-5'],
      { ANTHROPIC_API_KEY: key },
      'No configured provider has the model claude-opuss-5-5. Did you mean claude-opus-5-5?',
    ],
    [
      'that the stand-in has no provider',
      ['offline'],
      { ANTHROPIC_API_KEY: key },
      '`offline` is the built-in stand-in',
    ],
    [
      'that a model is retired',
      ['gone'],
      { OPENAI_API_KEY: key, VESTRA_MODELS_FILE: 'models.json' },
      'The model `gone` was retired on 2026-01-31. Use `gpt-6-luna`.',
    ],
  ])('%s', async (_what, ids, env, sentence) => {
    const gone = {
      id: 'gone',
      provider: 'openai',
      like: 'gpt-6-luna',
      retires_on: '2026-01-31',
      replacement: 'gpt-6-luna',
    };
    await writeFile(join(folder, 'models.json'), JSON.stringify([gone]));
    const { code, out, err } = await tryModels([...ids, '--yes'], { VESTRA_ASK_FOR_MODELS: '0', ...env });
    expect([code, out, asked]).toEqual([1, '', 0]);
    expect(err).toContain(sentence);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('that the address answers with a web page, and tries nothing else', async () => {
    let count = 0;
    const proxy = createServer((_request, response) => {
      count += 1;
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { code, out } = await tryModels(['claude-opus-5-5', '--yes'], {
      ...machine(),
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    });
    proxy.closeAllConnections();
    proxy.close();
    expect(code).toBe(1);
    expect(out).toMatch(/FAILS +text .*answered with a web page \(200 text\/html\)/);
    expect(out).toContain('0 of 17 checks work, 1 fail, 16 not tried.');
    expect(count).toBeLessThanOrEqual(2);
  });

  it('that a flag is unknown', async () => {
    const { code, err } = await tryModels(['--frobnicate']);
    expect([code, err]).toEqual([2, expect.stringContaining('--frobnicate')]);
  });
});
