import type { Models } from '@vestra/models/models';
import type { RunTrace } from '../../../adapters/otlp/run-trace.ts';
import type { Tenant } from '../../../caller.ts';
import type { Database } from '../../../db/pool.ts';
import { findTask } from './tasks.ts';
import { callsOfRun, stepsOfRun } from './trace-store.ts';
import { findTurn } from './turns.ts';

/** A run that has ended, as a trace tells it; null where it was erased meanwhile. */
export async function readRunTrace(
  { db, models }: { db: Database; models: Models },
  tenant: Tenant,
  run: { kind: 'turn' | 'task'; id: string },
): Promise<RunTrace | null> {
  const task = run.kind === 'task' ? await findTask(db, tenant, run.id) : undefined;
  const turn = run.kind === 'turn' ? await findTurn(db, run.id) : undefined;
  const row = task ?? turn;
  if (!row) return null;
  const steps = await stepsOfRun(db, run.id);
  const calls = await callsOfRun(db, run.id);
  const providers = new Map(models.catalogue.list('test').map(({ id, provider }) => [id, provider]));
  return {
    kind: run.kind,
    id: run.id,
    conversationId: row.conversation_id,
    taskId: task?.id ?? turn?.task_id ?? null,
    deployment: { id: row.deployment_id, version: row.deployment_version },
    startedAt: row.created_at,
    endedAt: task?.updated_at ?? turn?.settled_at ?? new Date(),
    errorCode: row.error_code,
    missingServers: (row.missing_tools ?? []).map(({ server }) => server),
    spans: [
      ...steps.map((step) => ({
        kind: 'model' as const,
        model: step.model,
        provider: providers.get(step.model) ?? 'compatible',
        startedAt: step.started_at,
        endedAt: step.created_at,
        inputTokens: step.input_tokens,
        outputTokens: step.output_tokens,
        cacheReadTokens: step.cache_read_tokens,
        cacheWriteTokens: step.cache_write_tokens,
        errorCode: null,
      })),
      ...calls
        .filter(({ finished_at }) => finished_at !== null)
        .map((call) => ({
          kind: 'tool' as const,
          name: call.name,
          server: /^mcp__(.+?)__/.exec(call.name)?.[1] ?? null,
          callId: call.id,
          startedAt: call.started_at ?? call.created_at,
          endedAt: call.finished_at ?? call.created_at,
          isError: call.is_error === true,
        })),
    ].toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime()),
  };
}
