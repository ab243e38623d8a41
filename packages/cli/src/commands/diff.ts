import { planFolder } from '@vestra/sdk/apply';
import { folderMeant } from '../folder-meant.ts';
import type { Invocation, OwnCommand } from '../invocation.ts';
import { printJson } from '../output/print-answer.ts';
import { isChange, showPlan } from '../output/show-plan.ts';

export const exitCodeFlag = [
  '--exit-code',
  'End with 2 if something would change, for CI; faults and unreachable servers end with 1.',
] as const;

export const diff: OwnCommand = {
  positional: ['folder'],
  flags: [['--file <name>', 'The deployment file in the folder; absent: service.yaml.'], exitCodeFlag],
  run: printPlan,
};

/** Prints what applying the folder would change. Faults are thrown and printed like those of an apply. */
export async function printPlan(invocation: Invocation): Promise<number> {
  const { terminal, isJson, values, flags } = invocation;
  const meant = await folderMeant(terminal.cwd, values.folder as string | undefined, flags.file as string | undefined);
  let name = '';
  const plan = await planFolder({
    client: await invocation.connect(),
    ...meant,
    promote: values.promote as Parameters<typeof planFolder>[0]['promote'],
    signal: terminal.signal,
    onProgress: (progress) => {
      if (progress.type === 'read') name = progress.name;
    },
  });
  if (isJson) printJson(terminal, plan);
  else terminal.out(showPlan(terminal, name, plan));
  return flags.exitCode && isChange(plan) ? 2 : 0;
}
