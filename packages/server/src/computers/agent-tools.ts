import { failed, type OwnTool, ownTool, part, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { z } from 'zod';
import type { CommandResult } from '../platform/sandbox/confined-process.ts';
import type { ComputerHost } from './machine/computer-host.ts';
import type { FilledEnvironment } from './prepare-computer.ts';
import { type CommandSecrets, redact, redactCaptured, redactPart } from './redact.ts';
import type { RunningComputer } from './running-computer.ts';

/** Shared by all tools of one task. */
type ComputerTools = {
  host: ComputerHost;
  homePath: (given: string) => string | null;
  /** Runs `work` on the prepared computer. If the computer fails, the tool returns the failure as its answer. */
  onComputer: (
    signal: AbortSignal,
    work: (computer: RunningComputer, signal: AbortSignal, filled: FilledEnvironment) => Promise<ToolAnswer>,
  ) => Promise<ToolAnswer>;
};

const shownOutput = 30_000;
const shownErrors = 15_000;
const partBytes = 60_000;
const maxTextLength = 2 * 1024 * 1024;
const pictureName = /\.(png|jpe?g|gif|webp)$/i;
const maxPictureBytes = 8 * 1024 * 1024;
const maxEntries = 500;
/** Preparing a computer may take long. The command has its own, shorter timeout. */
const computerTimeoutS = 3600;

export const computerTools = (workplace: ComputerTools): OwnTool[] => [
  runCommand(workplace),
  readFile(workplace),
  writeFile(workplace),
  listFiles(workplace),
];

const commandInput = z.strictObject({
  command: text('The command, or several lines of bash.', 20_000),
  timeout_s: z.int().min(1).max(600).describe('After how many seconds it is ended; absent: 120.').optional(),
});

const runCommand = ({ host, onComputer }: ComputerTools): OwnTool =>
  ownTool(
    {
      name: 'run_command',
      timeoutS: computerTimeoutS,
      description:
        'Run a command with bash on the computer, in the home folder. It has nothing to read from, and whatever it leaves running ends with it.',
      input: commandInput,
      isReadOnly: false,
    },
    ({ command, timeout_s = 120 }, signal) =>
      onComputer(signal, async ({ folders }, either, { env, secrets }) => {
        const timeoutMs = timeout_s * 1000;
        const result = await host.run(folders, { script: command, env, timeoutMs, signal: either });
        return { output: shown(result, timeout_s, secrets), isError: result.exitCode !== 0 };
      }),
  );

function shown(
  { end, exitCode, stdout, stderr, note }: CommandResult,
  seconds: number,
  secrets: CommandSecrets,
): string {
  const ends = {
    exited: `Exit code ${exitCode}.`,
    timeout: `It did not end within ${seconds} seconds and was ended. What it did until then stands.`,
    disk_full: 'It was ended because the disk of the computer is full. Delete what is not needed.',
    memory_full: 'It was ended because what runs on the computer took more memory than the computer has.',
    processes_full: 'It was ended because more processes ran on the computer than it may have.',
  };
  const said = redactCaptured(stdout, secrets, shownOutput);
  const complained = redactCaptured(stderr, secrets, shownErrors);
  return [
    ends[end],
    ...(note === undefined ? [] : [redact(note, secrets)]),
    ...(said.trim() === '' ? [] : [`stdout:\n${said.trimEnd()}`]),
    ...(complained.trim() === '' ? [] : [`stderr:\n${complained.trimEnd()}`]),
  ].join('\n');
}

const outside = 'Name a path in the home folder.';

const readInput = z.strictObject({
  path: text('The path, from the home folder.', 1000),
  part: part('Which part of a long file; absent: the first.').optional(),
});

const readFile = ({ host, homePath, onComputer }: ComputerTools): OwnTool =>
  ownTool(
    {
      name: 'read_file',
      timeoutS: computerTimeoutS,
      description: 'Read a text file on the computer, part by part, or look at a picture.',
      input: readInput,
      isReadOnly: true,
    },
    async ({ path: given, part: at = 1 }, signal) => {
      const path = homePath(given);
      if (path === null) return failed(outside);
      return onComputer(signal, async ({ folders }, either, { secrets }) => {
        const from = (at - 1) * partBytes;
        const read = await host.readFile(folders, path, { from, maxBytes: partBytes, signal: either });
        if ('fault' in read) return failed(read.fault);
        const { bytes, size } = read;
        const body = textIn(bytes);
        // The extension is only a hint: the engine checks the bytes before it shows a picture.
        if (body === null && pictureName.test(path)) {
          if (size > maxPictureBytes) {
            return failed(`A picture of ${size} bytes is too large to be looked at. Make it smaller with a command.`);
          }
          const whole = await host.readFile(folders, path, { from: 0, maxBytes: maxPictureBytes, signal: either });
          if ('fault' in whole) return failed(whole.fault);
          const mediaType = `image/${path.split('.').at(-1)?.toLowerCase()}`;
          return { ...said(`A picture of ${size} bytes.`), media: [{ mediaType, content: whole.bytes }] };
        }
        if (body === null) return failed(`That is no text: a binary file of ${size} bytes. Look at it with a command.`);
        const parts = Math.max(1, Math.ceil(size / partBytes));
        const ends = { isFirst: at === 1, isLast: at >= parts };
        return said(`${size} bytes, part ${at} of ${parts}\n${redactPart(body, secrets, ends)}`);
      });
    },
  );

/** Null if the bytes are not text. A part may begin or end in the middle of a character. */
export function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] as number) & 0xc0) === 0x80) start += 1;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(start), { stream: true });
  } catch {
    return null;
  }
}

