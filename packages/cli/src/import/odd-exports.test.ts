import { deploymentFile } from '@vestra/contract/deployment-file';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { CommandFault } from '../fault.ts';
import { folderOf } from './agent-folder.ts';
import { importDify } from './dify.ts';
import {
  assistants,
  difyAgent,
  difyChatflow,
  langgraphApplication,
  langgraphAssistant,
  responsesRequest,
} from './exports.fixture.ts';
import type { ImportedAgent } from './imported-agent.ts';
import { importLanggraph } from './langgraph.ts';
import { importOpenai } from './openai.ts';
import { withoutSecrets } from './secrets-in-export.ts';

const mcpUrl = 'https://tools.example.com/mcp';

/** Values that break readers: wrong types, names of prototypes, ends of comments, signs of YAML and Markdown. */
const odd = fc.oneof(
  fc.constantFrom<unknown>('__proto__', 'constructor', '*/', ' ', "'`|\n# a: b", '\u0000\ud800', '{{#1.a#}}', '${X}'),
  fc.constantFrom<unknown>('x'.repeat(20_000), 'https://x.example/?token=1', { type: 'object' }, [null], -1),
  fc.jsonValue({ maxDepth: 3 }),
);

/** A refusal is one sentence. Any other error is a defect. */
function agentsOrRefusal(work: () => ImportedAgent[]): ImportedAgent[] {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return [];
  }
}

it('an import refuses, or writes a file that parses to what was imported, whatever is changed in an export [IMP-709]', () => {
  const exports: [unknown, (content: unknown) => ImportedAgent[]][] = [
    [assistants, (content) => importOpenai(content, 'f')],
    [responsesRequest(mcpUrl), (content) => importOpenai(content, 'f')],
    [parse(difyAgent), (content) => importDify(content, 'f')],
    [parse(difyChatflow(mcpUrl)), (content) => importDify(content, 'f')],
    [
      langgraphAssistant(mcpUrl),
      (assistant) => importLanggraph({ assistants: assistant, application: langgraphApplication }, 'f'),
    ],
  ];
  fc.assert(
    fc.property(
      fc.constantFrom(...exports),
      fc.infiniteStream(fc.nat(40)),
      fc.infiniteStream(odd),
      (given, dice, values) => {
        const changed = (value: unknown): unknown => {
          if (dice.next().value === 0) return values.next().value;
          if (Array.isArray(value)) return value.map(changed);
          return value instanceof Object
            ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each)]))
            : value;
        };
        const [exported, importAll] = given;
        const { content, secrets } = withoutSecrets(changed(exported));
        for (const agent of agentsOrRefusal(() => importAll(content))) {
          const files = folderOf(agent, { platform: 'openai', file: 'f', schema: './schema.json', secrets });
          const file = parse(files.get('service.yaml') ?? '');
          expect(deploymentFile.safeParse(file).error?.issues ?? []).toEqual([]);
          expect(file.instructions ?? '').toBe(agent.instructions);
        }
      },
    ),
    { numRuns: 300 },
  );
});
