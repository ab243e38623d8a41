import type { Config } from '../platform/config/config.ts';
import { backup } from './backup.ts';
import { copyFiles } from './copy-files.ts';
import { move } from './move.ts';
import { bytesInWords, type Progress } from './progress.ts';
import { restore } from './restore.ts';

type Values = Record<string, string>;
type CommandContext = { config: Config; progress: Progress };

export type UpkeepWork<Result = unknown> = {
  run: (context: CommandContext, values: Values) => Promise<Result>;
  show: (result: Result) => string;
};

const work = <Result>(row: UpkeepWork<Result>) => row as UpkeepWork;

/**
 * Commands about the database as a whole: it may be of an older version, empty or in use, so that each opens it in its own
 * way and none brings it up to this program first.
 */
export const upkeepWorks = {
  backup: work({
    run: (context, values) => backup(context, values.argument as string, values['master-key-file']),
    show: ({ file, bytes, rows, files, files_missing, master_key_file }) =>
      [
        `${file} holds ${rows} rows and ${files} files (${bytesInWords(bytes)}).`,
        files_missing > 0 &&
          `${files_missing} more files were removed meanwhile or are damaged: their names are kept, their content is not.`,
        master_key_file
          ? `The master key is in ${master_key_file}. Keep it apart from the backup: whoever has both can read every secret.`
          : 'The master key is not in it, so that the backup alone opens no secret. Keep the key apart: without it nobody can read the secrets again.',
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  restore: work({
    run: (context, values) => restore(context, values.argument as string, values['master-key-file']),
    show: ({ made_by, made_at, rows, files, homes_lost, into }) =>
      [
        `${rows} rows and ${files} files of ${made_at} (Vestra ${made_by}) are in the database ${into}. Start the server; the one they come from must not run any more.`,
        homes_lost > 0 && `${homes_lost} computers begin with an empty home: what they had saved is not in the backup.`,
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  'files copy': work({
    run: (context, { to = '', extra = 'keep' }) => copyFiles(context, { to, extra }),
    show: ({ to, copied, bytes, there_already, damaged, only_there, removed }) =>
      [
        `${copied} were copied to the ${to} (${bytesInWords(bytes)}), each read again and found the same; ${there_already} were there already.`,
        damaged > 0 && `${damaged} are damaged where they come from and were left out: bring them back from a backup.`,
        only_there > 0 &&
          (removed > 0
            ? `${removed} that lay only there were removed.`
            : `${only_there} lie only there, such as what was deleted meanwhile: --extra remove takes them away.`),
        'Run it once more while no server runs, and then change VESTRA_FILES.',
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  move: work({
    run: (context, values) => move(context, values.to as string),
    show: ({ from, to, tables, rows, is_embedded }) =>
      [
        `${rows} rows of ${tables} tables are in the database ${to}, counted on both sides.`,
        is_embedded
          ? 'Remove DATABASE_URL from the settings and start the server.'
          : 'Set DATABASE_URL to it and start the server; the data folder stays in use for files, computers and the master key.',
        `The database ${from} was not changed: delete it once you no longer need it.`,
      ].join('\n'),
  }),
};
