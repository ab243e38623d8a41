import { newId } from '@vestra/contract/ids';
import type { OrgEvent } from './emit.ts';

/** A task as its GET shows it, for tests of how an event travels and not of what it tells. */
export const someTask = (text = 'Done.') => ({
  object: 'task' as const,
  id: newId('task'),
  user_id: null,
  conversation_id: newId('conv'),
  deployment_id: null,
  deployment_version: null,
  status: 'done' as const,
  title: null,
  progress: [],
  result: { text, data: null },
  outcome: null,
  error: null,
  cost_usd: 0,
  cost_breakdown: { orchestrator: 0, intelligence: 0, tools: 0, compute: 0, background: 0, voice: 0 },
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
});

/** An event of any type, which always tells of a task: for what is not read back through the contract. */
export const someEvent = (orgId: string, { text = 'Done.', ...given }: SomeEvent = {}) =>
  ({ orgId, mode: 'test', type: 'task.completed', data: someTask(text), ...given }) as OrgEvent;

export type SomeEvent = Partial<Pick<OrgEvent, 'mode' | 'type' | 'deploymentId'>> & { text?: string };
