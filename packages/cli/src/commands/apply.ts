import { type ApplyAnswer, applyFolder, type ServerAway } from '@vestra/sdk/apply';
import type { Client } from '@vestra/sdk/client';
import { followTests } from '@vestra/sdk/commands/test';
import { misuse } from '../fault.ts';
import { folderMeant } from '../folder-meant.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { moneyHintOfRun } from '../money-hint.ts';
import { printJson } from '../output/print-answer.ts';
import { readingHint, summaryOf, type TestRun } from '../output/show-test-run.ts';
import { plain } from '../output/show-value.ts';
import { awayLine, workLine } from '../output/work-lines.ts';
import type { Terminal } from '../terminal.ts';
import { exitCodeFlag, printPlan } from './diff.ts';
import type { WorkEvent } from './work-event.ts';

export const apply: OwnCommand = {
  positional: ['folder'],
  flags: [
    ['--file <name>', 'The deployment file in the folder; absent: service.yaml.'],
    ['--dry-run', 'Check the file and show what would change; change nothing.'],
    exitCodeFlag,
  ],
  run,
};

type Tell = (event: WorkEvent) => void;
type Options = Parameters<typeof applyFolder>[0];
type PlayedRun = TestRun & { promote_on_pass: boolean; note: string | null };
type Result = { answer: ApplyAnswer; away: readonly ServerAway[]; run: PlayedRun | null; isPromoted: boolean };

async function run(invocation: Invocation): Promise<number> {
  const { terminal, isJson, values, flags } = invocation;
  if (flags.dryRun) return printPlan(invocation);
  if (flags.exitCode) throw misuse('Use --exit-code with --dry-run, or with `vestra diff`.', '--exit-code');
  const meant = await folderMeant(terminal.cwd, values.folder as string | undefined, flags.file as string | undefined);
  const client = await invocation.connect();
  const options = {
    client,
    ...meant,
    promote: values.promote as Options['promote'],
    signal: terminal.signal,
  };
  const work = (tell: Tell) => applyAndTest(client, { ...options, onProgress: tell }, tell);
  const result = await shown(terminal, isJson, work);
  const isGood = result.run === null || (result.run.status === 'passed' && result.run.error_code === null);
  if (isJson) {
    printJson(terminal, {
      ...result.answer,
      promoted: result.isPromoted,
      test_run: result.run,
      servers_away: result.away,
    });
    return isGood ? 0 : 1;
  }
  for (const { param, message } of result.answer.warnings) terminal.out(`! ${plain(param)}: ${plain(message)}\n`);
  for (const { url, mode, secret } of result.answer.webhook_secrets) {
    terminal.out(`The signing secret of ${plain(url)} in ${mode} mode, shown once: ${secret}\n`);
  }
  for (const server of result.away) terminal.out(`${awayLine(terminal, server)}\n`);
  terminal.out(`${outcomeOf(terminal, result, options.promote)}\n`);
  const hints = result.run ? [readingHint(result.run), moneyHintOfRun(result.run)] : [];
  for (const hint of hints) if (hint) terminal.out(`  ${hint}\n`);
  return isGood ? 0 : 1;
}

/** Shows progress as a live list in a terminal, as plain lines elsewhere, and not at all with --json. */
export async function shown<Value>(
  terminal: Terminal,
  isJson: boolean,
  work: (tell: Tell) => Promise<Value>,
  stages: readonly ('apply' | 'tests')[] = ['apply', 'tests'],
): Promise<Value> {
  if (isJson) return work(() => {});
  if (terminal.isInteractive) {
    const { withLiveList } = await import('../output/live-list.ts');
    return withLiveList(terminal, stages, work);
  }
  return work((event) => {
    const line = workLine(terminal, event);
    if (line !== null) terminal.out(`${line}\n`);
  });
}

async function applyAndTest(client: Client, options: Options, tell: Tell): Promise<Result> {
  const { answer, away } = await applyFolder(options);
  if (!answer) throw new TypeError('Only a dry run has no answer.');
  if (!answer.test_run) return { answer, away, run: null, isPromoted: answer.promoted };
  const run = await followTests(client, answer.test_run, { signal: options.signal, onProgress: tell });
  return {
    answer,
    away,
    run,
    isPromoted: answer.promoted || run.promoted === true,
  };
}

/** One sentence: the running version, or the reason why it was not promoted. */
function outcomeOf({ paint }: Terminal, { answer, run, isPromoted }: Result, promote: Options['promote']): string {
  const name = plain(answer.slug);
  const version = `version ${answer.version.version}`;
  if (run && run.status !== 'passed') {
    // A test key runs every saved version, so its tests are only informative.
    const what = run.mode === 'live' ? 'was not promoted' : 'did not pass its tests';
    return `${paint('red', '✖')} ${name}: ${version} ${what}: ${summaryOf(run)}`;
  }
  const isLive = answer.version.is_live || answer.live_version === answer.version.version || run?.mode === 'live';
  if (isPromoted) return `${paint('green', '✔')} ${name}: ${version} is ${isLive ? 'live' : 'active for test keys'}`;
  if (run?.promote_on_pass && run.note !== null) {
    return `${paint('red', '✖')} ${name}: ${version} was not promoted. ${plain(run.note)}`;
  }
  const why = promote === 'no' ? ' and not promoted' : '';
  return `${paint('green', '✔')} ${name}: ${version} is saved${why}`;
}
