import { confirm, isCancel, multiselect, password, select, text } from '@clack/prompts';
import { CommandFault } from './fault.ts';

/** Prompts for the user at the terminal. Ctrl-C at a prompt ends the command. */

export const askYesNo = async (message: string, isYesFirst = true): Promise<boolean> =>
  answered(await confirm({ message, initialValue: isYesFirst }));

export const askText = async (
  message: string,
  { placeholder, initial, mayBeEmpty = false }: { placeholder?: string; initial?: string; mayBeEmpty?: boolean } = {},
): Promise<string> => {
  const validate = (given: string | undefined) => (mayBeEmpty || given?.trim() ? undefined : 'Type something.');
  return answered(
    await text({ message, validate, ...(placeholder && { placeholder }), ...(initial && { initialValue: initial }) }),
  );
};

export const askHidden = async (message: string): Promise<string> =>
  answered(await password({ message, validate: (given) => (given ? undefined : 'Type something.') }));

export const askOne = async (message: string, options: readonly string[]): Promise<string> =>
  answered(await select({ message, options: options.map((value) => ({ value, label: value })) }));

export const askSeveral = async (message: string, options: readonly string[]): Promise<string[]> =>
  answered(await multiselect({ message, options: options.map((value) => ({ value, label: value })), required: true }));

function answered<Value>(given: Value): Exclude<Value, symbol> {
  if (isCancel(given)) throw new CommandFault('', { exitCode: 130 });
  return given as Exclude<Value, symbol>;
}
