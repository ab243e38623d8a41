import { area } from '../requirement.ts';

export const deletion = area('deletion', 'done', [
  [
    'DEL-700',
    'docs/deleting-data.md#tasks',
    'The events of a deleted task keep their `seq`, and no route, table, prompt or stream shows its content.',
  ],
  [
    'DEL-701',
    'docs/deleting-data.md#tasks',
    'Webhook deliveries about a deleted task that were not sent yet are not sent.',
  ],
  [
    'DEL-702',
    'docs/deleting-data.md#tasks',
    'The deletion of a running task reports its stop without content, and the agent reads that it was deleted.',
  ],
  [
    'DEL-703',
    'docs/deleting-data.md#tasks',
    'A repeated message whose task was deleted finds its turn and sends no second message.',
  ],
  ['DEL-704', 'docs/deleting-data.md#tasks', 'Summaries that may repeat a deleted task are deleted.'],
  [
    'DEL-705',
    'docs/deleting-data.md#tasks',
    'Nothing is learned for the memory from a task that is deleted meanwhile.',
  ],
  [
    'DEL-710',
    'docs/deleting-data.md#files',
    'A copy of a deleted file, or of a deleted conversation, leaves the computer before the next command runs.',
  ],
  [
    'DEL-711',
    'docs/deleting-data.md#files',
    'Copies of deleted files and outputs leave a sleeping computer in the background.',
  ],
  [
    'DEL-720',
    'docs/deleting-data.md#deleting-data',
    'After a deletion, no route, stream, trace, prompt, table, file or computer has the deleted content, except what the page names.',
  ],
  [
    'DEL-730',
    'docs/deleting-data.md#documents-notebooks-and-skills',
    'The results in which an agent read a deleted document, notebook or skill are emptied in traces, events and later prompts.',
  ],
  [
    'DEL-740',
    'docs/api/batches.md#delete-v1batchesbatch_id',
    'A batch that has ended can be deleted with its items. Their conversations and costs stay.',
  ],
  [
    'DEL-742',
    'docs/deleting-data.md#deleting-data',
    'Deleting a conversation stops the replay of it at once, and no model is asked about it again.',
  ],
  [
    'DEL-741',
    'docs/api/test-runs.md#delete-v1test-runsrun_id',
    'A test run that has ended can be deleted with its results and the conversations of all its plays.',
  ],
]);
