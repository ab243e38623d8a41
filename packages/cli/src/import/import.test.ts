import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deploymentFile } from '@vestra/contract/deployment-file';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runHere } from '../terminal.fixture.ts';
import {
  assistant,
  assistants,
  difyAgent,
  difyChatflow,
  fakeSecrets,
  langgraphApplication,
  langgraphAssistant,
  responsesRequest,
} from './exports.fixture.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'vestra-import-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let count = 0;
const mcpUrl = 'https://tools.example.com/mcp';

/** Writes the files into an empty folder and imports the first. */
async function imported(platform: string, files: Record<string, unknown>, ...flags: string[]) {
  count += 1;
  const cwd = join(root, String(count));
  await mkdir(cwd);
  for (const [name, content] of Object.entries(files)) {
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    await writeFile(join(cwd, name), isRaw ? content : JSON.stringify(content));
  }
  const [file = ''] = Object.keys(files);
  const ran = await runHere(['import', platform, file, ...flags], { cwd, env: { XDG_CONFIG_HOME: cwd } });
  const read = (path: string) => readFile(join(cwd, path), 'utf8');
  return { ...ran, cwd, read };
}

/** Every file of the folder but the exports, as one text. */
async function writtenIn(cwd: string): Promise<string> {
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.parentPath !== cwd);
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
  return texts.join('\n');
}

describe('vestra import openai', () => {
  it('writes an assistant as a folder, with what has no counterpart in IMPORT.md [IMP-700]', async () => {
    const { code, err, read } = await imported('openai', { 'assistant.json': assistant });
    expect([code, err]).toEqual([0, 'Read IMPORT.md, then: vestra apply library-desk --promote no\n']);
    const file = parse(await read('library-desk/service.yaml'));
    expect(file).toEqual({
      name: 'library-desk',
      instructions: 'You help the members of a town library. Call the catalogue with ${INSTRUCTIONS}.',
      reasoning: 'low',
      tools: [
        {
          function: 'find_loan',
          description: 'Finds a loan by its number.',
          input: assistant.tools[2]?.function?.parameters,
        },
        { function: 'own_finish', description: 'Calls finish.', input: { type: 'object', properties: {} } },
      ],
      knowledge: ['./knowledge'],
      tests: ['How long may I keep a book?', 'What does a late book cost?'].map((ask, index) => ({
        name: `${index + 1}. ${ask}`,
        ask,
        expect: [expect.stringContaining('answers')],
      })),
    });
    const report = await read('library-desk/IMPORT.md');
    for (const line of [
      'OpenAI assistant asst_abc123',
      'Function `find_loan`, which was `findLoan`, with its arguments.',
      '| every file of vector store vs_loans1 | GET https://api.openai.com/v1/vector_stores/vs_loans1/files',
      '| file file-code1 | GET https://api.openai.com/v1/files/file-code1/content | `files/` |',
      '| Model `gpt-4o` |',
      '| `temperature` |',
      '| Metadata: team, conversation_starters |',
      '| A description of `own_finish` |',
    ])
      expect(report).toContain(line);
    const functions = await read('library-desk/functions.ts');
    expect(functions).toContain(
      'export async function find_loan(input: { "number": string; "include": "fees" | "history" | null }): Promise<unknown>',
    );
  });

  it('writes each assistant of a list into a folder below --out [IMP-701]', async () => {
    const { code, out, read } = await imported('openai', { 'list.json': assistants }, '--out', 'desks', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out).imported.map(({ folder }: { folder: string }) => folder)).toEqual([
      'desks/library-desk',
      'desks/library-desk-2',
    ]);
    expect(await read('desks/library-desk-2/IMPORT.md')).toContain('| file file-old1 |');
  });

  it('reads the body of a Responses request [IMP-702]', async () => {
    const { code, read } = await imported('openai', { 'request.json': responsesRequest(mcpUrl) }, '--out', 'rooms');
    expect(code).toBe(0);
    expect(parse(await read('rooms/service.yaml'))).toMatchObject({
      instructions: 'You book rooms for guests.\n\nLook up what is free before you book.',
      reasoning: 'medium',
      tools: [
        { function: 'find_rooms' },
        {
          mcp: mcpUrl,
          name: 'rooms',
          auth: '${TOOLS_AUTHORIZATION}',
          allow: ['list_rooms', 'book_room'],
          require_approval: ['book_room'],
          run_without_asking: ['list_rooms'],
        },
      ],
      tests: [{ ask: 'Is a room free in Oslo?' }],
    });
    expect(await read('rooms/IMPORT.md')).toContain('`vestra secrets set TOOLS_AUTHORIZATION`');
  });

  it('continues long instructions in a skill, and loses no word of them [IMP-703]', async () => {
    const words = Array.from({ length: 2000 }, (_, index) => `Rule ${index}: be kind.`);
    const { code, read } = await imported('openai', {
      'long.json': { ...assistant, name: 'Long', instructions: words.join('\n\n') },
    });
    expect(code).toBe(0);
    const { instructions, skills } = parse(await read('long/service.yaml'));
    expect([...instructions].length).toBeLessThanOrEqual(8000);
    expect(skills).toEqual(['./skills/further-instructions']);
    const rest = await read('long/skills/further-instructions/SKILL.md');
    const all = `${instructions}\n${rest}`;
    expect(words.filter((line) => !all.split('\n').includes(line))).toEqual([]);
  });
});

