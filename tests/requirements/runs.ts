import { area } from '../requirement.ts';

export const runs = area('ends of runs', 'done', [
  [
    'RUN-700',
    'docs/conversation-reference.md#ends-of-replies-and-tasks',
    'However a reply or task ends and whatever it was doing: the usage is charged, pages and commands are closed, the reason is true, the events are complete, and the next reply knows.',
  ],
  [
    'RUN-701',
    'docs/conversation-reference.md#ends-of-replies-and-tasks',
    'Disabling a user stops their open replies and tasks with `user_disabled`; an answer to their interactions is 403.',
  ],
  [
    'RUN-702',
    'docs/conversation-reference.md#ends-of-replies-and-tasks',
    'Deleting a deployment stops its open replies and tasks with `deployment_deleted`; a new message is 409 `deployment_deleted`.',
  ],
  [
    'RUN-703',
    'docs/sessions.md#expiry-and-revocation',
    'A session ends with the key that opened it, in every process and with its streams.',
  ],
  [
    'RUN-709',
    'docs/sessions.md#expiry-and-revocation',
    'A session that a member opened in the console ends with the membership, in every process and with its streams.',
  ],
  [
    'RUN-704',
    'docs/browser.md#hidden-pages',
    'The page of an ended task is closed, or stays with a person who has a control session open; `browser_in_use` says why.',
  ],
  [
    'RUN-705',
    'docs/conversation-reference.md#ends-of-replies-and-tasks',
    'After any sequence of messages, answers, stops, deletions, disabled and erased users and killed processes nothing is open or held, and the costs add up.',
  ],
  [
    'RUN-706',
    'docs/conversation-reference.md#ends-of-replies-and-tasks',
    'A run whose message was accepted while its user was disabled or its deployment deleted is stopped with that reason.',
  ],
  [
    'RUN-707',
    'docs/routines.md#skipped-runs',
    'A routine has no next run while the deployment that it would run on is archived, also if that is a default or the one of its conversation.',
  ],
  [
    'RUN-708',
    'docs/architecture.md',
    'A job whose conversation was deleted ends. A hold that a killed process left for an ended run is deleted by the next sweep.',
  ],
  [
    'RUN-715',
    'docs/architecture.md',
    'A run whose conversation was deleted before it was read ends, and logs no error.',
  ],
]);
