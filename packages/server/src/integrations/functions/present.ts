import { readToolInput } from '@vestra/contract/tool-input';
import type { Manifest } from '../../agents/versions/index.ts';
import type { TakenCall } from '../../engine/interactions/index.ts';
import type { EndpointRow } from './tables.ts';

export const presentFunction = ({ function: name, input, ...declared }: Manifest['tools'][number]) => ({
  name,
  description: declared.description,
  input_schema: readToolInput(input).schema,
  timeout_s: declared.timeout_s,
  read_only: declared.read_only,
  run_without_asking: declared.run_without_asking,
});

export const presentTaken = (row: TakenCall) => ({
  object: 'tool_call' as const,
  call_id: row.id,
  name: String(row.details.tool_name),
  arguments: row.arguments,
  deployment_id: row.deployment_id as string,
  conversation_id: row.conversation_id,
  task_id: row.task_id,
  user_id: row.user_id,
  claim_id: row.taken_by as string,
  attempt: row.attempts,
  taken_until: (row.taken_until as Date).toISOString(),
  expires_at: row.expires_at?.toISOString() ?? null,
});

export const presentEndpoint = (row: EndpointRow) => ({
  object: 'function_endpoint' as const,
  deployment_id: row.deployment_id,
  mode: row.mode,
  url: row.url,
  last_failure:
    row.last_failure === null || row.last_failed_at === null
      ? null
      : { message: row.last_failure, at: row.last_failed_at.toISOString() },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