describe('vestra import dify', () => {
  it('writes an agent app with its tools, knowledge and questions [IMP-704]', async () => {
    const { code, read } = await imported('dify', { 'returns.yml': difyAgent });
    expect(code).toBe(0);
    expect(parse(await read('returns-desk/service.yaml'))).toMatchObject({
      name: 'returns-desk',
      instructions: expect.stringMatching(/^You answer questions about returns of \{\{shop\}\}\./),
      limits: { max_steps: 6 },
      tools: [{ function: 'find_order', input: { properties: { number: { type: 'string' } } } }],
      knowledge: ['./knowledge'],
      tests: [{ ask: 'Within how many days can I return shoes?' }, { ask: 'When does a refund arrive?' }],
    });
    const report = await read('returns-desk/IMPORT.md');
    for (const line of [
      'every document of knowledge base 8c4620fa-15d7-464f-9cb9-561f1a59eb3f',
      '| Input variables: shop |',
      '| Tool `find_stock` of the MCP server `stock` |',
      '| Opening statement and suggested questions |',
      '| Content moderation |',
    ])
      expect(report).toContain(line);
    expect(report).not.toContain('current_time');
  });

  it('writes a chatflow as one agent, and lists the nodes that have no counterpart [IMP-705]', async () => {
    const { code, read } = await imported('dify', { 'returns-flow.yml': difyChatflow(mcpUrl) });
    expect(code).toBe(0);
    const file = parse(await read('returns-flow/service.yaml'));
    expect(file.instructions).toContain('# Sort\n\nYou sort questions of (order of “Start”).');
    expect(file.instructions).toContain('- Refund\n- Delivery');
    expect(file.tools).toMatchObject([
      { function: 'track_parcel', input: { properties: { order: { type: 'string' } } } },
      { function: 'cut_the_day', input: { properties: { text: { type: 'string' } } } },
      { function: 'pay_back', input: { properties: { money: { type: 'number' } }, required: ['money'] } },
      { mcp: mcpUrl, name: 'stock', auth: expect.stringMatching(/^\$\{\w+\}$/) },
    ]);
    expect(await read('returns-flow/original/cut_the_day.py')).toContain('def main(text: str)');
    expect(await read('returns-flow/functions.ts')).toContain('POST https://parcels.example.com/v1/track');
    const report = await read('returns-flow/IMPORT.md');
    expect(report).toContain('| Node of type `if-else`: Is it late? |');
    expect(report).toContain('add `mcp: https://maps.example.com/sse` with `auth: ${NAME}`');
  });
});

