import { webhookEventTypes } from '@vestra/contract/webhook-event-types';
import { completion } from './commands/completion.ts';
import { logs } from './commands/events.ts';
import { importExport } from './commands/import.ts';
import { login, logout, profiles } from './commands/login.ts';
import { open } from './commands/open.ts';
import { status } from './commands/status.ts';
import { trace } from './commands/trace.ts';
import type { LocalInvocation } from './invocation.ts';

/** A command that exists only on the command line, not in the API. */
export type LocalCommand = {
  name: string;
  summary: string;
  /** `['[name]', 'which one']` */
  words: readonly (readonly [string, string])[];
  flags?: readonly (readonly [flag: string, description: string])[];
  /** Returns the exit code. Default: 0. */
  run: (invocation: LocalInvocation) => Promise<number> | Promise<void>;
};

export const localCommands: readonly LocalCommand[] = [
  {
    name: 'import',
    summary: 'Turn an export of OpenAI, Dify or LangGraph into a folder with a service.yaml.',
    words: [
      ['<platform>', 'openai, dify or langgraph'],
      ['<file>', 'The exported file: JSON of OpenAI and LangGraph, YAML of Dify.'],
    ],
    flags: [
      ['--out <folder>', 'A new folder; absent: the name of the agent.'],
      ['--assistant <file>', 'With a langgraph.json: the JSON of an assistant, or a list of them.'],
    ],
    run: importExport,
  },
  {
    name: 'trace',
    summary: 'Show a reply or a task as a tree, with time, tokens and cost.',
    words: [['<id>', 'A turn_ id, a task_ id, or a conv_ id for its last reply.']],
    flags: [['--conversation <id>', 'The conversation of an older turn.']],
    run: trace,
  },
  {
    name: 'logs',
    summary: 'Show the newest events of the org and follow new ones until Ctrl-C.',
    words: [],
    flags: [['--type <word>', `Only events of this type: ${webhookEventTypes.join(', ')}.`]],
    run: logs,
  },
  {
    name: 'open',
    summary: 'Open a page in the browser: a chat with the agent, the API reference or the console.',
    words: [['[page]', 'chat, docs or console; absent: chat']],
    flags: [
      ['--user <text>', 'The user who chats; absent: the org’s own agent.'],
      ['--deployment <text>', 'The deployment to chat with: a dep_ id, a slug or a name; absent: the org’s default.'],
    ],
    run: open,
  },
  {
    name: 'status',
    summary: 'Show which server and key are used here, why, and whether both work.',
    words: [],
    run: status,
  },
  { name: 'whoami', summary: 'The same as status.', words: [], run: status },
  {
    name: 'login',
    summary: 'Save a server’s address and a key on this machine, under --profile or as the default.',
    words: [],
    run: login,
  },
  { name: 'logout', summary: 'Remove a saved server and key.', words: [], run: logout },
  {
    name: 'profiles',
    summary: 'List the saved profiles; with a name, make that one current.',
    words: [['[name]', 'the profile to make current']],
    run: profiles,
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell.',
    words: [['<shell>', 'bash, zsh or fish']],
    run: completion,
  },
];
