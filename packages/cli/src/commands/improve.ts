import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@vestra/sdk/client';
import { misuse, refuse } from '../fault.ts';
import { folderMeant } from '../folder-meant.ts';
import { type WriteReport, writeChange } from '../improve/write-change.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { namedInFolder } from '../named-in-folder.ts';
import { lineDiff } from '../output/line-diff.ts';
import { printJson } from '../output/print-answer.ts';
import { plain } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';

type Improvement = Awaited<ReturnType<Client['improvements']['get']>>;

export const improve: OwnCommand = {
  positional: ['folder'],
  takesNoUser: true,
  flags: [
    ['--file <name>', 'The deployment file in the folder; absent: service.yaml.'],
    ['--improvement <id>', 'Follow this improvement and start none.'],
    ['--pr', 'Print a text for a pull request.'],
  ],
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const { terminal, isJson, values, flags } = invocation;
  const given = (values.folder as string | undefined) ?? '.';
  const isFolder = existsSync(resolve(terminal.cwd, given));
  const meant = isFolder ? await folderMeant(terminal.cwd, given, flags.file as string | undefined) : null;
  const deployment = meant ? await namedInFolder(meant.folder, meant.file) : given;
  if (deployment === undefined) {
    throw refuse('There is no service.yaml here. Name the folder or the deployment, or write one with `vestra init`.');
  }
  const client = await invocation.connect();
  const started = await begin(client, deployment, invocation);
  const done = await follow(client, started, terminal, isJson);
  const report = meant && done.version !== null && done.change ? await writeChange(meant, done.change) : null;
  if (isJson) printJson(terminal, { ...done, files: report });
  else {
    terminal.out(reportOf(terminal, done, report));
    if (flags.pr) terminal.out(`\n${pullRequestOf(done)}`);
  }
  return done.outcome === 'improved' && (report === null || report.left.length === 0) ? 0 : 1;
}

function begin(client: Client, deployment: string, { values, flags, terminal }: Invocation): Promise<Improvement> {
  const { signal } = terminal;
  if (flags.improvement !== undefined) {
    return client.improvements.get({ improvement_id: flags.improvement as string }, { signal });
  }
  const body = {
    deployment_id: deployment,
    from: sourceOf((values.from as string | undefined) ?? 'ratings'),
    budget_usd: (values.budget_usd as number | undefined) ?? usualBudgetUsd,
    ...(values.rounds !== undefined && { rounds: values.rounds as number }),
  };
  return client.improvements.create(body, { signal });
}

const usualBudgetUsd = 5;

function sourceOf(from: string) {
  if (from === 'ratings') return { type: 'ratings' as const };
  const ids = from.split(',').map((each) => each.trim());
  if (ids.every((id) => id.startsWith('conv_'))) return { type: 'conversations' as const, conversation_ids: ids };
  const [insight] = ids;
  if (ids.length === 1 && insight?.startsWith('ins_')) return { type: 'insight' as const, insight_id: insight };
  throw misuse('Write `ratings`, an ins_ id, or conv_ ids with commas between them.', '--from');
}

const askEveryMs = 1_000;

/** Ctrl-C ends the waiting and not the improvement, which continues on the server. */
async function follow(client: Client, first: Improvement, terminal: Terminal, isJson: boolean): Promise<Improvement> {
  const { signal } = terminal;
  let shown = '';
  for (let now = first; ; now = await client.improvements.get({ improvement_id: first.id }, { signal })) {
    const line = `${now.id}: ${now.status}`;
    if (line !== shown && !isJson) terminal.out(`${line}, ${now.cost_usd} of ${now.budget_usd} US dollars\n`);
    shown = line;
    if (now.finished_at !== null) return now;
    await sleep(askEveryMs, undefined, { signal });
  }
}

