import { newId } from '@vestra/contract/ids';
import type { OrgEvent } from './emit.ts';

/** A task as the API returns it, for tests that ignore the content of events. */
export const someTask = (text = 'Done.') => ({
  object: 'task' as const,
  id: newId('task'),
  user_id: null,
  conversation_id: newId('conv'),
  deployment_id: null,
  deployment_version: null,
  status: 'done' as const,
  title: 'A task',
  ask: 'Do it.',
  progress: [],
  result: { text, data: null },
  outcome: null,
  error: null,
  cost_usd: 0,
  cost_breakdown: {
    orchestrator: 0,
    intelligence: 0,
    tools: 0,
    compute: 0,
    background: 0,
    voice: 0,
    improvement: 0,
    insight: 0,
  },
  created_at: new Date().toISOString(),
  updated_at: new Date().toISOString(),
});

/** An event of any type with a task as its data. Do not read it through the contract. */
export const someEvent = (orgId: string, { text = 'Done.', ...given }: SomeEvent = {}) =>
  ({ orgId, mode: 'test', type: 'task.completed', data: someTask(text), ...given }) as OrgEvent;

export type SomeEvent = Partial<Pick<OrgEvent, 'mode' | 'type' | 'deploymentId'>> & { text?: string };