describe('vestra import langgraph', () => {
  it('writes an assistant, with the langgraph.json beside it [IMP-706]', async () => {
    const { code, read } = await imported('langgraph', {
      'assistant.json': langgraphAssistant(mcpUrl),
      'langgraph.json': langgraphApplication,
    });
    expect(code).toBe(0);
    expect(parse(await read('travel-desk/service.yaml'))).toEqual({
      name: 'travel-desk',
      instructions: 'You book rooms for guests.',
      limits: { max_steps: 25 },
      tools: [{ mcp: mcpUrl, name: 'tools.example.com', allow: ['list_rooms'] }],
      knowledge: ['./knowledge'],
    });
    const report = await read('travel-desk/IMPORT.md');
    for (const line of [
      '| every document of the collection 3f1c-guide | https://rag.example.com |',
      'Nodes, edges and tools of the graph in ./src/agent/graph.py:graph',
      '| Agent “Visa desk” as a tool |',
      '| Settings of the graph: tavily_api_key, max_results |',
      '| Environment: OPENAI_API_KEY, REGION |',
      '| Authentication handlers (`auth`) |',
    ])
      expect(report).toContain(line);
  });

  it('writes a function that calls the graph if only langgraph.json is known [IMP-706]', async () => {
    const { code, out, read } = await imported('langgraph', { 'langgraph.json': langgraphApplication }, '--json');
    expect([code, JSON.parse(out).imported.map(({ folder }: { folder: string }) => folder)]).toEqual([
      0,
      ['agent', 'web-research'],
    ]);
    expect(parse(await read('web-research/service.yaml')).tools).toMatchObject([{ function: 'run_web_research' }]);
    const both = { 'langgraph.json': langgraphApplication, 'assistants.json': [langgraphAssistant(mcpUrl)] };
    const named = await imported('langgraph', both, '--assistant', 'assistants.json');
    expect(named.out).toContain('Wrote travel-desk:');
  });
});

describe('credentials of an export', () => {
  it.each([
    ['openai', { 'a.json': assistant }],
    ['openai', { 'a.json': responsesRequest(mcpUrl) }],
    ['dify', { 'a.yml': difyAgent }],
    ['dify', { 'a.yml': difyChatflow(mcpUrl) }],
    ['langgraph', { 'a.json': langgraphAssistant(mcpUrl), 'langgraph.json': langgraphApplication }],
  ])('are named in IMPORT.md and written nowhere: %s [IMP-707]', async (platform, files) => {
    const { code, out, err, cwd } = await imported(platform, files);
    expect(code).toBe(0);
    const given = Object.values(files).map((content) =>
      typeof content === 'string' ? content : JSON.stringify(content),
    );
    const secrets = [...Object.values(fakeSecrets), 'tvly-forTestsOnly0123456789'].filter((secret) =>
      given.some((content) => content.includes(secret)),
    );
    expect(secrets.length).toBeGreaterThan(0);
    const written = `${await writtenIn(cwd)}${out}${err}`;
    expect(secrets.filter((secret) => written.includes(secret))).toEqual([]);
    expect(written).toContain('The export contained credentials, which were not written: store ');
    expect(written.match(/^\| `\$\{[A-Z][A-Z0-9_]*\}` \|/gm)?.length).toBeGreaterThanOrEqual(secrets.length);
  });
});

