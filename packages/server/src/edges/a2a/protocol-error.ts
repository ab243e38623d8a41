import {
  A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { type Refusal, refusalOf } from '../refusal.ts';

/** The one place where a failure becomes an error of this protocol. The API's own code goes along in its data. */
export function protocolErrorOf(thrown: unknown, requestId: string): A2AError {
  const refusal = refusalOf(thrown, requestId);
  const { code, type, message, param, request_id, retry_after_ms } = refusal;
  return new (kindOf(refusal))({
    message,
    metadata: {
      code,
      type,
      request_id,
      ...(param !== undefined && { param }),
      ...(retry_after_ms !== undefined && { retry_after_ms: String(retry_after_ms) }),
    },
  });
}

/** Conversations and tasks are all that a client can name here, and the protocol has one word for either's absence. */
const absent = new Set(['task_not_found', 'invalid_task_id', 'conversation_not_found', 'invalid_conversation_id']);

function kindOf({
  code,
  type,
}: Refusal): new (options: {
  message: string;
  metadata: Record<string, string>;
}) => A2AError {
  if (absent.has(code)) return TaskNotFoundError;
  if (code === 'unsupported_media_type') return ContentTypeNotSupportedError;
  if (type === 'invalid_request' || type === 'not_found') return RequestMalformedError;
  if (type === 'conflict' || type === 'permission' || type === 'cap_reached') return UnsupportedOperationError;
  return A2AError;
}
