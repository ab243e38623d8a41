import type { Row } from '../requirement.ts';

/** Signing in, finding one's way, and the settings of org and members. */
export const consoleFrame: readonly Row[] = [
  [
    'CON-001',
    'docs/console.md#finding-your-way',
    'Every route has a place in the console, or a written reason why it has none.',
  ],
  [
    'CON-002',
    'docs/console.md#coming-in',
    'A member signs in at `/console` with email and password, signs out, and comes back to the address they asked for.',
  ],
  [
    'CON-003',
    'docs/console.md#coming-in',
    'The link of an invitation leads to a page that creates the member and signs them in.',
  ],
  ['CON-004', 'docs/console.md#coming-in', 'Org and mode are parts of the address; test mode is seen at once.'],
  [
    'CON-005',
    'docs/console.md#coming-in',
    'A session that ends during an edit is signed in again over the page; nothing typed is lost and the change is made once.',
  ],
  [
    'CON-006',
    'docs/console.md#coming-in',
    'Hostile text in any field is shown as text, and the page’s policy is never broken.',
  ],
  [
    'CON-007',
    'docs/console.md#coming-in',
    'Every page is free of barriers that axe knows of, in both themes, and fits 390 pixels.',
  ],
  [
    'CON-008',
    'docs/console.md#coming-in',
    'The console does not offer what a role may not do, and the server refuses it.',
  ],
  [
    'CON-009',
    'docs/console.md#finding-your-way',
    'A refusal shows its sentence, code, field and the id of the request.',
  ],
  ['CON-010', 'docs/console.md#finding-your-way', 'The console follows events without a reload.'],
  [
    'CON-011',
    'docs/console.md#coming-in',
    'The call behind a view or a change can be copied as curl and as a call of the SDK, and works.',
  ],
  [
    'CON-012',
    'docs/console.md#coming-in',
    'The console is one page for every address below `/console`, under a policy that runs no script but its own.',
  ],
  [
    'CON-013',
    'docs/console.md#building-running-and-paying',
    'A deployment file is written in an editor that shows its faults in place; who applies it over another’s change sees both first.',
  ],
  [
    'CON-014',
    'docs/console.md#building-running-and-paying',
    'In the playground approvals and function calls are answered in place, and each step is beside the conversation.',
  ],
  [
    'CON-015',
    'docs/console.md#building-running-and-paying',
    'The inbox holds what waits, oldest first, and lets go of it when it is answered.',
  ],
  [
    'CON-016',
    'docs/console.md#building-running-and-paying',
    'A task shows its result and the trace of its steps; a conversation what was said and its events.',
  ],
  [
    'CON-017',
    'docs/console.md#building-running-and-paying',
    'Scenarios are added and played, and each verdict is shown with its conversation.',
  ],
  [
    'CON-100',
    'docs/console.md#building-running-and-paying',
    'Documents are dropped into a notebook, each with its own status, and searched as the agent would; a skill is uploaded by its files.',
  ],
  [
    'CON-101',
    'docs/console.md#building-running-and-paying',
    'Secrets are set and deleted by name; no value is ever shown.',
  ],
  [
    'CON-102',
    'docs/console.md#building-running-and-paying',
    'The policy of each tool of a server is seen and set in one matrix.',
  ],
  [
    'CON-103',
    'docs/console.md#building-running-and-paying',
    'A user’s caps, spend, memory, files and computer are on one page, and erasing asks for the id to be typed.',
  ],
  [
    'CON-104',
    'docs/console.md#building-running-and-paying',
    'A batch is created from a CSV or JSONL file, and its results are downloaded as a file whose cells no table program executes.',
  ],
  [
    'CON-105',
    'docs/console.md#building-running-and-paying',
    'A routine shows its next ten times in words, in its own time zone, and is paused.',
  ],
  [
    'CON-106',
    'docs/console.md#building-running-and-paying',
    'Webhook endpoints with their deliveries, payloads and retries; a signature is checked without leaving the page.',
  ],
  [
    'CON-107',
    'docs/console.md#building-running-and-paying',
    'Spend by day with the cap line, by any grouping, as CSV; caps and alerts are changed.',
  ],
  [
    'CON-108',
    'docs/console.md#coming-in',
    'Members are invited and reset by links shown once; everybody changes their own name and password and ends their sign-ins.',
  ],
  [
    'CON-200',
    'docs/console.md#coming-in',
    'A passkey is added with the password, named, renamed and removed on the account page, and signs in on the sign-in page.',
  ],
  [
    'CON-201',
    'docs/console.md#coming-in',
    "An owner sets up the company's sign-in, tries it with their own account, and sees what is lost before it is removed; its secret is never shown.",
  ],
  [
    'CON-202',
    'docs/console.md#coming-in',
    'A member links and unlinks the company account, and signs in again with it if the session ended in the middle of something.',
  ],
  ['CON-203', 'docs/console.md#finding-your-way', 'The list of members follows changes without a reload.'],
  [
    'CON-204',
    'docs/console.md#building-running-and-paying',
    'Answers are rated in a conversation, and a deployment shows the ratings counted by version, filtered, each with its conversation.',
  ],
  [
    'CON-205',
    'docs/console.md#building-running-and-paying',
    'The list of what is left to set up ticks a cap when somebody set one, not because every org begins with caps.',
  ],
  [
    'CON-206',
    'docs/find-conversations.md#feedback',
    'The session page has two thumbs under each reply, by keyboard too; a bad one takes a comment, and both are there again after a reload.',
  ],
  [
    'CON-260',
    'docs/console.md#finding-your-way',
    'Every page links to its page of the guide; a dead link fails a test.',
  ],
  [
    'CON-261',
    'docs/console.md#finding-your-way',
    'Every field of a form has its help in place: the contract’s words, or those of the page.',
  ],
  [
    'CON-262',
    'docs/versions.md#avoid-overwriting-a-change',
    'A file that names the version it was written from is applied only while that is the newest, otherwise 409 `deployment_changed`; of several at once one is saved.',
  ],
  [
    'CON-263',
    'docs/console.md#building-running-and-paying',
    'A member who applies a file that another has changed meanwhile sees both side by side, also if both press at once.',
  ],
  [
    'CON-551',
    'docs/console.md#building-running-and-paying',
    'The file of a deployment can be read before its editor has come.',
  ],
  [
    'CON-264',
    'docs/console.md#finding-your-way',
    "Every change can be copied as a request: before it is made in forms and questions, after it from the page's menu; a typed secret is left out.",
  ],
  [
    'CON-265',
    'docs/console.md#building-running-and-paying',
    'Routines have a calendar: what ran, failed or did not happen, and what is to come, each on its day of the time zone on show.',
  ],
  [
    'CON-266',
    'docs/console.md#building-running-and-paying',
    'Openings, fallback models and traces of the org are changed in its settings, and the page of a session is shown there in the look that is tried; no other origin may embed the preview.',
  ],
  [
    'CON-267',
    'docs/versions.md#compare-two-versions',
    'Two versions are compared by what their documents and skills say, text by text, within their own org.',
  ],
  [
    'CON-268',
    'docs/console.md#building-running-and-paying',
    'A trace is looked at closer by dragging, and by buttons that a keyboard reaches.',
  ],
];
