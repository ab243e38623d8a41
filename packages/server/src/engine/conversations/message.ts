import { fail } from '@vestra/contract/errors';
import type { messageFields } from '@vestra/contract/message';
import type { z } from 'zod';
import type { Caller } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Engine } from '../runs/ports.ts';
import type { NewMessage } from '../transitions/begin-turn.ts';
import { readAttachments } from '../turns/accept.ts';

export type SentMessage = z.output<z.ZodObject<typeof messageFields>> & { traceparent?: string | undefined };

/** What was sent, looked at as far as its schemas and files can be wrong. */
export async function readMessage(
  { openSchemas }: Engine,
  db: Executor,
  caller: Caller,
  userId: string | null,
  sent: SentMessage,
): Promise<NewMessage> {
  if (sent.output_schema !== undefined) {
    const fault = (await openSchemas()).faultOf(sent.output_schema, { isPromised: true });
    if (fault !== null) throw fail('output_schema_invalid', { param: 'output_schema', message: fault });
  }
  for (const [at, tool] of (sent.tools ?? []).entries()) {
    const fault = (await openSchemas()).faultOf(tool.input_schema);
    if (fault !== null) throw fail('invalid_tool_input', { param: `tools.${at}.input_schema`, message: fault });
  }
  return {
    text: sent.message ?? '',
    context: sent.context ?? null,
    attachments: await readAttachments(db, caller, userId, sent.attachments ?? []),
    request: {
      output_schema: sent.output_schema,
      success_criteria: sent.success_criteria,
      tools: sent.tools,
      hand_off: sent.hand_off,
      plan: sent.plan,
      traceparent: sent.traceparent,
    },
    origin: 'message',
  };
}

const traceContext = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** With the caller's trace context, where it is one. A person's browser has no say in the company's traces. */
export function traced<Body extends object>(
  body: Body,
  { session }: Pick<Caller, 'session'>,
  headers: Headers,
): Body & Pick<SentMessage, 'traceparent'> {
  const given = session === null ? headers.get('traceparent') : null;
  return given !== null && traceContext.test(given) ? { ...body, traceparent: given } : body;
}
