/**
 * Tests the SDK package in its target environments: an empty strict project with TypeScript 5.9 and 7 and each module
 * resolution, Node 20, 22 and 24, Bun, a Node worker, and a page and a worker of Chromium. It downloads what it needs
 * with npm. Run it by hand before a release: `npm run sdk:try`
 */
import { execFile, execFileSync } from 'node:child_process';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { rolldown } from 'rolldown';
import { programOfSdkPage } from '../tests/support/sdk-program.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'vestra-try-sdk-'));
const app = join(folder, 'app');
const failures: string[] = [];
const expected = 'ok turn.started turn.settled key_invalid';

mkdirSync(app);
execFileSync(process.execPath, [join(root, 'scripts/build-sdk.ts'), join(folder, 'built')], { stdio: 'ignore' });
execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(folder, 'built') });
const [tarball = ''] = globSync('*.tgz', { cwd: folder });
writeFileSync(join(app, 'package.json'), '{ "private": true, "type": "module" }');
const system = `${process.platform}-${process.arch}`;
const nodes = ['20', '22', '24'].map((version) => `node${version}@npm:node-${system}@${version}`);
const compilers = ['typescript5@npm:typescript@~5.9.0', 'typescript7@npm:typescript@~7.0.0'];
const packages = [join(folder, tarball), 'zod@4', '@types/node@24', ...compilers, ...nodes, 'bun'];
execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: app, stdio: 'inherit' });

await tryTypes();
const service = await serve();
await tryRuntimes();
await tryBrowser();
service.close();
rmSync(folder, { recursive: true, force: true });
if (failures.length > 0) console.log(`\n${failures.length} did not work: ${failures.join(', ')}`);
process.exitCode = failures.length > 0 ? 1 : 0;

async function tryTypes(): Promise<void> {
  writeFileSync(join(app, 'page.ts'), programOfSdkPage());
  const modern = [
    { module: 'nodenext' },
    { module: 'node16', moduleResolution: 'node16' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ];
  // TypeScript 7 no longer supports this one. zod's declarations need the interop option, which `tsc --init` enables.
  const old = { module: 'esnext', moduleResolution: 'node10', esModuleInterop: true };
  for (const [compiler, ways] of [
    ['typescript5', [...modern, old]],
    ['typescript7', modern],
  ] as const) {
    for (const way of ways) {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        lib: ['es2024', 'dom'],
        types: ['node'],
        ...way,
      };
      writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }));
      await attempt(`${compiler} ${Object.values(way).join(' ')}`, () =>
        inApp(`node_modules/${compiler}/bin/tsc`, '-p', '.'),
      );
    }
  }
}

/** The same program everywhere: a call, a stream, a signature. */
function program(url: string): string {
  return `
    import { createClient, signWebhook, verifyWebhook, VestraError } from '@vestra/sdk';
    const client = createClient({ baseUrl: '${url}/v1', key: 'vk_test_1' });
    const { status } = await client.health.get();
    const types = [];
    for await (const { type } of await client.conversations.create({ message: 'Hello', stream: true })) types.push(type);
    const secret = 'whsec_c2VjcmV0';
    const headers = await signWebhook({ id: 'evt_1', body: '{}', secret });
    await verifyWebhook({ body: '{}', headers, secret });
    const refused = await client.me.get().catch((error) => error instanceof VestraError && error.code);
    export const said = [status, ...types, refused].join(' ');
  `;
}

async function tryRuntimes(): Promise<void> {
  const log = '\nconsole.log(said);';
  writeFileSync(join(app, 'main.mjs'), `${program(service.url)}${log}`);
  writeFileSync(join(app, 'worker.mjs'), "import { Worker } from 'node:worker_threads';\nnew Worker('./main.mjs');\n");
  writeFileSync(join(app, 'required.cjs'), "console.log(typeof require('@vestra/sdk').createClient);\n");
  for (const name of ['node20', 'node22', 'node24']) {
    const bin = join('node_modules', name, 'bin/node');
    await attempt(name, () => says(expected, bin, 'main.mjs'));
    await attempt(`${name}, a worker`, () => says(expected, bin, 'worker.mjs'));
    await attempt(`${name}, require`, () => says('function', bin, 'required.cjs'));
  }
  await attempt('bun', () => says(expected, 'node_modules/.bin/bun', 'main.mjs'));
  await attempt('bun, a worker', () => says(expected, 'node_modules/.bin/bun', 'worker.mjs'));
}

async function tryBrowser(): Promise<void> {
  const entry = join(app, 'browser.mjs');
  writeFileSync(entry, program(service.url));
  const building = await rolldown({ input: entry, cwd: app, platform: 'browser' });
  const { output } = await building.generate({ format: 'es' });
  service.script = output[0].code;
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] });
  const page = await browser.newPage();
  await page.goto(service.url);
  const inPage = await page.evaluate("import('/script.js').then(({ said }) => said)").catch(String);
  const inWorker = await page
    .evaluate(
      "new Promise((resolve) => { new Worker('/worker.js', { type: 'module' }).onmessage = ({ data }) => resolve(data); })",
    )
    .catch(String);
  await browser.close();
  await attempt('Chromium, a page', () => equal(String(inPage), expected));
  await attempt('Chromium, a worker', () => equal(String(inWorker), expected));
}

/** A local service with the routes that the program calls. */
async function serve() {
  const service = { url: '', script: '', close: () => server.close() };
  const event = (type: string, seq: number) =>
    `data: ${JSON.stringify({ type, seq, turn_id: 'turn_1', conversation_id: 'conv_1', data: {} })}\n\n`;
  const answers: Record<string, () => [number, string, string]> = {
    '/': () => [200, 'text/html', '<!doctype html><title>Try</title>'],
    '/script.js': () => [200, 'text/javascript', service.script],
    '/worker.js': () => [200, 'text/javascript', "import { said } from '/script.js'; postMessage(said);"],
    '/v1/health': () => [200, 'application/json', '{"object":"health","status":"ok"}'],
    '/v1/conversations': () => [201, 'text/event-stream', event('turn.started', 1) + event('turn.settled', 2)],
    '/v1/me': () => [
      401,
      'application/json',
      '{"error":{"type":"authentication","code":"key_invalid","message":"No."}}',
    ],
  };
  const server = createServer((request, response) => {
    const [status, type, body] = answers[request.url ?? '']?.() ?? [404, 'text/plain', ''];
    response.writeHead(status, { 'content-type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}

async function attempt(name: string, run: () => unknown): Promise<void> {
  try {
    await run();
    console.log(`ok   ${name}`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL ${name}\n${String((error as { stdout?: string }).stdout ?? '') || error}`);
  }
}

/** Must not block, because this process answers the program's requests. */
async function inApp(...words: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(words[0] as string, words.slice(1), { cwd: app, timeout: 120_000 });
  return stdout;
}

async function says(wanted: string, ...words: string[]): Promise<void> {
  equal((await inApp(...words)).trim(), wanted);
}

function equal(found: string, wanted: string): void {
  if (found !== wanted) throw new Error(`It said ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}.`);
}
