import { type Command, Option } from 'commander';
import type { GlobalFlags } from './settings.ts';

/** Flags of every command, before or after its words. */
const flags: readonly [string, string][] = [
  ['--url <address>', 'the server (or VESTRA_URL)'],
  ['--key <key>', 'the API key (or VESTRA_KEY)'],
  ['--profile <name>', 'a server and key saved by `vestra login`'],
  ['--live', 'the live key of this folder’s .vestra, not its test key'],
  ['--json', 'the API’s response unchanged'],
  ['--debug', 'log requests to standard error'],
];

const heading = 'Global flags:';

/** The flags that expect a value. */
export const valueFlags = flags.filter(([flag]) => flag.includes('<')).map(([flag]) => flag.split(' ', 1)[0] as string);

/**
 * A command with a field of the same name keeps it: `webhooks create --url` is the endpoint's address. The server's
 * address then precedes the words, so that a key is never sent to the wrong address.
 */
export function addGlobalFlags(command: Command): void {
  for (const [flag, description] of flags) {
    const option = new Option(flag, description).helpGroup(heading);
    if (!command.options.some(({ long }) => long === option.long)) command.addOption(option);
  }
  command.helpOption('-h, --help', 'show this help');
}

export type GlobalValues = GlobalFlags & { isJson: boolean; isDebug: boolean };

/** Flags after the words override flags before them. */
export function readGlobals(leaf: Command, ownNames: ReadonlySet<string>): GlobalValues {
  const value = (name: string) => flagValue(ownNames.has(name) ? leaf.parent : leaf, name);
  return {
    url: value('url') as string | undefined,
    key: value('key') as string | undefined,
    profile: value('profile') as string | undefined,
    live: Boolean(value('live')),
    isJson: Boolean(value('json')),
    isDebug: Boolean(value('debug')),
  };
}

function flagValue(command: Command | null, name: string): unknown {
  if (!command) return undefined;
  return command.opts()[name] ?? flagValue(command.parent, name);
}
