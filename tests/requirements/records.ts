import { area } from '../requirement.ts';

export const records = area('records', 'done', [
  [
    'REC-700',
    'docs/find-conversations.md#finding-conversations',
    'A conversation has a `preview`: the first words of its first message, at most 200 characters in one line.',
  ],
  [
    'REC-701',
    'docs/find-conversations.md#finding-conversations',
    '`last_error` of a conversation says why the turn that ended last failed; null if it did not, or if a person stopped it.',
  ],
  [
    'REC-720',
    'docs/high-availability.md#clocks',
    'A row that was written up to 15 minutes after its id was created is listed by its `created_at`.',
  ],
  [
    'REC-702',
    'docs/find-conversations.md#finding-conversations',
    'The list of conversations is filtered by `deployment`, `status`, `failed`, `created_after` and `created_before`, each alone and combined.',
  ],
  [
    'REC-703',
    'docs/find-conversations.md#finding-conversations',
    '`q` finds conversations whose preview has words that start with each word of the query.',
  ],
  [
    'REC-704',
    'docs/conversation-reference.md#tasks',
    'A task has the `ask`, the message that started it, and always a `title`: of its plan or hand-off, or else the first words of the ask.',
  ],
  [
    'REC-705',
    'docs/conversation-reference.md#tasks',
    'A done task shows no step of its plan as in progress, and a plan that was never updated as completed.',
  ],
  [
    'REC-706',
    'docs/find-conversations.md#deleting-conversations',
    'Preview, ask, title and last error vanish with the conversation, the task or the user.',
  ],
  [
    'REC-707',
    'docs/routines.md#skipped-runs',
    'A routine of an archived deployment has no next run; it gets it back when the deployment is unarchived.',
  ],
  [
    'REC-708',
    'docs/api/audit-log.md#get-v1audit-log',
    'The audit log is strictly newest first, also over transactions that overlap and across pages.',
  ],
  ['REC-709', 'docs/a2a.md#errors', 'A body that is no JSON answers the JSON-RPC error -32700, through A2A and MCP.'],
  [
    'REC-710',
    'docs/a2a.md#answering-what-the-agent-waits-on',
    'A reply that asks something is a task that requires input; a message in that task, or in its context, answers it.',
  ],
  [
    'REC-711',
    'docs/console.md#building-running-and-paying',
    'The console lists conversations by their first words, with user, deployment and failure. Its filters are in the address.',
  ],
]);
