import { execFile, execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { routes } from '@vestra/contract/api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { startAgentServer } from '../support/agent.ts';
import { builtPackage } from '../support/built-package.ts';
import { hoverTexts } from '../support/language-server.ts';
import { programOfSdkPage } from '../support/sdk-program.ts';

const root = join(import.meta.dirname, '../..');
const packed = `vestra-sdk-${manifest.version}.tgz`;
const run = promisify(execFile);
let folder: string;
let app: string;

/** The package as npm would publish it, unpacked where a customer's program would find it, with no zod in sight. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-sdk-package-'));
  app = join(folder, 'app');
  execFileSync('npm', ['pack', '--pack-destination', folder], { cwd: await builtPackage('sdk'), stdio: 'ignore' });
  const place = join(app, 'node_modules/@vestra/sdk');
  await mkdir(place, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', place, '--strip-components=1']);
  for (const name of ['yaml', 'eventsource-parser']) await linkPackage(name);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const linkPackage = async (name: string) => {
  await mkdir(join(app, 'node_modules', name, '..'), { recursive: true });
  await symlink(join(root, 'node_modules', name), join(app, 'node_modules', name));
};

const inApp = (...words: string[]) => execFileSync(words[0] as string, words.slice(1), { cwd: app, encoding: 'utf8' });

it('runs under plain Node, without TypeScript and without zod, imported or required [PKG-320]', async () => {
  const program = `
    import { createRequire } from 'node:module';
    import * as sdk from '@vestra/sdk';
    import { applyFolder } from '@vestra/sdk/apply';
    const required = createRequire(import.meta.url)('@vestra/sdk');
    const zod = await import('zod').then(() => 'there', () => 'missing');
    const client = sdk.createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk', retries: 0 });
    const error = await client.me.get().catch((each) => each);
    const headers = await sdk.signWebhook({ id: 'evt_1', body: '{}', secret: 'whsec_c2VjcmV0' });
    const event = await required.verifyWebhook({ body: '{}', headers, secret: 'whsec_c2VjcmV0' });
    const applied = await applyFolder({ client, folder: '.' }).catch((each) => each.name);
    console.log(JSON.stringify([zod, error instanceof required.VestraError, error.code, event, applied, Object.keys(sdk)]));
  `;
  await writeFile(join(app, 'main.mjs'), program);
  const [...said] = JSON.parse(inApp(process.execPath, 'main.mjs'));
  const names = said.pop();
  expect(said).toEqual(['missing', true, 'connection_failed', {}, 'ApplyError']);
  expect(names).toEqual([
    'ToolError',
    'VestraError',
    'WebhookError',
    'answer',
    'answerToolCalls',
    'ask',
    'createClient',
    'defineFunction',
    'embed',
    'events',
    'followConversation',
    'followTestRun',
    'followTurn',
    'functionEndpoint',
    'pages',
    'serveFunctions',
    'signWebhook',
    'test',
    'verifyWebhook',
    'yesTo',
  ]);
});

const typed = `
  import { type Asked, ask, createClient, type Interaction, type StreamEvent, type User, VestraError, type WebhookEvent } from '@vestra/sdk';
  import { applyFolder } from '@vestra/sdk/apply';
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk' });
  export const asked: Asked['status'] = (await ask(client, { message: 'Hi', user: 'ada' })).status;
  export const user: User = await client.users.get({ user_id: 'ada' });
  export const changed: string[] | undefined = (await applyFolder({ client, folder: '.' })).answer?.changed;
  export const isEmpty = (error: VestraError) => error.code === 'wallet_empty' || error.code === 'of_a_newer_service';
  export function told(event: StreamEvent): string {
    if (event.type === 'task.step') return event.data.step.name ?? '';
    if (event.type !== 'interaction.created') return '';
    const { interaction } = event.data;
    return interaction.type === 'tool_call' ? interaction.details.tool_name : '';
  }
  export const spent = (event: WebhookEvent): number => (event.type === 'usage.cap_reached' ? event.data.spend_usd : 0);
  // @ts-expect-error what an interaction holds is known by its type
  export const wrongDetails = (interaction: Interaction) => interaction.type === 'question' && interaction.details.app.length;
  // @ts-expect-error a delta has no step
  export const wrongData = (event: StreamEvent) => event.type === 'reply.delta' && event.data.step;
  // @ts-expect-error a message is needed
  await ask(client, { user: 'ada' });
  // @ts-expect-error a conversation is needed
  await client.conversations.get();
  // @ts-expect-error a status is none of these
  export const wrong: 'done' = (await client.conversations.create()).status;
`;

it('is typed strictly, and so is every block of its page [PKG-321]', async () => {
  await linkPackage('zod');
  await linkPackage('@types/node');
  await linkPackage('undici-types');
  await writeFile(join(app, 'package.json'), '{ "type": "module" }');
  await writeFile(join(app, 'typed.ts'), typed);
  await writeFile(join(app, 'page.ts'), programOfSdkPage());
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2024', types: ['node'] };
  const config = { compilerOptions, files: ['typed.ts', 'page.ts'] };
  await writeFile(join(app, 'tsconfig.json'), JSON.stringify(config));
  inApp(join(root, 'node_modules/.bin/tsc'), '-p', '.');
});

it('shows in an editor what each call and option is for [PKG-322]', async () => {
  const calls = routes.map(({ name }) => `  client.${name},`);
  const program = [
    "import { createClient, VestraError } from '@vestra/sdk';",
    "const client = createClient({ baseUrl: 'http://127.0.0.1:1', key: 'vk', timeoutMs: 5 });",
    "client.conversations.send({ conversation_id: '', message: '' }, { wait: 5 });",
    'export const codeOf = (error: VestraError) => error.code;',
    'export const all = [',
    ...calls,
    '];',
  ];
  await writeFile(join(app, 'hover.ts'), program.join('\n'));
  const asked = routes.map(({ name, operation }) => [`  client.${name},`, `${operation},`] as const);
  const options = [
    ['const client', 'baseUrl'],
    ['const client', 'timeoutMs'],
    ['{ wait: 5 }', 'wait'],
    ['codeOf', 'code;'],
    ['client.conversations.send(', 'send('],
  ] as const;
  const shown = await hoverTexts(app, 'hover.ts', [...asked, ...options]);
  const silent = routes.filter(
    ({ route }, index) => !shown[index]?.includes(JSON.stringify(route.summary).slice(1, -1)),
  );
  expect(silent.map(({ name }) => name)).toEqual([]);
  expect(shown.slice(routes.length)).toEqual([
    expect.stringContaining('The address of the service'),
    expect.stringContaining('The timeout of one attempt'),
    expect.stringContaining('Waits for the final answer to a message'),
    expect.stringContaining('Branch on this.'),
    expect.stringContaining('Send a message; the response comes at once'),
  ]);
});

it('runs every block of its page [PKG-323]', async () => {
  const server = await startAgentServer();
  await mkdir(join(app, 'support-desk'));
  await writeFile(join(app, 'support-desk/service.yaml'), 'name: support-desk\ninstructions: Help.\n');
  try {
    await writeFile(join(app, 'page.ts'), programOfSdkPage());
    const env = { PATH: process.env.PATH, VESTRA_URL: `${server.url}/v1`, VESTRA_KEY: server.testKey };
    const { stdout } = await run(process.execPath, ['page.ts'], { cwd: app, env });
    expect(stdout).toMatch(/^Hello\.\n/);
    expect(stdout).toContain('the end of the page');
  } finally {
    await server.stop();
  }
});

it('contains the metadata that npm needs, and only published files [PKG-324]', async () => {
  const listed = inApp('tar', '-tzf', join('..', packed)).trim().split('\n');
  const other = listed.filter(
    (file) => !/^package\/((sdk|contract)\/src\/.+\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file),
  );
  expect(other).toEqual([]);
  expect(listed.filter((file) => /\.(test|fixture)\./.test(file))).toEqual([]);
  const told = await readFile(join(app, 'node_modules/@vestra/sdk/package.json'), 'utf8');
  expect(told).not.toContain('registry');
  const { repository, homepage, bugs, publishConfig, keywords, dependencies } = JSON.parse(told);
  expect({ repository, homepage, bugs, publishConfig }).toEqual({
    repository: { type: 'git', url: 'git+https://code.example.com/org/vestra.git', directory: 'packages/sdk' },
    homepage: 'https://code.example.com/org/vestra#readme',
    bugs: { url: 'https://code.example.com/org/vestra/issues' },
    publishConfig: { access: 'public', provenance: true },
  });
  expect(keywords).toContain('agents');
  for (const range of Object.values(dependencies)) expect(range).toMatch(/^\^\d/);
  const readme = await readFile(join(app, 'node_modules/@vestra/sdk/README.md'), 'utf8');
  expect(readme).toContain('npm install @vestra/sdk');
  expect(readme).toContain('(https://code.example.com/org/vestra/blob/main/docs/errors.md)');
});
