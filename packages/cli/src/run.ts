import { CommanderError } from 'commander';
import { CommandFault, misuse } from './fault.ts';
import { printError } from './print-error.ts';
import { buildProgram, type Program } from './program.ts';
import type { Terminal } from './terminal.ts';
import { unknownCommand } from './unknown-command.ts';

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
    return printError(terminal, error, saidBefore(typed, program.asked()));
  }
}

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
