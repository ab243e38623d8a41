import { answer } from './commands/answer.ts';
import { apply } from './commands/apply.ts';
import { ask } from './commands/ask.ts';
import { dev } from './commands/dev.ts';
import { diff } from './commands/diff.ts';
import { embed } from './commands/embed.ts';
import { events } from './commands/events.ts';
import { functionsServe } from './commands/functions-serve.ts';
import { improve } from './commands/improve.ts';
import { init } from './commands/init.ts';
import { listen } from './commands/listen.ts';
import { test } from './commands/test.ts';
import type { OwnCommand } from './invocation.ts';

/** The commands of the table that do more than one call, by name. */
export const ownCommands: Readonly<Record<string, OwnCommand>> = {
  answer,
  apply,
  ask,
  dev,
  diff,
  embed,
  events,
  'functions serve': functionsServe,
  improve,
  init,
  listen,
  test,
};
