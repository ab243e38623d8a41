import { access, writeFile } from 'node:fs/promises';
import { basename, relative, resolve } from 'node:path';
import type { Api } from '@vestra/contract/api';
import type { ResponseOf } from '@vestra/contract/route';
import { schemaLine } from '@vestra/contract/schema-line';
import { deploymentSlug } from '@vestra/contract/slug';
import type { Client } from '@vestra/sdk/client';
import { misuse, refuse } from '../fault.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { plain } from '../output/show-value.ts';
import { schemaAddress } from '../schema-address.ts';
import { type Template, templateNamed, templates, type WrittenTemplate, writeTemplate } from '../template.ts';
import type { Terminal } from '../terminal.ts';

export const init: OwnCommand = {
  summary: 'Start an agent from a template, or describe a job and answer a few questions.',
  flags: [
    ['--template <name>', `A folder to start from: ${templates.map(({ name }) => name).join(', ')}.`],
    ['--out <folder>', 'With --template: a new folder; absent: the name of the template.'],
    ['--file <name>', 'The path of the deployment file; absent: service.yaml.'],
    ['--force', 'Overwrite an existing file.'],
  ],
  run,
};

type Interview = ResponseOf<Api['deployments']['interview']>;
type Given = { deployment?: string; describe?: string; conversation?: string; answer?: string };

async function run({ terminal, isJson, values, flags, settings, connect }: Invocation): Promise<void> {
  const given = withSlug(terminal, values as Given);
  const template = await templateMeant(terminal, given, flags);
  if (template) {
    const { url } = await settings();
    const out = flags.out as string | undefined;
    const written = await writeTemplate(template, {
      cwd: terminal.cwd,
      out,
      deployment: given.deployment,
      serverUrl: url,
    });
    return isJson ? printJson(terminal, written) : printNext(terminal, template, written);
  }
  const isBegin = given.conversation === undefined;
  const client = await connect();
  if (isJson) return printJson(terminal, await ask(client, terminal, given));
  const path = resolve(terminal.cwd, (flags.file as string | undefined) ?? 'service.yaml');
  await refuseOverwrite(terminal, path, Boolean(flags.force));
  const { url } = await settings();
  if (terminal.isInteractive && isBegin)
    return write(terminal, { path, url }, await interview(client, terminal, given));
  if (isBegin && !(given.deployment && given.describe)) {
    throw misuse(
      `Choose a template: vestra init --template ${templates.map(({ name }) => name).join('|')}. Or start an interview with --deployment and --describe, and continue it with --conversation and --answer.`,
      '--template',
    );
  }
  const step = await ask(client, terminal, given);
  if (step.status === 'ready') return write(terminal, { path, url }, step);
  terminal.out(`${plain(step.question ?? '')}\n`);
  terminal.err(`Continue with: vestra init --conversation ${step.conversation_id} --answer "…"\n`);
}

/** The template that was named, or chosen at the terminal. Null: the interview. */
async function templateMeant(terminal: Terminal, given: Given, flags: Invocation['flags']): Promise<Template | null> {
  const { template, out, file } = flags as { template?: string; out?: string; file?: string };
  if (template !== undefined) {
    if ((given.describe ?? given.conversation ?? given.answer ?? file) !== undefined)
      throw misuse('A template needs no interview: use --template with --deployment and --out only.', '--template');
    return templateNamed(template);
  }
  if (out !== undefined)
    throw misuse('--out belongs to --template: name the file of an interview with --file.', '--out');
  if (!terminal.isInteractive || Object.values(given).some((each) => each !== undefined)) return null;
  const { askOne } = await import('../prompts.ts');
  const interview = 'Describe a job and answer a few questions';
  const chosen = await askOne('Start from', [interview, ...templates.map(({ title }) => title)]);
  return templates.find(({ title }) => title === chosen) ?? null;
}

function printNext(terminal: Terminal, { title }: Template, { folder, files, next }: WrittenTemplate): void {
  terminal.out(`${terminal.paint('green', '✔')} Wrote ${folder}: ${title}, ${files.length} files.\n`);
  terminal.out(`Next:\n${next.map((each) => `  ${each}\n`).join('')}`);
  terminal.out(`${folder}/README.md has the rest.\n`);
}

