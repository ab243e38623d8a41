import { deploymentFile } from '@vestra/contract/deployment-file';
import { check } from '@vestra/contract/fault';
import { schemaLine } from '@vestra/contract/schema-line';
import { Document, visit } from 'yaml';
import { refuse } from '../fault.ts';
import { functionStubs } from './function-stubs.ts';
import { importReport } from './import-report.ts';
import type { ImportedAgent } from './imported-agent.ts';
import { cutText, oneLine } from './loose-value.ts';
import type { FoundSecret } from './secrets-in-export.ts';

/** The files of an imported agent, by path. The contract accepts their `service.yaml`. */
export function folderOf(
  agent: ImportedAgent,
  given: { platform: string; file: string; schema: string; secrets: readonly FoundSecret[] },
): Map<string, string> {
  const file = deploymentOf(agent);
  const checked = check(deploymentFile, file, 'invalid_manifest');
  if (!checked.ok) {
    const [fault] = checked.faults;
    throw refuse(
      `\`${agent.title}\` of ${given.file} cannot be written as a deployment file: ${fault?.param} ${fault?.message}`,
    );
  }
  const files = new Map(agent.files);
  files.set('service.yaml', `${schemaLine(given.schema)}${head(agent, given)}${rendered(file)}`);
  if (agent.functions.length > 0) files.set('functions.ts', functionStubs(agent.functions));
  // Git keeps no empty folder, and the CLI reads no file that begins with a dot.
  if (usesKnowledge(agent)) files.set('knowledge/.gitkeep', '');
  files.set('IMPORT.md', importReport(agent, given));
  return files;
}

const usesKnowledge = ({ downloads }: ImportedAgent) => downloads.some(({ to }) => to === 'knowledge');

/** Keys without a value are left out, so that their defaults apply. */
function deploymentOf(agent: ImportedAgent): Record<string, unknown> {
  const { slug, instructions, reasoning, maxSteps, functions, servers, files } = agent;
  const tools = [
    ...functions.map(({ name, description, input }) => ({ function: name, description, input })),
    ...servers,
  ];
  const tests = testsOf(agent);
  return {
    name: slug,
    ...(instructions !== '' && { instructions }),
    ...(reasoning !== null && { reasoning }),
    ...(maxSteps !== null && { limits: { max_steps: maxSteps } }),
    ...(tools.length > 0 && { tools }),
    ...(files.has('skills/further-instructions/SKILL.md') && { skills: ['./skills/further-instructions'] }),
    ...(usesKnowledge(agent) && { knowledge: ['./knowledge'] }),
    ...(tests.length > 0 && { tests }),
  };
}

const mostTests = 20;

function testsOf({ questions }: ImportedAgent): Record<string, unknown>[] {
  const asked = [...new Set(questions.map((question) => question.trim()).filter(Boolean))].slice(0, mostTests);
  return asked.map((question, index) => ({
    name: `${index + 1}. ${oneLine(question, 100)}`,
    ask: cutText(question, 2000),
    expect: ['The agent answers what was asked, or asks for what it needs to answer it.'],
  }));
}

const head = ({ source, model }: ImportedAgent, { file }: { file: string }) =>
  [
    `# Imported from ${oneLine(file, 120)}: ${source}. IMPORT.md lists what is left to do.`,
    ...(model === null
      ? []
      : [
          `# It used the model ${oneLine(model, 80)}; this file uses the server's default. \`vestra models list\` lists others.`,
        ]),
    '',
  ].join('\n');

/** Readable text that parses to the same file. */
function rendered(file: Record<string, unknown>): string {
  const document = new Document(file, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  visit(document, {
    Scalar(_key, node) {
      // A block scalar would lose leading white space.
      if (typeof node.value === 'string' && /^\s[\s\S]*\n|^\s*\n/.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return document.toString({
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}
