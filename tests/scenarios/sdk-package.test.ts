import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '../..');
const packed = `vestra-sdk-${manifest.version}.tgz`;
let folder: string;

/** The package as npm would publish it, unpacked where a customer's program would find it, with no zod in sight. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-sdk-package-'));
  const built = join(folder, 'built');
  execFileSync(process.execPath, [join(root, 'scripts/build-sdk.ts'), built], { cwd: root });
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: built, stdio: 'ignore' });
  const place = join(folder, 'app/node_modules/@vestra/sdk');
  await mkdir(place, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', place, '--strip-components=1']);
  for (const name of ['yaml', 'eventsource-parser']) {
    await symlink(join(root, 'node_modules', name), join(folder, 'app/node_modules', name));
  }
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const inApp = (...words: string[]) =>
  execFileSync(words[0] as string, words.slice(1), { cwd: join(folder, 'app'), encoding: 'utf8' });

it('runs under plain Node, without TypeScript and without zod', async () => {
  const program = `
    import { createClient } from '@vestra/sdk/client';
    import { ask } from '@vestra/sdk/commands/ask';
    import { VestraError } from '@vestra/sdk/errors';
    import { pages } from '@vestra/sdk/pages';
    import { followTurn } from '@vestra/sdk/stream';
    import { answerToolCalls } from '@vestra/sdk/tools';
    import { signWebhook, verifyWebhook } from '@vestra/sdk/webhook';
    import { applyFolder } from '@vestra/sdk/apply';
    const zod = await import('zod').then(() => 'there', () => 'missing');
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk', retries: 0 });
    const error = await client.me.get().catch((each) => each);
    const headers = await signWebhook({ id: 'evt_1', body: '{}', secret: 'whsec_c2VjcmV0' });
    const event = await verifyWebhook({ body: '{}', headers, secret: 'whsec_c2VjcmV0' });
    const applied = await applyFolder({ client, folder: '.' }).catch((each) => each.name);
    console.log(JSON.stringify([zod, error instanceof VestraError, error.code, event, applied, typeof ask, typeof pages, typeof followTurn, typeof answerToolCalls]));
  `;
  await writeFile(join(folder, 'app/main.mjs'), program);
  const said = JSON.parse(inApp(process.execPath, 'main.mjs'));
  const functions = ['function', 'function', 'function', 'function'];
  expect(said).toEqual(['missing', true, 'connection_failed', {}, 'ApplyError', ...functions]);
});

it('is typed for those who have its dependencies', async () => {
  await symlink(join(root, 'node_modules/zod'), join(folder, 'app/node_modules/zod'));
  const program = `
    import { createClient } from '@vestra/sdk/client';
    import { applyFolder } from '@vestra/sdk/apply';
    import { ask } from '@vestra/sdk/commands/ask';
    import type { Turn } from '@vestra/sdk/resources';
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk' });
    export const asked: Turn['status'] = (await ask(client, { message: 'Hi', user: 'ada' })).status;
    // @ts-expect-error a message is needed
    await ask(client, { user: 'ada' });
    export const status: 'idle' | 'replying' | 'working' | 'waiting' = (await client.conversations.create()).status;
    export const changed: string[] | undefined = (await applyFolder({ client, folder: '.' })).answer?.changed;
    // @ts-expect-error a conversation is needed
    await client.conversations.get();
    // @ts-expect-error a status is none of these
    export const wrong: 'done' = (await client.conversations.create()).status;
  `;
  await writeFile(join(folder, 'app/main.mts'), program);
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,dom',
    '--strict',
    '--noEmit',
    '--types',
    '',
  ];
  inApp(join(root, 'node_modules/.bin/tsc'), ...options, 'main.mts');
});

it('names no registry and holds nothing but what is published', async () => {
  const listed = inApp('tar', '-tzf', join('..', packed)).trim().split('\n');
  const other = listed.filter(
    (file) => !/^package\/((sdk|contract)\/src\/.+\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file),
  );
  expect(other).toEqual([]);
  expect(await readFile(join(folder, 'built/package.json'), 'utf8')).not.toMatch(/registry|https?:/);
});
