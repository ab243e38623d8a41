import { area } from '../requirement.ts';

export const consoleArea = area('console', 'done', [
  [
    'CON-001',
    'docs/console.md · Finding your way',
    'Every route has a place in the console, or a written reason why it has none.',
  ],
  [
    'CON-002',
    'runtime.md · Authentication',
    'A member signs in at `/console` with email and password, signs out, and comes back to the address they asked for.',
  ],
  [
    'CON-003',
    'docs/console.md · Coming in',
    'The link of an invitation leads to a page that makes the member and signs them in.',
  ],
  ['CON-004', 'docs/console.md · Coming in', 'Org and mode are parts of the address; test mode is seen at once.'],
  [
    'CON-005',
    'docs/console.md · Coming in',
    'A session that ends during an edit is signed in again over the page; nothing typed is lost and the change is made once.',
  ],
  [
    'CON-006',
    'docs/console.md · Coming in',
    'Hostile text in any field is shown as text, and the page’s policy is never broken.',
  ],
  [
    'CON-007',
    'docs/console.md · Coming in',
    'Every page is free of barriers that axe knows of, in both themes, and fits 390 pixels.',
  ],
  [
    'CON-008',
    'docs/console.md · Coming in',
    'What a role may not do is not offered, and is refused when it is asked for.',
  ],
  [
    'CON-009',
    'docs/console.md · Finding your way',
    'A refusal shows its sentence, code, field and the id of the request.',
  ],
  ['CON-010', 'docs/console.md · Finding your way', 'What is on show follows events without a reload.'],
  [
    'CON-011',
    'docs/console.md · Coming in',
    'The call behind a view or a change can be copied as curl and as a call of the SDK, and works.',
  ],
  [
    'CON-012',
    'docs/console.md · Coming in',
    'The console is one page for every address below `/console`, under a policy that runs no script but its own.',
  ],
  [
    'CON-013',
    'docs/console.md · Building, running and paying',
    'A deployment file is written in an editor that shows its faults in place; who applies it over another’s change sees both first.',
  ],
  [
    'CON-014',
    'docs/console.md · Building, running and paying',
    'In the playground approvals and calls of functions are answered in place, and each step is beside the talk.',
  ],
  [
    'CON-015',
    'docs/console.md · Building, running and paying',
    'The inbox holds what waits, oldest first, and lets go of it when it is answered.',
  ],
  [
    'CON-016',
    'docs/console.md · Building, running and paying',
    'A task shows its result and the trace of its steps; a conversation what was said and its events.',
  ],
  [
    'CON-017',
    'docs/console.md · Building, running and paying',
    'Scenarios are added and played, and each verdict stands with the talk behind it.',
  ],
  [
    'CON-100',
    'docs/console.md · Building, running and paying',
    'Documents are dropped into a notebook, each told of by itself, and searched as the agent would; a skill is uploaded by its files.',
  ],
  [
    'CON-101',
    'docs/console.md · Building, running and paying',
    'Secrets are set and deleted by name; no value is ever shown.',
  ],
  [
    'CON-102',
    'docs/console.md · Building, running and paying',
    'The policy of each tool of a server is seen and set in one matrix.',
  ],
  [
    'CON-103',
    'docs/console.md · Building, running and paying',
    'A user’s caps, spend, memory, files and computer are on one page, and erasing asks for the id to be typed.',
  ],
  [
    'CON-104',
    'docs/console.md · Building, running and paying',
    'A batch is made of a CSV or JSONL file, and its results are downloaded as one that no table program runs.',
  ],
  [
    'CON-105',
    'docs/console.md · Building, running and paying',
    'A routine shows its next ten times in words, in its own time zone, and is paused.',
  ],
  [
    'CON-106',
    'docs/console.md · Building, running and paying',
    'Webhook endpoints with their deliveries, payloads and retries; a signature is checked without leaving the page.',
  ],
  [
    'CON-107',
    'docs/console.md · Building, running and paying',
    'Spend by day with the cap line, by any grouping, as CSV; caps and alerts are changed.',
  ],
  [
    'CON-108',
    'docs/console.md · Coming in',
    'Members are invited and reset by links shown once; everybody changes their own name and password and ends their sign-ins.',
  ],
]);
