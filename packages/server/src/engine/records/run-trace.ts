import { withoutCredentials } from '@vestra/agent/credential';
import { microsToUsd } from '@vestra/contract/money';
import type { Models } from '@vestra/models/models';
import type { ModelCallSpan, RunTrace, TraceParent } from '../../account/index.ts';
import { findDeploymentOfAnyOrg } from '../../agents/deployments/index.ts';
import { tokensAndCostOf } from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { saidInTurn } from './messages.ts';
import type { StepRow } from './tables.ts';
import { findTask } from './tasks.ts';
import { callsOfRun, stepsOfRun } from './trace-store.ts';
import { findTurn } from './turns.ts';

/** A run that has ended, as a trace tells it; null where it was erased meanwhile. */
export async function readRunTrace(
  { db, models }: { db: Database; models: Models },
  tenant: Tenant,
  run: { kind: 'turn' | 'task'; id: string; withContent: boolean },
): Promise<RunTrace | null> {
  const task = run.kind === 'task' ? await findTask(db, tenant, run.id) : undefined;
  const turn = run.kind === 'turn' ? await findTurn(db, run.id) : undefined;
  const row = task ?? turn;
  if (!row) return null;
  const steps = await stepsOfRun(db, run.id);
  const calls = await callsOfRun(db, run.id);
  const began = turn ?? (task && (await findTurn(db, task.turn_id)));
  const deployment = row.deployment_id && (await findDeploymentOfAnyOrg(db, row.deployment_id));
  const charged = task ? { taskId: task.id } : { conversationId: row.conversation_id, replyId: run.id };
  const { costMicros } = await tokensAndCostOf(db, charged);
  const callsOf = Map.groupBy(calls, ({ step_index }) => step_index);
  const providers = new Map(models.catalogue.list('test').map(({ id, provider }) => [id, provider]));
  return {
    kind: run.kind,
    id: run.id,
    conversationId: row.conversation_id,
    taskId: task?.id ?? turn?.task_id ?? null,
    deployment: {
      id: row.deployment_id,
      version: row.deployment_version,
      name: deployment ? deployment.name : null,
    },
    userId: row.user_id,
    costUsd: microsToUsd(costMicros),
    parent: parentIn(began?.request.traceparent),
    content: run.withContent && began ? await contentOf(db, row.conversation_id, began.id) : null,
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
        costUsd: microsToUsd(step.cost_micros),
        finishReason: finishReasonOf(step, callsOf.has(step.step_index)),
        // The text of a failed call is the failure, and not something that the model wrote.
        content: run.withContent ? { output: step.kind === 'failed' ? '' : shown(step.text) } : null,
        errorCode: step.kind === 'failed' ? 'model_error' : null,
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
          content: run.withContent ? { arguments: shown(call.arguments), result: shown(call.output ?? '') } : null,
        })),
    ].toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime()),
  };
}

function parentIn(traceparent: string | undefined): TraceParent | null {
  const [, traceId = '', spanId = ''] = traceparent?.split('-') ?? [];
  return traceparent === undefined ? null : { traceId, spanId };
}

function finishReasonOf({ kind, is_cut }: StepRow, hasCalls: boolean): ModelCallSpan['finishReason'] {
  if (kind === 'failed' || kind === 'stopped') return 'error';
  if (is_cut) return 'length';
  return hasCalls ? 'tool_call' : 'stop';
}

async function contentOf(db: Database, conversationId: string, turnId: string): Promise<RunTrace['content']> {
  const said = await saidInTurn(db, conversationId, turnId);
  const text = (isWanted: (role: string) => boolean) =>
    said
      .filter(({ role }) => isWanted(role))
      .map((each) => each.text)
      .join('\n\n');
  const output = text((role) => role !== 'user');
  return { input: shown(text((role) => role === 'user')), output: output === '' ? null : shown(output) };
}

/** As it may leave the house: what looks like a credential is hidden, and nothing is longer than two pages. */
function shown(value: unknown): string {
  const clean = withoutCredentials('', value);
  return typeof clean === 'string' ? clean : JSON.stringify(clean ?? null);
}
