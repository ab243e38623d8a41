import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  assistant,
  difyAgent,
  difyChatflow,
  langgraphApplication,
  langgraphAssistant,
  responsesRequest,
} from '@vestra/cli/import/exports.fixture';
import { runHere } from '@vestra/cli/terminal.fixture';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unusedPort } from '../../packages/server/src/platform/outbound/loopback.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
let root: string;
let mcpUrl: string;

beforeAll(async () => {
  server = await startAgentServer();
  root = await mkdtemp(join(tmpdir(), 'vestra-cli-import-'));
  mcpUrl = `http://127.0.0.1:${await unusedPort()}/mcp`;
});
afterAll(async () => {
  await server.stop();
  await rm(root, { recursive: true, force: true });
});

it.each<[string, string, () => Record<string, unknown>]>([
  ['openai', 'library-desk', () => ({ 'assistant.json': assistant })],
  ['openai', 'responses', () => ({ 'responses.json': { name: 'Responses', ...responsesRequest(`${mcpUrl}/rooms`) } })],
  ['dify', 'returns-desk', () => ({ 'returns.yml': difyAgent })],
  ['dify', 'flow', () => ({ 'flow.yml': difyChatflow(`${mcpUrl}/stock`) })],
  [
    'langgraph',
    'travel-desk',
    () => ({ 'assistant.json': langgraphAssistant(`${mcpUrl}/trips`), 'langgraph.json': langgraphApplication }),
  ],
])(
  'writes a folder that the server accepts, uploads and runs, once its secrets are stored: %s %s [IMP-710]',
  async (platform, name, filesOf) => {
    const cwd = join(root, `${platform}-${name}`);
    await mkdir(cwd);
    const files = filesOf();
    for (const [file, content] of Object.entries(files))
      await writeFile(join(cwd, file), typeof content === 'string' ? content : JSON.stringify(content));
    const env = { VESTRA_URL: server.url, VESTRA_KEY: server.testKey, XDG_CONFIG_HOME: root };
    const here = (...words: string[]) => runHere(words, { cwd, env });

    const [file = ''] = Object.keys(files);
    expect((await here('import', platform, file)).code).toBe(0);
    const report = await readFile(join(cwd, name, 'IMPORT.md'), 'utf8');
    for (const [, secret = ''] of report.matchAll(/`vestra secrets set (\w+)`/g))
      if (secret !== 'NAME')
        expect(
          (await runHere(['secrets', 'set', secret, '--value', '-'], { cwd, env, stdin: 'stored-later' })).code,
        ).toBe(0);
    // A page stands for those that IMPORT.md asks to download.
    if (report.includes('## Files to download'))
      await writeFile(join(cwd, name, 'knowledge/page.md'), '# Page\n\nBooks may be kept for four weeks.\n');

    const applied = await here('apply', name, '--promote', 'no', '--json');
    expect([applied.code, applied.err]).toEqual([0, '']);
    const { version } = JSON.parse(applied.out);
    expect(version.manifest.notebooks).toHaveLength(report.includes('## Files to download') ? 1 : 0);
    // The stubs of all its functions can be served.
    const declared = version.manifest.tools.map((tool: { function: string }) => tool.function);
    const stubs = declared.length === 0 ? {} : await import(join(cwd, name, 'functions.ts'));
    expect(Object.keys(stubs).sort()).toEqual([...declared].sort());
    for (const stub of Object.values(stubs) as ((input: object) => Promise<unknown>)[])
      await expect(stub({})).rejects.toThrow('is not written yet.');
  },
);
