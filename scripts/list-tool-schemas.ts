/**
 * Writes packages/models/src/testing/real-tool-schemas.json: the tools of popular tool servers, as the servers list them.
 * Run `node scripts/list-tool-schemas.ts`. It installs each server from npm into a temporary folder, starts it with
 * invented credentials and lists its tools with the official client. No server calls its API for a list. `npm run fix`
 * then formats the file.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

type Program = { name: string; version: string; words?: string[]; environment?: Record<string, string> };

const servers: Program[] = [
  { name: '@modelcontextprotocol/server-everything', version: '2026.8.31', words: ['stdio'] },
  { name: '@modelcontextprotocol/server-filesystem', version: '2026.8.31', words: [tmpdir()] },
  { name: '@modelcontextprotocol/server-memory', version: '2026.8.31' },
  { name: '@modelcontextprotocol/server-sequential-thinking', version: '2026.8.31' },
  {
    name: '@modelcontextprotocol/server-github',
    version: '2025.4.8',
    environment: { GITHUB_PERSONAL_ACCESS_TOKEN: 'x' },
  },
  { name: '@playwright/mcp', version: '0.0.83' },
  { name: '@notionhq/notion-mcp-server', version: '2.5.2', environment: { NOTION_TOKEN: 'ntn_x' } },
  { name: '@sentry/mcp-server', version: '0.39.0', words: ['--access-token=x'] },
  { name: '@upstash/context7-mcp', version: '4.1.1' },
  { name: 'mcp-server-kubernetes', version: '4.1.7' },
  { name: 'firecrawl-mcp', version: '3.26.0', environment: { FIRECRAWL_API_KEY: 'fc-x' } },
  { name: 'tavily-mcp', version: '0.2.22', environment: { TAVILY_API_KEY: 'tvly-x' } },
  { name: 'exa-mcp-server', version: '3.4.1', environment: { EXA_API_KEY: 'x' } },
  {
    name: '@brave/brave-search-mcp-server',
    version: '2.1.4',
    words: ['--transport', 'stdio'],
    environment: { BRAVE_API_KEY: 'x' },
  },
  { name: '@zereight/mcp-gitlab', version: '2.1.64', environment: { GITLAB_PERSONAL_ACCESS_TOKEN: 'x' } },
  { name: 'mongodb-mcp-server', version: '3.0.4', environment: { MDB_MCP_TELEMETRY: 'disabled' } },
  { name: '@hubspot/mcp-server', version: '0.4.0', environment: { PRIVATE_APP_ACCESS_TOKEN: 'x' } },
  { name: 'figma-developer-mcp', version: '0.13.2', words: ['--stdio', '--figma-api-key=x'] },
  { name: 'chrome-devtools-mcp', version: '1.11.0' },
  { name: '@shopify/dev-mcp', version: '1.16.0', environment: { OPT_OUT_INSTRUMENTATION: 'true' } },
];

const target = join(import.meta.dirname, '../packages/models/src/testing/real-tool-schemas.json');

const all = [];
for (const program of servers) {
  const folder = mkdtempSync(join(tmpdir(), 'tool-schemas-'));
  try {
    const tools = await listTools(program, folder);
    all.push({ server: program.name, version: program.version, tools });
    console.log(`${program.name}@${program.version}: ${tools.length} tools`);
  } catch (error) {
    console.log(`${program.name}@${program.version} is left out: ${(error as Error).message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
writeFileSync(target, `[\n${all.map((each) => JSON.stringify(each)).join(',\n')}\n]\n`);

async function listTools({ name, version, words = [], environment = {} }: Program, folder: string) {
  const installed = spawnSync('npm', ['install', '--prefix', folder, '--ignore-scripts', `${name}@${version}`], {
    encoding: 'utf8',
  });
  if (installed.status !== 0) throw new Error(`It cannot be installed. ${installed.stderr.slice(0, 300)}`);
  const home = join(folder, 'node_modules', name);
  const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const program = join(home, typeof bin === 'string' ? bin : (Object.values(bin)[0] as string));
  const { PATH = '' } = process.env;
  const client = new Client({ name: 'Vestra', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } });
  const env = { PATH, HOME: folder, ...environment };
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, ...words], env, stderr: 'ignore' }),
    { timeout: 120_000 },
  );
  try {
    const { tools } = await client.listTools(undefined, { timeout: 120_000 });
    return tools.map(({ name: called, description, inputSchema, annotations }) => ({
      name: called,
      description: description ?? '',
      inputSchema,
      annotations: annotations ?? {},
    }));
  } finally {
    await client.close();
  }
}
