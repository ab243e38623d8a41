import { StartFailure } from '../start-failure.ts';

const WAY_OUT = 'or set DATABASE_URL to a PostgreSQL of your own';

/** Explains in one sentence why a file operation on the data folder failed. */
export function folderFailure(error: unknown, folder: string): StartFailure {
  const { code, path, message } = error as NodeJS.ErrnoException;
  const place = path ?? folder;
  return new StartFailure(folderSentence(code, place, message), { cause: error });
}

function folderSentence(code: string | undefined, place: string, message: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return `This user may not use ${place}: give it the right to, or set VESTRA_DATA_DIR to another folder.`;
    case 'EROFS':
      return `${place} is on a read-only file system: set VESTRA_DATA_DIR to a folder that can be written.`;
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(place);
    case 'ENOENT':
      return `The folder ${place} cannot be created there: set VESTRA_DATA_DIR to a folder on a local disk.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${place} is needed as a folder, and a file is in its way: move it, or set VESTRA_DATA_DIR to another folder.`;
    default:
      return `The data folder ${place} cannot be used (${message}): set VESTRA_DATA_DIR to a folder on a local disk.`;
  }
}

/** Explains in one sentence why a PostgreSQL program failed, from its output. */
export function programFailure(options: { output: string; folder: string; log?: string }): StartFailure {
  return new StartFailure(programSentence(options));
}

function programSentence({ output, folder, log }: { output: string; folder: string; log?: string }): string {
  const line = decisiveLine(output);
  if (/shared memory segment.*No space left on device|could not map anonymous shared memory/.test(output)) {
    return `PostgreSQL found too little shared memory (${line}): give this machine or container more, ${WAY_OUT}.`;
  }
  if (/No space left on device|Disk quota exceeded/.test(output)) return diskFull(folder);
  if (/could not look up effective user ID/.test(output)) {
    return `PostgreSQL needs a name for the user id ${process.getuid?.()}: add it to /etc/passwd, ${WAY_OUT}.`;
  }
  if (/error while loading shared libraries|symbol lookup error/.test(output)) {
    return `The embedded PostgreSQL does not run on this system (${line}): install what is missing, ${WAY_OUT}.`;
  }
  if (/wrong ownership|invalid permissions|Permission denied/.test(output)) {
    return `PostgreSQL may not use its data folder ${folder} (${line}): correct the owner and the rights of the folder.`;
  }
  const where = log ? `: see ${log}` : '';
  return `PostgreSQL did not start on ${folder} (${line})${where}.`;
}

/** Explains in one sentence why a program could not be executed. */
export function spawnFailure(error: NodeJS.ErrnoException, program: string): StartFailure {
  const why =
    error.code === 'ENOENT'
      ? 'this system has no loader for it, as on Alpine Linux'
      : error.code === 'EPERM' || error.code === 'EINVAL'
        ? 'this process may not change to the user that is to run it'
        : error.message;
  return new StartFailure(`The embedded PostgreSQL ${program} cannot be run (${why}): repair that, ${WAY_OUT}.`, {
    cause: error,
  });
}

function diskFull(place: string): string {
  return `The disk that holds ${place} is full: free some space and start again.`;
}

/** Hints and details follow the reason, so take the last line that is marked as an error. */
function decisiveLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const line = lines.findLast((each) => /PANIC:|FATAL:|error:/.test(each)) ?? lines.at(-1) ?? 'it wrote nothing';
  return line.replace(/^.*?(PANIC|FATAL|error):\s*/, '').trim();
}
