import { area } from '../requirement.ts';

export const interview = area('interview', 'done', [
  [
    'ITV-001',
    'docs/api/deployments.md#post-v1deploymentsinterview',
    "`POST /v1/deployments/interview` accepts a description of the job and the deployment's name and starts a conversation with the questions.",
  ],
  [
    'ITV-002',
    'docs/interview.md#the-interview',
    'A reply sent as a message in that conversation answers the question.',
  ],
  ['ITV-003', 'docs/api/deployments.md#post-v1deploymentsinterview', 'A taken slug answers 409 `slug_taken`.'],
  ['ITV-004', 'docs/interview.md#the-interview', '`{deployment, describe}` begins an interview.'],
  ['ITV-005', 'docs/interview.md#the-interview', '`{conversation, answer}` continues it.'],
  [
    'ITV-006',
    'docs/api/deployments.md#post-v1deploymentsinterview',
    'Any other combination of fields answers 400 `describe_or_answer`.',
  ],
  [
    'ITV-007',
    'docs/api/deployments.md#interview',
    'The answer is `{object: interview, conversation_id, deployment, status, question, file, yaml}` with null for missing values.',
  ],
  [
    'ITV-008',
    'docs/api/deployments.md#interview',
    '`status` is `asking` while a question is open and `ready` at the end.',
  ],
  [
    'ITV-009',
    'docs/api/deployments.md#interview',
    '`file` is the deployment file so far as JSON, and `yaml` the same file as text.',
  ],
  ['ITV-010', 'docs/interview.md#the-interview', 'The file of a `ready` interview applies without a fault.'],
  ['ITV-011', 'docs/interview.md#the-interview', 'An interview asks between five and eight questions at most.'],
  [
    'ITV-012',
    'docs/api/deployments.md#post-v1deploymentsinterview',
    'Starting an interview answers 201, each answer after it 200.',
  ],
  [
    'ITV-710',
    'docs/interview.md#the-interview',
    'An answer tells what the file leaves out because it would not apply, with the reason.',
  ],
  [
    'ITV-141',
    'docs/interview.md#the-interview',
    'An interview keeps the usable part of a file, asks again for the rest only, and is 502 only if nothing is usable.',
  ],
  ['ITV-711', 'docs/interview.md#the-interview', 'The messages of an interview take no rating.'],
]);
