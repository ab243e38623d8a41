import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packedSchemaPath, schemaLine, servedSchema } from '../schema-line.ts';
import { fileSchema } from './file-schema.ts';
import { startLanguageServer } from './language-server.fixture.ts';

const examples = join(import.meta.dirname, '../../../../examples');

let folder: string;
let server: Server;
let editor: Awaited<ReturnType<typeof startLanguageServer>>;
const addresses = { package: `./${packedSchemaPath}`, server: '' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vestra-editor-'));
  const schema = JSON.stringify(fileSchema('1.2.3'));
  await mkdir(dirname(join(folder, packedSchemaPath)), { recursive: true });
  await writeFile(join(folder, packedSchemaPath), schema);
  server = createServer((_, response) =>
    response.setHeader('content-type', 'application/schema+json').end(schema),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  addresses.server = servedSchema(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  editor = await startLanguageServer(folder);
});
afterAll(async () => {
  editor?.stop();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

it.each(['package', 'server'] as const)(
  'lets YAML Language Server complete and check a file by the schema of the %s [DFILE-705]',
  async (source) => {
    const name = `${source}.yaml`;
    const text = `${schemaLine(addresses[source])}name: desk\ninstrutions: Be kind.\nlimits:\n  max_steps: 9\n  \n`;
    const faults = await editor.open(name, text);
    expect(faults.map(({ message, range }) => [range.start.line, message])).toEqual([
      [2, 'Property instrutions is not allowed.'],
    ]);
    expect([...(await editor.complete(name, 2, 0)).keys()]).toEqual(expect.arrayContaining(['instructions', 'tools']));
    const limits = await editor.complete(name, 5, 2);
    expect(limits.get('max_minutes')).toContain('minutes');
    expect(limits.has('max_steps')).toBe(false);
  },
);

it.each(['booking-desk', 'research-helper', 'support-desk'])(
  'lets YAML Language Server accept the example %s [DFILE-705]',
  async (example) => {
    const written = await readFile(join(examples, example, 'service.yaml'), 'utf8');
    const text = written.replace(/^#.*\n/, schemaLine(addresses.package));
    expect(await editor.open(`${example}.yaml`, text)).toEqual([]);
    expect(await editor.open(`${example}-wrong.yaml`, text.replace(/^name: /m, 'nam: '))).not.toEqual([]);
  },
);
