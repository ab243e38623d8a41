import { area } from '../requirement.ts';

export const interview = area('interview', 'done', [
  [
    'ITV-001',
    'configuration.md · Deployments',
    "`POST /v1/deployments/interview` takes a description of the job and the deployment's name and starts a conversation with the questions.",
  ],
  ['ITV-002', 'configuration.md · Deployments', 'A reply sent as a message in that conversation answers the question.'],
  ['ITV-003', 'configuration.md · Deployments', 'A taken slug answers 409 `slug_taken`.'],
  ['ITV-004', 'decisions.md · 6', '`{deployment, describe}` begins an interview.'],
  ['ITV-005', 'decisions.md · 6', '`{conversation, answer}` continues it.'],
  ['ITV-006', 'decisions.md · 6', 'Any other combination of fields answers 400 `describe_or_answer`.'],
  [
    'ITV-007',
    'decisions.md · 6',
    'The answer is `{object: interview, conversation_id, deployment, status, question, file, yaml}` with nulls where none.',
  ],
  ['ITV-008', 'decisions.md · 6', '`status` is `asking` while a question is open and `ready` at the end.'],
  ['ITV-009', 'decisions.md · 6', '`file` is the deployment file so far as JSON, and `yaml` the same file as text.'],
  ['ITV-010', 'decisions.md · 6', 'The file of a `ready` interview applies without a fault.'],
  ['ITV-011', 'decisions.md · 6', 'An interview asks between five and eight questions at most.'],
  ['ITV-012', 'decisions.md · 9', 'Starting an interview answers 201, each answer after it 200.'],
  [
    'ITV-141',
    'decisions.md · 6',
    'An interview keeps what is usable of a file, asks again for the rest alone, and is 502 only where nothing is usable.',
  ],
]);