describe('an import that is refused', () => {
  const chat = 'kind: app\napp: { mode: chat, name: Desk }\n';

  it.each<[string, string, unknown, string]>([
    ['an empty file', 'openai', '', 'export.txt is empty.'],
    ['HTML instead of JSON', 'openai', '<!doctype html>\n<p>Sign in</p>', 'export.txt is not valid JSON'],
    ['half a file', 'openai', '{"id": "asst_1",\n"tools": [', 'export.txt is not valid JSON'],
    ['no UTF-8', 'dify', Uint8Array.of(0xff, 0xfe, 0x41), 'export.txt is not text in UTF-8.'],
    [
      'an error of the API',
      'openai',
      { error: { code: 'invalid_api_key', message: fakeSecrets.openai } },
      'contains an error of OpenAI’s API (invalid_api_key)',
    ],
    ['another object', 'openai', { object: 'thread', id: 'thread_1' }, 'its `object` is `thread`.'],
    ['a prompt by its id', 'openai', { prompt: { id: 'pmpt_1', version: '2' } }, 'only names the prompt pmpt_1'],
    ['an empty list', 'openai', { object: 'list', data: [] }, 'export.txt lists no assistant.'],
    ['a number', 'openai', '7', 'is not an OpenAI assistant'],
    ['broken YAML', 'dify', 'app:\n  mode: chat\n name: x\n', 'export.txt is not valid YAML (line 3).'],
    ['HTML instead of YAML', 'dify', '<!doctype html>', 'export.txt is not a Dify DSL'],
    ['a pipeline', 'dify', chat.replace('kind: app', 'kind: rag_pipeline'), 'is a Dify `rag_pipeline`'],
    ['an unknown mode', 'dify', chat.replace('mode: chat', 'mode: agent'), 'has the mode `agent`'],
    ['a flow without nodes', 'dify', chat.replace('mode: chat', 'mode: workflow'), 'has no `workflow.graph.nodes`'],
    [
      'a bomb of aliases',
      'dify',
      `${chat}a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d]\n`,
      'aliases cannot be followed',
    ],
    ['no assistant', 'langgraph', { hello: 'world' }, 'is not a LangGraph assistant'],
    ['no graphs', 'langgraph', { graphs: {} }, 'has no `graphs`'],
    ['deep nesting', 'openai', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`, 'The export is nested too deeply.'],
  ])('%s [IMP-708]', async (_, platform, content, message) => {
    const { code, out, err, cwd } = await imported(platform, { 'export.txt': content });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(message);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(err).not.toContain(fakeSecrets.openai);
    expect(await readdir(cwd)).toEqual(['export.txt']);
  });

  it('for an unknown platform, a missing file, a folder, or a folder that exists [IMP-708]', async () => {
    const { cwd } = await imported('openai', { 'a.json': assistant });
    const here = (...words: string[]) => runHere(['import', ...words], { cwd, env: { XDG_CONFIG_HOME: cwd } });
    for (const [words, code, message] of [
      [['flowise', 'a.json'], 2, 'There is no import from `flowise`: write openai, dify or langgraph.'],
      [['openai', 'b.json'], 1, 'There is no file b.json.'],
      [['openai', 'library-desk'], 1, 'library-desk is a folder: name the exported file.'],
      [['openai', 'a.json'], 1, 'library-desk already exists: name a new folder with --out.'],
      [['openai', 'a.json', '--out', 'a.json'], 1, 'a.json is a file: name a new folder with --out.'],
      [['openai', 'a.json', '--assistant', 'a.json', '--out', 'x'], 1, '--assistant belongs to langgraph'],
    ] as const) {
      const ran = await here(...words);
      expect([ran.code, ran.out]).toEqual([code, '']);
      expect(ran.err).toContain(message);
    }
    expect((await readdir(cwd)).sort()).toEqual(['a.json', 'library-desk']);
    // A list is written as a whole or not at all.
    await writeFile(join(cwd, 'list.json'), JSON.stringify(assistants));
    await mkdir(join(cwd, 'desks/library-desk-2/full'), { recursive: true });
    expect((await here('openai', 'list.json', '--out', 'desks')).err).toContain('desks/library-desk-2 already exists');
    expect(await readdir(join(cwd, 'desks'))).toEqual(['library-desk-2']);
  });

  it('writes a file that the contract accepts, however odd the export [IMP-709]', async () => {
    const odd = [
      { object: 'assistant', model: 7, name: '💥'.repeat(300), instructions: ['x'], tools: 'none', metadata: 3 },
      {
        object: 'assistant',
        instructions: '\u0000a\u0007\ud800',
        tools: [
          null,
          3,
          { type: 'function' },
          {
            type: 'function',
            function: { name: '9-Über', parameters: { type: 'object', properties: { 'ä b': { type: 'str' } } } },
          },
        ],
      },
      {
        object: 'assistant',
        instructions: ' \n\n  indented\n',
        tools: Array.from({ length: 70 }, () => ({
          type: 'function',
          function: { name: 'same', description: 'x'.repeat(3000), parameters: [] },
        })),
      },
      {
        object: 'assistant',
        instructions: 'no: yes',
        tools: [
          { type: 'mcp', server_url: 'ftp://x' },
          { type: 'mcp', server_url: 'https://u:p@x.example' },
          { type: 'mcp', server_label: 'ok', server_url: 'https://x.example', headers: { 'Bad Name': 'x', A: 'b\nc' } },
        ],
      },
    ];
    const { code, cwd, err } = await imported('openai', { 'odd.json': odd }, '--out', 'odd');
    expect([code, err]).toEqual([0, expect.stringContaining('Read IMPORT.md')]);
    for (const folder of await readdir(join(cwd, 'odd'))) {
      const file = parse(await readFile(join(cwd, 'odd', folder, 'service.yaml'), 'utf8'));
      expect([folder, deploymentFile.safeParse(file).error?.issues ?? []]).toEqual([folder, []]);
    }
  });
});
