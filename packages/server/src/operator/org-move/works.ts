import { StartFailure } from '../../platform/db/start-failure.ts';
import { readOrg, type Values, type Work } from '../operator.ts';
import { createProgress, formatBytes, type Progress } from '../progress.ts';

const work = <Result>(row: Work<Result>) => row as Work;

const defaultWaitSeconds = 60;
const maxWaitSeconds = 86_400;

function readWaitMs({ 'wait-seconds': given = String(defaultWaitSeconds) }: Values): number {
  if (!/^\d{1,5}$/.test(given) || Number(given) > maxWaitSeconds) {
    throw new StartFailure(`--wait-seconds must be a whole number from 0 to ${maxWaitSeconds}, not ${given}.`);
  }
  return Number(given) * 1000;
}

async function withProgress<Result>(run: (progress: Progress) => Promise<Result>): Promise<Result> {
  const progress = createProgress(process.stderr);
  return run(progress).finally(progress.end);
}

/** The commands that move one org. Their code is loaded when one of them runs. */
export const orgMoveWorks = {
  'org export': work({
    run: async (operator, values) => {
      const { exportOrg } = await import('./export.ts');
      const given = {
        orgId: readOrg(values, 'The org'),
        file: values.file as string,
        keyFile: values['key-file'] as string,
      };
      return withProgress((progress) => exportOrg(operator, { ...given, waitMs: readWaitMs(values) }, progress));
    },
    show: ({ org_id, file, key_file, bytes, rows, files, files_missing, homes }) =>
      [
        `${file} holds ${rows} rows, ${files} files and ${homes} homes of ${org_id} (${formatBytes(bytes)}).`,
        files_missing > 0 && `${files_missing} more files are damaged or missing: their rows move, their bytes do not.`,
        `The transport key is in ${key_file}. Send it separately from the archive: both together open every secret of the org.`,
        `${org_id} is frozen: callers get 503 org_moving. Import the file in the other installation next.`,
        `To stop the move, run: vestra admin org release ${org_id}`,
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  'org import': work({
    run: async (operator, values) => {
      const { importOrg } = await import('./import.ts');
      const given = { file: values.file as string, keyFile: values['key-file'] as string };
      return withProgress((progress) => importOrg(operator, given, progress));
    },
    show: ({ org_id, outcome, receipt, rows, files, homes }) =>
      outcome === 'active'
        ? `${org_id} was imported from this archive and activated earlier: nothing was changed.`
        : [
            outcome === 'imported'
              ? `${rows} rows, ${files} files and ${homes} homes of ${org_id} are here. It is frozen until it is activated.`
              : `${org_id} was imported from this archive already: nothing was changed.`,
            `In the installation it comes from, run: vestra admin org hand-over ${org_id} --receipt ${receipt}`,
          ].join('\n'),
  }),
  'org hand-over': work({
    run: async (operator, values) => {
      const { handOver } = await import('./hand-over.ts');
      return handOver(operator, readOrg(values, 'The org'), values.receipt as string);
    },
    show: ({ org_id, code }) =>
      [
        `${org_id} was handed over and never runs here again.`,
        `In the installation it moved to, run: vestra admin org activate ${org_id} --code ${code}`,
      ].join('\n'),
  }),
  'org activate': work({
    run: async (operator, values) => {
      const { activate } = await import('./hand-over.ts');
      return activate(operator, readOrg(values, 'The org'), values.code as string);
    },
    show: ({ org_id, was_active }) =>
      was_active ? `${org_id} was activated already.` : `${org_id} is active here: its keys, routines and tasks work.`,
  }),
  'org release': work({
    run: async (operator, values) => {
      const { release } = await import('./hand-over.ts');
      return release(operator, readOrg(values, 'The org'));
    },
    show: ({ org_id, released }) =>
      released === 'frozen'
        ? `${org_id} is active again. Archives of it can no longer be activated.`
        : `The copy of ${org_id} was removed. Nothing of it had run here.`,
  }),
  'org remove': work({
    run: async (operator, values) => {
      const { removeOrg } = await import('./remove.ts');
      return removeOrg(operator, readOrg(values, 'The org'));
    },
    show: ({ org_id, rows, files }) => `${rows} rows and ${files} stored files of ${org_id} were deleted.`,
  }),
};