/** Runs the whole interview in the terminal. */
async function interview(client: Client, terminal: Terminal, given: Given): Promise<Interview> {
  const { askText } = await import('../prompts.ts');
  const { spinner } = await import('@clack/prompts');
  const { deployment } = withSlug(terminal, {
    deployment:
      given.deployment ?? (await askText('What is the agent called?', { initial: slugOf(basename(terminal.cwd)) })),
  });
  const describe =
    given.describe ??
    (await askText('What is its job?', { placeholder: 'Answers customers of a bicycle shop about repairs.' }));
  const thinking = async (sent: Given) => {
    const wait = spinner();
    wait.start('Thinking');
    const answer = await ask(client, terminal, sent).finally(() => wait.clear());
    return answer;
  };
  let step = await thinking({ deployment, describe });
  while (step.status === 'asking') {
    const answer = await askText(plain(step.question ?? ''));
    step = await thinking({ conversation: step.conversation_id, answer });
  }
  return step;
}

const ask = (client: Client, { signal }: Terminal, given: Given): Promise<Interview> =>
  client.deployments.interview({ ...given }, { signal });

async function write(
  terminal: Terminal,
  { path, url }: { path: string; url: string },
  { yaml, deployment, dropped }: Interview,
): Promise<void> {
  if (yaml === null) throw refuse('The interview ended without a file. Start again with `vestra init`.');
  await writeFile(path, schemaLine(await schemaAddress(path, url)) + withExamples(yaml));
  terminal.out(`${terminal.paint('green', '✔')} Wrote ${path} for ${plain(deployment)}.\n`);
  for (const { part, name, message } of dropped) {
    terminal.err(`Left out of \`${plain(part)}\`${name === null ? '' : `, ${plain(name)}`}: ${plain(message)}\n`);
  }
  terminal.err(`Read it, change what you like, then: ${applyCommand(relative(terminal.cwd, path))}\n`);
}

const applyCommand = (file: string) => (file === 'service.yaml' ? 'vestra apply' : `vestra apply ${file}`);

async function refuseOverwrite(terminal: Terminal, path: string, isForced: boolean): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (!isThere || isForced) return;
  if (terminal.isInteractive) {
    const { askYesNo } = await import('../prompts.ts');
    if (await askYesNo(`${path} already exists. Overwrite it?`, false)) return;
  }
  throw refuse(`${path} already exists: use --force to overwrite it.`);
}

/** The name is used in URLs and in the file. An invalid one is converted, and the user is informed. */
function withSlug({ err }: Terminal, given: Given): Given {
  const { deployment } = given;
  if (deployment === undefined || deploymentSlug.safeParse(deployment).success) return given;
  const slug = slugOf(deployment);
  if (slug === '')
    throw misuse('A name consists of lowercase letters, digits and dashes, such as `support-desk`.', '--deployment');
  err(`The name becomes ${slug}: it consists of lowercase letters, digits and dashes.\n`);
  return { ...given, deployment: slug };
}

const slugOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');

/** Optional parts of a deployment file, as commented examples. */
const examples: readonly [key: string, lines: string][] = [
  [
    'tools',
    `tools:
  - function: find_order            # answered by your own code
    description: Finds an order by its number.
    input: { number: string }
    read_only: true
  - function: refund_order          # waits for approval
    description: Refunds money for an order to the card it was paid with.
    input: { number: string, amount_usd: number }
    approver: org                   # your company approves. Without this line, the user does
  - mcp: https://orders.example.com/mcp`,
  ],
  ['knowledge', 'knowledge:\n  - ./knowledge                     # documents that the agent searches'],
  ['approvals', 'approvals: [payment, booking, cancellation]  # categories that are marked in an approval'],
];

/** Adds a commented example of each missing part to the file. */
function withExamples(yaml: string): string {
  const missing = examples.filter(([key]) => !new RegExp(`^${key}:`, 'm').test(yaml));
  if (missing.length === 0) return yaml;
  const shown = missing.map(([, lines]) => lines.replace(/^/gm, '# ')).join('\n');
  return `${yaml.trimEnd()}\n\n# More parts of an agent (docs/deployment-file-reference.md):\n${shown}\n`;
}
