import { completion } from './commands/completion.ts';
import { login, logout, profiles } from './commands/login.ts';
import type { LocalInvocation } from './invocation.ts';

/** A command of this machine alone, which no other door has. */
export type LocalCommand = {
  name: string;
  summary: string;
  /** `['[name]', 'which one']` */
  words: readonly (readonly [string, string])[];
  run: (invocation: LocalInvocation) => Promise<void>;
};

export const localCommands: readonly LocalCommand[] = [
  {
    name: 'login',
    summary: 'Keep a server’s address and a key on this machine, under --profile or as the default.',
    words: [],
    run: login,
  },
  { name: 'logout', summary: 'Forget a kept server and key.', words: [], run: logout },
  {
    name: 'profiles',
    summary: 'List what `vestra login` kept; with a name, use that one from now on.',
    words: [['[name]', 'the profile to use from now on']],
    run: profiles,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell.',
    words: [['<shell>', 'bash, zsh or fish']],
    run: completion,
  },
];