const outcomes: Readonly<Record<string, string>> = {
  improved: 'improved',
  not_reproduced: 'not reproduced: no run failed on the current version',
  not_fixed: 'not fixed',
  regressed: 'rejected: every proposal broke something that works',
  budget_reached: 'the budget is used up',
};

function reportOf(terminal: Terminal, done: Improvement, report: WriteReport | null): string {
  const lines = [
    `${outcomes[done.outcome ?? ''] ?? done.status}${done.error_code ? ` (${done.error_code})` : ''}${ratesOf(done)}`,
    ...changedLines(terminal, done),
    ...done.regressions.map(
      ({ name, conversation_id, reason }) => `! ${plain(name ?? conversation_id ?? '')}: ${plain(reason)}`,
    ),
    ...done.not_fixed.map(({ name, reason }) => `! not fixed: ${plain(name ?? '')}: ${plain(reason)}`),
    ...done.flags.map(
      ({ conversation_id, reason }) => `! flagged as ${reason}${conversation_id ? `: ${conversation_id}` : ''}`,
    ),
    ...(report ? filesOf(report) : []),
  ];
  return `${lines.join('\n')}\n`;
}

function ratesOf({ before, after, version }: Improvement): string {
  if (!before || !after || version === null) return '';
  return `: version ${version} passes ${after.passed} of ${after.runs} runs, and version ${before.version} passed ${before.passed} of ${before.runs}`;
}

type Changed = { name: string; before: string; after: string; reason: string };

const changesOf = ({ change }: Improvement): Changed[] => [
  ...(change?.instructions ? [{ name: 'instructions', ...change.instructions }] : []),
  ...(change?.tools ?? []).map(({ function: name, ...each }) => ({ name: `tools.${name}`, ...each })),
  ...(change?.documents ?? []).map(({ title, before, ...each }) => ({ name: title, before: before ?? '', ...each })),
];

const changedLines = (terminal: Terminal, done: Improvement): string[] =>
  changesOf(done).flatMap(({ name, before, after, reason }) => [
    `  ${plain(name)}: ${plain(reason)}`,
    ...lineDiff(before.trimEnd(), after.trimEnd()).map(({ sign, text }) => {
      const line = `      ${sign} ${plain(text)}`.trimEnd();
      return sign === '+' || sign === '-' ? terminal.paint(sign === '+' ? 'green' : 'red', line) : line;
    }),
  ]);

function filesOf({ written, there, left }: WriteReport): string[] {
  return [
    ...written.map((name) => `written: ${plain(name)}`),
    ...(written.length === 0 && there.length > 0 && left.length === 0 ? ['The folder has this change already.'] : []),
    ...left.map(({ name, reason }) => `! not written: ${plain(name)}: ${plain(reason)}`),
  ];
}

/** Markdown, without words of users: scenarios are named, and not quoted. */
function pullRequestOf(done: Improvement): string {
  const { before, after } = done;
  const changes = changesOf(done).map(({ name, reason }) => `- \`${plain(name)}\`: ${plain(reason)}`);
  const fixed = done.scenarios
    .filter(({ status }) => status === 'reproduced')
    .map(({ name }) => `- ${plain(name ?? '')}`);
  return [
    '# Fix failures of real conversations',
    '',
    ...(changes.length === 0 ? ['No change was found.'] : changes),
    '',
    '## Proof',
    '',
    `| | version | runs | passed | cost per conversation | time per reply |`,
    `|---|---|---|---|---|---|`,
    ...[['before', before] as const, ['after', after] as const].flatMap(([when, each]) =>
      each
        ? [
            `| ${when} | ${each.version} | ${each.runs} | ${each.passed} | ${each.cost_usd ?? 0} USD | ${each.latency_ms ?? 0} ms |`,
          ]
        : [],
    ),
    '',
    'Scenarios that failed before:',
    '',
    ...fixed,
    '',
    `Improvement ${done.id}, ${done.cost_usd} US dollars.`,
    '',
  ].join('\n');
}
