import { nearest } from '@vestra/contract/nearest';
import { CommanderError } from 'commander';
import { CommandFault, misuse } from './fault.ts';
import { valueFlags } from './global-flags.ts';
import { printError } from './print-error.ts';
import { buildProgram, type Program } from './program.ts';
import type { Terminal } from './terminal.ts';

/** The exit code of shells for Ctrl-C. */
export const interrupted = 130;

/** Runs one command line and returns its exit code. All output goes through the given terminal. */
export async function run(typed: readonly string[], terminal: Terminal): Promise<number> {
  const program = buildProgram(terminal);
  try {
    const words = helpLast(typed);
    const unknown = unknownCommand(words, program.names);
    if (unknown) throw misuse(unknown);
    await program.commander.parseAsync([...words], { from: 'user' });
    return terminal.signal.aborted ? interrupted : program.exitCode();
  } catch (error) {
    if (error instanceof CommanderError && isHelp(error)) return error.exitCode === 0 ? 0 : 2;
    if (terminal.signal.aborted || (error instanceof CommandFault && error.exitCode === interrupted))
      return interrupted;
    const said = withHelp(error, typed, program.names);
    return printError(terminal, said, saidBefore(typed, program.asked()));
  }
}

/** Adds the command that explains the usage, unless the message suggests the right word already. */
function withHelp(error: unknown, typed: readonly string[], names: readonly string[]): unknown {
  const isFlag =
    error instanceof CommandFault && error.exitCode === 2 && error.message.startsWith(`${error.param} expects`);
  if (!(error instanceof CommanderError || isFlag) || error.message.includes('Did you mean')) return error;
  const words = leadingWords(typed);
  const known = words.findLastIndex((_, at) => names.includes(words.slice(0, at + 1).join(' '))) + 1;
  const command = ['vestra help', ...words.slice(0, known)].join(' ');
  const message = `${error.message.replace(/\.$/, '')}. \`${command}\` shows the usage.`;
  if (error instanceof CommanderError) return new CommanderError(error.exitCode, error.code, message);
  return misuse(message, error.param);
}

/** Words of other command lines, and the command here. */
const synonyms: Readonly<Record<string, string>> = {
  build: 'apply',
  chat: 'ask',
  create: 'init',
  deploy: 'apply',
  new: 'init',
  publish: 'apply',
  push: 'apply',
  run: 'start',
  serve: 'start',
  talk: 'ask',
  up: 'start',
};

/** `vestra help users get` is `vestra users get --help`. */
function helpLast(typed: readonly string[]): readonly string[] {
  if (typed.length === 0) return ['--help'];
  return typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed;
}

/** The flags of an invalid command line still decide how its error is printed. */
function saidBefore(typed: readonly string[], asked: ReturnType<Program['asked']>) {
  return {
    ...asked,
    isJson: asked.isJson || typed.includes('--json'),
    isDebug: asked.isDebug || typed.includes('--debug'),
  };
}

const isHelp = ({ code }: CommanderError) =>
  ['commander.helpDisplayed', 'commander.help', 'commander.version'].includes(code);

/**
 * Returns the error for an unknown command; null if it is known. Commander would suggest word by word and call a wrong
 * second word of `files` an excess argument.
 */
function unknownCommand(typed: readonly string[], names: readonly string[]): string | null {
  const words = leadingWords(typed);
  if (words.length === 0) return null;
  const isPrefix = (length: number) => names.some((name) => startsWith(name, words.slice(0, length)));
  const known = words.findLastIndex((_, at) => isPrefix(at + 1)) + 1;
  if (known === words.length) return null;
  const found = words.slice(0, known).join(' ');
  const isGroup = names.some((name) => name.startsWith(`${found} `));
  if (found !== '' && names.includes(found) && !isGroup) return null;
  const length = Math.max(1, ...names.filter((name) => startsWith(name, words.slice(0, known))).map(lengthOf));
  const meant = words.slice(0, Math.min(words.length, length)).join(' ');
  const synonym = synonyms[words[0] as string];
  const near = [
    ...new Set([
      ...(synonym ? [synonym] : []),
      ...nearest(meant, names),
      ...nearest(words.slice(0, known + 1).join(' '), firsts(names)),
    ]),
  ];
  const hint = near.slice(0, synonym ? 1 : 3).map((name) => `\`vestra ${name}\``);
  const question = hint.length > 0 ? ` Did you mean ${hint.join(' or ')}?` : ' `vestra help` lists the commands.';
  return `There is no command \`vestra ${words.slice(0, Math.max(known + 1, 1)).join(' ')}\`.${question}`;
}

/** The words before the first flag, after the global flags. */
function leadingWords(typed: readonly string[]): string[] {
  let at = 0;
  while (typed[at]?.startsWith('-')) at += valueFlags.includes(typed[at] as string) ? 2 : 1;
  const rest = typed.slice(at);
  const end = rest.findIndex((word) => word.startsWith('-'));
  return end === -1 ? rest : rest.slice(0, end);
}

const startsWith = (name: string, words: readonly string[]) =>
  words.length === 0 || `${name} `.startsWith(`${words.join(' ')} `);

const lengthOf = (name: string) => name.split(' ').length;

const firsts = (names: readonly string[]) => [...new Set(names.map((name) => name.split(' ', 1)[0] as string))];
