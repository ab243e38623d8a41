/**
 * Writes the request schemas that the vendors publish to packages/models/src/testing/published, where test servers check
 * every request against them. Run it after raising a version below: `node scripts/vendor-schemas.ts`. It downloads the
 * packages into a temporary folder, because the data is all that the tests need of them.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PublishedSchema, publishedVersions } from '../packages/models/src/testing/published/versions.ts';
import { type JsonNode, protoSchema } from './vendor-protos.ts';

const root = join(import.meta.dirname, '..');
const generator = 'ts-json-schema-generator@2.9.0';

/** The type of each request body in an official client. */
const types: Partial<Record<PublishedSchema, { type: string; module: string }>> = {
  'openai-responses': { type: 'ResponseCreateParamsStreaming', module: 'openai/resources/responses/responses' },
  'openai-chat': { type: 'ChatCompletionCreateParamsStreaming', module: 'openai/resources/chat/completions' },
  // The beta types include the options that Vestra sends with a beta header.
  'anthropic-messages': {
    type: 'MessageCreateParamsStreaming',
    module: '@anthropic-ai/sdk/resources/beta/messages/messages',
  },
};

/** The message of each request body in the vendor's protos. */
const protos: Partial<Record<PublishedSchema, string>> = {
  gemini: 'google.ai.generativelanguage.v1beta.GenerateContentRequest',
  vertex: 'google.cloud.aiplatform.v1.GenerateContentRequest',
};

/**
 * The kinds of parts, tools and options that Vestra sends. Others are left out: a request that contains one is refused,
 * and test servers start four times as fast.
 */
const kinds = new Set([
  ...['message', 'reasoning', 'function_call', 'function_call_output', 'item_reference', 'function', 'allowed_tools'],
  ...['input_text', 'input_image', 'input_file', 'output_text', 'refusal', 'summary_text', 'reasoning_text'],
  ...['text', 'image_url', 'file', 'json_object', 'json_schema', 'image', 'document', 'base64', 'url', 'ephemeral'],
  ...['tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'custom', 'auto', 'any', 'none', 'tool'],
  ...['enabled', 'disabled', 'adaptive'],
]);

const folder = mkdtempSync(join(tmpdir(), 'vestra-schemas-'));
try {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const wanted = [...new Set(Object.values(publishedVersions).map(({ name, version }) => `${name}@${version}`))];
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', generator, ...wanted]);
  for (const [name, source] of Object.entries(types)) {
    const lines = [
      `import type { ${source.type} } from '${source.module}';`,
      `export type VendorBody = ${source.type};`,
    ];
    writeFileSync(join(folder, 'body.ts'), lines.join('\n'));
    write(name as PublishedSchema, pruned(schemaOfType()));
  }
  for (const [name, message] of Object.entries(protos)) {
    const { name: source } = publishedVersions[name as PublishedSchema];
    const file = join(folder, 'node_modules', source, 'build/protos/protos.json');
    write(name as PublishedSchema, protoSchema(JSON.parse(readFileSync(file, 'utf8')), message));
  }
} finally {
  rmSync(folder, { recursive: true });
}

function run(command: string, words: string[]): string {
  return execFileSync(command, words, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
}

function schemaOfType(): JsonNode {
  const options = { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, types: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['body.ts'] }));
  const words = ['--path', 'body.ts', '--tsconfig', 'tsconfig.json', '--type', 'VendorBody', '--no-type-check'];
  return JSON.parse(
    run(join(folder, 'node_modules/.bin/ts-json-schema-generator'), [...words, '--expose', 'all', '--jsDoc', 'none']),
  );
}

/** Leaves out the members of unions whose `type` is not among the kinds, and definitions that nothing refers to. */
function pruned(schema: JsonNode): JsonNode {
  const definitions = schema.definitions as Record<string, JsonNode>;
  const kindOf = (node: JsonNode, depth = 0): string | null => {
    if (typeof node.$ref === 'string' && depth < 5) return kindOf(definitions[nameIn(node.$ref)] ?? {}, depth + 1);
    const type = (node.properties as Record<string, JsonNode> | undefined)?.type;
    return typeof type?.const === 'string' ? type.const : null;
  };
  const prune = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(prune);
    if (typeof value !== 'object' || value === null) return value;
    const node = value as JsonNode;
    const anyOf = (node.anyOf as JsonNode[] | undefined)?.filter((each) => kinds.has(kindOf(each) ?? 'text'));
    if (anyOf?.length === 0) return { not: {} };
    return Object.fromEntries(
      Object.entries({ ...node, ...(anyOf && { anyOf }) }).map(([keyword, each]) => [keyword, prune(each)]),
    );
  };
  const { definitions: all, ...body } = prune(schema) as { definitions: Record<string, JsonNode> };
  const used = new Set<string>();
  const follow = (value: unknown): void => {
    for (const [, reference = ''] of JSON.stringify(value).matchAll(/"\$ref":"([^"]*)"/g)) {
      const name = nameIn(reference);
      if (used.has(name)) continue;
      used.add(name);
      follow(all[name]);
    }
  };
  follow(body);
  return { ...body, definitions: Object.fromEntries([...used].sort().map((name) => [name, all[name]])) };
}

function nameIn(reference: string): string {
  return decodeURIComponent(reference.replace('#/definitions/', ''));
}

/** One definition per line, so that a new version can be read as a diff. */
function write(name: PublishedSchema, { definitions, ...body }: JsonNode): void {
  const { name: source, version } = publishedVersions[name];
  const head = { $comment: `Written by scripts/vendor-schemas.ts from ${source} ${version}.`, ...body };
  const rows = Object.entries(definitions as object).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  const file = `packages/models/src/testing/published/${name}.generated.json`;
  writeFileSync(join(root, file), `${JSON.stringify(head).slice(0, -1)},"definitions":{\n${rows.join(',\n')}\n}}\n`);
  console.log(`${file}: ${rows.length} definitions`);
}
