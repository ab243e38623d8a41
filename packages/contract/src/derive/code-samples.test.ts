import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type RouteRow, routes } from '../api.ts';
import { story } from '../examples/story.ts';
import { type CodeSample, codeSamples } from './code-samples.ts';
import { operationTitles, titleOf } from './operation-titles.ts';

const root = join(import.meta.dirname, '../../../..');

const samples = routes.map((row) => {
  const example = story.find(({ operation }) => operation === row.name);
  if (!example) throw new Error(`${row.name} has no example.`);
  return { row, example, samples: codeSamples(row, example) };
});

const written = (label: string): { row: RouteRow; source: string }[] =>
  samples.flatMap(({ row, samples: each }) =>
    each.filter((sample: CodeSample) => sample.label === label).map(({ source }) => ({ row, source })),
  );

describe('titles of operations', () => {
  it('are instructions of at most six words, each once in its group [REQ-700]', () => {
    for (const [family, titles] of Object.entries(operationTitles)) {
      const given = Object.values(titles) as string[];
      expect([family, new Set(given).size]).toEqual([family, given.length]);
      for (const title of given) expect(title).toMatch(/^[A-Z][a-z-]+( [A-Za-z0-9’-]+){1,5}$/);
    }
    expect(routes.filter(({ name }) => titleOf(name) === name)).toEqual([]);
  });
});

describe('code samples', () => {
  it('are in three languages for every operation with a key or token [REQ-701]', () => {
    const labels = samples.map(({ row, samples: each }) => [row.route.auth, each.map(({ label }) => label).join()]);
    expect(labels.filter(([auth, given]) => auth !== 'console' && given !== 'curl,TypeScript,Python')).toEqual([]);
    expect(labels.filter(([, given]) => !given?.startsWith('curl'))).toEqual([]);
  });

  it('in curl send the example [REQ-701]', () => {
    // The shell itself reads each command. Its curl prints the arguments.
    const script = [
      'curl() { printf "%s\\0" "$@"; printf "\\n\\0"; }',
      'uuidgen() { echo 7d9c; }',
      'VESTRA_URL=https://v.example VESTRA_KEY=k SESSION_TOKEN=s CONSOLE_COOKIE=c CSRF_TOKEN=t',
      ...written('curl').map(({ source }) => source),
    ].join('\n');
    const printed = execFileSync('bash', ['-eu', '-c', script], { encoding: 'utf8' });
    const commands = printed.split('\n\0').slice(0, -1);
    expect(commands).toHaveLength(routes.length);
    for (const [at, command] of commands.entries()) {
      const words = command.split('\0');
      const { row, example } = samples[at] as (typeof samples)[number];
      const path = row.route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
        encodeURIComponent(String(example.params?.[name])),
      );
      const address = words.find((word) => word.startsWith('https://')) ?? '';
      expect(new URL(address).pathname).toBe(path);
      const data = words[words.indexOf('-d') + 1] ?? '';
      const hasJson = words.includes('-d');
      if (hasJson) expect(JSON.parse(data)).toEqual(example.body);
      const sends = hasJson || words.includes('-F') || words.includes('--data-urlencode');
      const method = words.includes('-X') ? words[words.indexOf('-X') + 1] : sends ? 'POST' : 'GET';
      expect([row.name, method]).toEqual([row.name, row.route.method]);
    }
  });

  it('in TypeScript compile against the SDK [REQ-701]', () => {
    const functions = written('TypeScript').map(({ source }) => {
      const lines = source.split('\n').filter((line) => !line.startsWith('import '));
      return `export async function sample() {\n${lines.join('\n')}\n}`;
    });
    const imports = "import { openAsBlob } from 'node:fs';\nimport { createClient } from '@vestra/sdk';\n";
    const text = imports + functions.map((body, at) => body.replace('sample()', `sample${at}()`)).join('\n');
    const wrong = '\nexport const wrong = () => createClient().conversations.get({ conversation: "conv_1" });\n';
    const faults = faultsOfTypes(text + wrong)
      .split('\n')
      .filter((line) => line.includes('error TS'));
    expect(faults).toEqual([expect.stringContaining("'conversation' does not exist")]);
  });

  it('in Python name methods and arguments of the client [REQ-701]', () => {
    const sources = written('Python').map(({ row, source }) => ({ name: row.name, source }));
    const faults = execFileSync('python3', ['-c', readPython, join(root, 'packages/python/src/vestra/resources')], {
      input: JSON.stringify(sources),
      encoding: 'utf8',
    });
    expect(JSON.parse(faults)).toEqual([]);
  });
});

/** Compiles a module with the repository's settings, and returns what the compiler prints. */
function faultsOfTypes(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'samples-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'samples.ts'), text);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const options = { noEmit: true, types: ['node'] };
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: options,
      include: ['samples.ts'],
      exclude: [],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    return spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    }).stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Reads the generated methods as text, so that the client's dependencies need not be installed. */
const readPython = `
import ast, json, pathlib, sys
methods = {}
for file in pathlib.Path(sys.argv[1]).glob('*.py'):
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith('Async'):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    methods[(file.stem, each.name)] = each.args
faults = []
for sample in json.load(sys.stdin):
    calls = [n for n in ast.walk(ast.parse(sample['source'])) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
             and isinstance(n.func.value, ast.Attribute) and getattr(n.func.value.value, 'id', '') == 'client']
    if len(calls) != 1:
        faults.append([sample['name'], 'no call'])
        continue
    call = calls[0]
    known = methods.get((call.func.value.attr, call.func.attr))
    if known is None:
        faults.append([sample['name'], 'no such method'])
        continue
    names = {each.arg for each in known.kwonlyargs}
    positional = [each.arg for each in known.args][1:]
    needed = {each.arg for each, default in zip(known.kwonlyargs, known.kw_defaults) if default is None}
    given = {each.arg for each in call.keywords}
    if len(call.args) != len(positional):
        faults.append([sample['name'], 'positional', positional])
    if given - names or needed - given:
        faults.append([sample['name'], sorted(given - names), sorted(needed - given)])
print(json.dumps(faults))
`;
