import type { CommandInput } from '@vestra/contract/commands';
import { answer } from '@vestra/sdk/commands/answer';
import { ask } from '@vestra/sdk/commands/ask';
import { embed } from '@vestra/sdk/commands/embed';
import { events } from '@vestra/sdk/commands/events';
import { test } from '@vestra/sdk/commands/test';
import type { StreamEvent } from '@vestra/sdk/stream';
import { patienceMs, type ToolArguments, type ToolCaller } from './tool-caller.ts';

/** The tools that make several calls, by name. Their arguments have been read by the command table's schemas. */
export const compositeTools: Readonly<Record<string, (given: ToolArguments, caller: ToolCaller) => Promise<unknown>>> =
  {
    ask: (given, { client, signal, idempotencyKey, tellProgress }) =>
      ask(client, given as CommandInput<'ask'>, {
        signal,
        idempotencyKey,
        onEvent: (event) => {
          const news = newsOf(event);
          if (news !== null) tellProgress(news);
        },
      }),
    answer: (given, { client, signal }) => answer(client, given as CommandInput<'answer'>, { signal }),
    embed: (given, { client, signal, idempotencyKey }) =>
      embed(client, given as CommandInput<'embed'>, { signal, idempotencyKey }),
    events: (given, { client, signal }) => events(client, given as CommandInput<'events'>, { signal }),
    test: (given, { client, signal, idempotencyKey, tellProgress }) =>
      test(client, given as CommandInput<'test'>, {
        signal,
        idempotencyKey,
        enough: AbortSignal.timeout(patienceMs),
        onProgress: (progress) => {
          if (progress.type === 'tested') tellProgress(`${progress.result.name}: ${progress.result.status}`);
        },
      }),
  };

function newsOf({ type, data }: StreamEvent): string | null {
  if (type === 'reply.delta') return data.text;
  if (type === 'task.started') return data.task.title ?? 'The work has begun.';
  if (type === 'task.progress') return data.progress.find(({ status }) => status === 'in_progress')?.content ?? null;
  return null;
}
