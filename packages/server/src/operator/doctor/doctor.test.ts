import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../platform/config/config.ts';
import { serverFindings, settingFindings } from './doctor.ts';
import type { Finding } from './finding.ts';
import { dataFolderFindings, nodeFinding } from './machine.ts';
import { retiringFindings, vendorFindings } from './models-and-money.ts';

const folder = mkdtempSync(join(tmpdir(), 'vestra-doctor-'));
afterAll(() => rmSync(folder, { recursive: true }));

const told = (findings: readonly Finding[]) =>
  findings.map(({ status, what, remedy }) => `${status}: ${what} → ${remedy}`);

describe('findings about settings [OPS-213]', () => {
  it.each<[Record<string, string>, string]>([
    [{ VESTRA_PUBLC_URL: 'x' }, 'warn: VESTRA_PUBLC_URL is set, which nothing reads → Did you mean VESTRA_PUBLIC_URL?'],
    [{ VESTRA_FROBNICATE: '1' }, 'warn: VESTRA_FROBNICATE is set, which nothing reads → The settings are listed'],
    [{ VESTRA_PUBLIC_URL: 'http://api.example.com' }, 'VESTRA_PUBLIC_URL is http'],
    [{ HOST: '0.0.0.0' }, 'HOST is 0.0.0.0 and VESTRA_PUBLIC_URL is not set'],
    [{ VESTRA_PUBLIC_URL: 'https://a.example', VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' }, 'agents reach this network'],
    [
      { DATABASE_URL: 'postgresql://x', VESTRA_ROLE: 'worker' },
      'VESTRA_ROLE is worker and VESTRA_MASTER_KEY is not set',
    ],
    [{}, 'ok: every setting is known'],
    [{ VESTRA_PUBLIC_URL: 'http://localhost:4600', VESTRA_KEY: 'vk_test_x' }, 'ok: every setting is known'],
  ])('%j', (env, sentence) => {
    const findings = settingFindings(env, readConfig(env));
    expect(findings).toHaveLength(1);
    expect(told(findings)[0]).toContain(sentence);
  });
});

it('reports an old Node and files that others can read [OPS-213]', () => {
  expect(nodeFinding('20.1.0')).toMatchObject({ status: 'fail' });
  expect(nodeFinding('22.0.0')).toMatchObject({ status: 'ok' });
  const file = join(folder, 'master-key');
  writeFileSync(file, 'secret-bytes', { mode: 0o600 });
  const look = () =>
    dataFolderFindings(readConfig({ VESTRA_DATA_DIR: folder })).filter(({ what }) => what.includes(file));
  expect(look()).toMatchObject([{ status: 'ok' }]);
  chmodSync(file, 0o640);
  expect(told(look())).toEqual([`fail: ${file} can be read by others (mode 640) → chmod 600 ${file}`]);
});

it('reports models of live versions that retire soon, have retired or are unknown [OPS-214]', () => {
  const file = join(folder, 'models.json');
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const model = (id: string, retires_on: string) => ({
    id,
    provider: 'openai',
    like: 'gpt-6-luna',
    retires_on,
    replacement: 'gpt-6-luna',
  });
  writeFileSync(file, JSON.stringify([model('soon', day(59)), model('later', day(61)), model('gone', day(-1))]));
  const config = readConfig({ OPENAI_API_KEY: 'sk-x', VESTRA_MODELS_FILE: file });
  const used = ['soon', 'later', 'gone', 'unheard-of', 'default'].map((id) => ({
    model: id,
    org_id: 'org_a',
    slug: 'desk',
  }));
  expect(told(retiringFindings(config, used))).toEqual([
    `warn: the live version of desk (org_a): The model \`soon\` retires on ${day(59)}. → Use \`gpt-6-luna\`.`,
    `fail: the live version of desk (org_a): The model \`gone\` was retired on ${day(-1)}. → Use \`gpt-6-luna\`.`,
    'fail: the live version of desk (org_a) uses unheard-of, which no configured provider has → Set the key of its provider, or choose another model.',
  ]);
});

it('reports a vendor that refuses the key, and a public address that serves the metrics [OPS-214]', async () => {
  const asked: string[] = [];
  const other = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(request.url === '/v1/models' ? 401 : 200).end();
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  const config = readConfig({
    OPENAI_API_KEY: 'sk-secret-key',
    OPENAI_BASE_URL: `${url}/v1`,
    VESTRA_PUBLIC_URL: url,
    PORT: '1',
  });
  const findings = [...(await vendorFindings(config)), ...(await serverFindings(config))];
  other.close();
  expect(told(findings).join('\n')).toMatch(/fail: openai: 127\.0\.0\.1:\d+ refuses the key/);
  expect(told(findings).join('\n')).toContain(`fail: ${url}/metrics can be read by everybody`);
  expect(told(findings).join('\n')).toContain('warn: nothing answers at http://127.0.0.1:1 ');
  expect(JSON.stringify(findings)).not.toContain('sk-secret-key');
  // No request may cost money.
  expect(asked.filter((each) => !each.startsWith('GET '))).toEqual([]);
});

it('names the first model of a compatible endpoint as the default, and warns if it lists none [START-631]', async () => {
  let data = [{ id: 'llama-9' }];
  const other = createServer((_request, response) => response.end(JSON.stringify({ data }))).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/v1`;
  const config = readConfig({ OPENAI_COMPATIBLE_BASE_URL: url });
  expect(told(await vendorFindings(config))[0]).toContain('agents answer with compatible/llama-9');
  expect(told(await vendorFindings(config))[0]).toContain('`vestra models try` tries it');
  data = [];
  expect(told(await vendorFindings(config))[0]).toContain('warn: OPENAI_COMPATIBLE_BASE_URL lists no model');
  other.close();
});