const writeInput = z.strictObject({
  path: text('The path, from the home folder.', 1000),
  content: z.string().max(maxTextLength).describe('The whole text of the file.'),
});

const writeFile = ({ host, homePath, onComputer }: ComputerTools): OwnTool =>
  ownTool(
    {
      name: 'write_file',
      timeoutS: computerTimeoutS,
      description:
        'Write a text file on the computer. The folders above it are made, and a file of that name is replaced.',
      input: writeInput,
      isReadOnly: false,
    },
    async ({ path: given, content }, signal) => {
      const path = homePath(given);
      if (path === null) return failed(outside);
      const bytes = Buffer.from(content, 'utf8');
      return onComputer(signal, async ({ folders }, either) => {
        const fault = await host.writeFiles(folders, [{ path, bytes }], { signal: either });
        return fault ? failed(fault.fault) : said(`Written to ${path} (${bytes.length} bytes).`);
      });
    },
  );

const listInput = z.strictObject({
  path: text('The folder, from the home folder; absent: the home folder itself.', 1000).optional(),
  depth: z.int().min(1).max(5).describe('How many folders deep; absent: 1.').optional(),
});

const listFiles = ({ host, homePath, onComputer }: ComputerTools): OwnTool =>
  ownTool(
    {
      name: 'list_files',
      timeoutS: computerTimeoutS,
      description: 'List the files and folders in a folder of the computer.',
      input: listInput,
      isReadOnly: true,
    },
    async ({ path: given = '.', depth = 1 }, signal) => {
      const path = homePath(given);
      if (path === null) return failed(outside);
      return onComputer(signal, async ({ folders }, either, { secrets }) => {
        const listed = await host.listFiles(folders, path, { depth, most: maxEntries, signal: either });
        if ('fault' in listed) return failed(listed.fault);
        const lines = listed.entries.map((entry) =>
          entry.kind === 'file' ? `${entry.path} (${entry.size} bytes)` : `${entry.path}${marks[entry.kind]}`,
        );
        if (listed.isCut) lines.push(`[Only the first ${maxEntries} are shown.]`);
        return said(redact([`${path}:`, ...(lines.length === 0 ? ['nothing'] : lines)].join('\n'), secrets));
      });
    },
  );

const marks = { folder: '/', link: ' (a link)', other: ' (no file)' };

/** Definitions only. A call runs in the process where the computer is awake. */
export const computerToolDescriptions: readonly OwnTool['tool'][] = computerTools({} as ComputerTools).map(
  ({ tool }) => tool,
);
