import { execFile, execFileSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { builtPackage } from '../support/built-package.ts';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);
// npm and pip ask an index of packages, which may be slow.
vi.setConfig({ testTimeout: 600_000 });
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-parts-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Packs a part as `npm run pack` does, and installs the tarball with npm in an empty folder, without any script. */
async function installed(part: 'sdk' | 'react', ...further: string[]): Promise<string> {
  const built = await builtPackage(part);
  const app = join(folder, part);
  execFileSync('npm', ['pack', built, '--pack-destination', folder], { cwd: folder, stdio: 'ignore' });
  await mkdir(app);
  await writeFile(join(app, 'package.json'), '{ "private": true, "type": "module" }');
  const tarball = join(folder, `vestra-${part}-${manifest.version}.tgz`);
  const words = ['install', tarball, ...further, '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', words, { cwd: app });
  return app;
}

/** The strictest options that programs use, also over the declarations of the package. */
async function typeCheck(app: string, file: string, lib: string[]): Promise<void> {
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    module: 'nodenext',
    target: 'es2024',
    jsx: 'react-jsx',
    lib,
    types: [],
  };
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  await run(join(root, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: app });
}

const packagesIn = async (app: string) => {
  const lock = JSON.parse(await readFile(join(app, 'package-lock.json'), 'utf8')) as { packages: object };
  return Object.keys(lock.packages)
    .flatMap((path) => path.split('node_modules/').slice(-1))
    .filter(Boolean)
    .sort();
};

describe('@vestra/sdk alone', () => {
  let server: Server;
  afterAll(() => server?.close());

  it('installs without the server, type-checks strictly and runs [FIRST-711]', async () => {
    const app = await installed('sdk');
    expect(await packagesIn(app)).toEqual(['@vestra/sdk', 'eventsource-parser', 'yaml', 'zod']);
    await writeFile(
      join(app, 'main.ts'),
      `import { createClient, VestraError } from '@vestra/sdk';
       declare const process: { env: Record<string, string | undefined> };
       declare const console: { log: (text: string) => void };
       const client = createClient({ baseUrl: process.env.URL ?? '', key: 'vk_test_1', retries: 0 });
       const { status } = await client.health.get();
       const refused = await client.me.get().catch((error: unknown) => (error instanceof VestraError ? error.code : ''));
       console.log([status, refused].join(' '));`,
    );
    await typeCheck(app, 'main.ts', ['es2024', 'dom', 'dom.iterable']);
    const body = { type: 'authentication', code: 'key_invalid', message: 'No.' };
    server = createServer((request, response) => {
      const isHealth = request.url === '/v1/health';
      response.writeHead(isHealth ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isHealth ? { object: 'health', status: 'ok' } : { error: body }));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { stdout } = await run(process.execPath, ['main.ts'], { cwd: app, env: { ...process.env, URL } });
    expect(stdout.trim()).toBe('ok key_invalid');
  });
});

describe('@vestra/react alone', () => {
  it('installs without the server, type-checks strictly and renders on a server [FIRST-711]', async () => {
    const app = await installed('react', 'react@19', 'react-dom@19', '@types/react@19', '@types/react-dom@19');
    expect((await packagesIn(app)).filter((name) => /vestra|postgres|hono|zod/.test(name))).toEqual(['@vestra/react']);
    const source = `import { VestraSession } from '@vestra/react';
       import { renderToStaticMarkup } from 'react-dom/server';
       declare const console: { log: (text: string) => void };
       const getSession = async () => ({ url: 'https://vestra.example/session/ses_1' });
       console.log(renderToStaticMarkup(<VestraSession getSession={getSession} heading="Help" layout="inline" />));`;
    await writeFile(join(app, 'main.tsx'), source);
    await typeCheck(app, 'main.tsx', ['es2024', 'dom', 'dom.iterable']);
    await writeFile(
      join(app, 'main.mjs'),
      source
        .replace(/ {7}declare const.*\n/, '')
        .replace(/<VestraSession .* \/>/, "h(VestraSession, { getSession, heading: 'Help', layout: 'inline' })")
        .replace('import {', "import { createElement as h } from 'react';\n import {"),
    );
    const { stdout } = await run(process.execPath, ['main.mjs'], { cwd: app });
    expect(stdout).toMatch(/^<vestra-session .*heading="Help"/);
  });
});

describe('the Python package', () => {
  const python = ['/usr/bin/python3', '/usr/local/bin/python3'].find(existsSync) ?? 'python3';
  // pip fetches the build tool, which takes an index of packages.
  const pip = (...words: string[]) =>
    run(python, ['-m', 'pip', '--retries', '0', '--timeout', '20', 'install', ...words], { cwd: folder });
  const reached = () =>
    pip('--quiet', '--target', join(folder, 'index'), 'hatchling').then(
      () => true,
      () => false,
    );

  it('is built and installed by pip alone [FIRST-712]', async ({ skip }) => {
    // The build tool comes with pip's request. A machine with neither an index nor the tool cannot show it.
    if (!(await reached())) skip('pip reaches no index of packages from here.');
    const place = join(folder, 'python');
    await pip('--quiet', '--no-deps', '--target', place, join(root, 'packages/python'));
    expect(await readdir(place)).toContain('vestra');
    const metadata = globSync('vestra-*.dist-info/METADATA', { cwd: place }).map((file) => join(place, file));
    expect(await readFile(metadata[0] as string, 'utf8')).toContain(`Version: ${manifest.version}\n`);
  });

  it('is documented with a command that pip can run [FIRST-712]', async () => {
    const page = await readFile(join(root, 'docs/python.md'), 'utf8');
    expect(page).toContain("pip install './packages/python[apply]'");
    expect(page).toContain(`pip install ./vestra-${manifest.version}-py3-none-any.whl`);
    expect(page).not.toMatch(/-> dict:|: dict,/);
  });
});
