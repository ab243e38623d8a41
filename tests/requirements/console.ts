import { area } from '../requirement.ts';

export const consoleArea = area('console', 'done', [
  ['CON-001', 'issue 16 · Done when', 'Every route has a place in the console, or a written reason why it has none.'],
  [
    'CON-002',
    'runtime.md · Authentication',
    'A member signs in at `/console` with email and password, signs out, and comes back to the address they asked for.',
  ],
  ['CON-003', 'issue 16 · 1', 'The link of an invitation leads to a page that makes the member and signs them in.'],
  ['CON-004', 'issue 16 · 1', 'Org and mode are parts of the address; test mode is seen at once.'],
  [
    'CON-005',
    'issue 16 · Bad input',
    'A session that ends during an edit is signed in again over the page; nothing typed is lost and the change is made once.',
  ],
  [
    'CON-006',
    'issue 16 · Bad input',
    'Hostile text in any field is shown as text, and the page’s policy is never broken.',
  ],
  ['CON-007', 'issue 16 · 1', 'Every page is free of barriers that axe knows of, in both themes, and fits 390 pixels.'],
  ['CON-008', 'issue 16 · 4', 'What a role may not do is not offered, and is refused when it is asked for.'],
  ['CON-009', 'issue 16 · 5', 'A refusal shows its sentence, code, field and the id of the request.'],
  ['CON-010', 'issue 16 · 5', 'What is on show follows events without a reload.'],
  [
    'CON-011',
    'issue 16 · 1',
    'The call behind a view or a change can be copied as curl and as a call of the SDK, and works.',
  ],
  [
    'CON-012',
    'issue 16 · 1',
    'The console is one page for every address below `/console`, under a policy that runs no script but its own.',
  ],
  [
    'CON-013',
    'issue 16 · 2',
    'A deployment file is written in an editor that shows its faults in place; who applies it over another’s change sees both first.',
  ],
  [
    'CON-014',
    'issue 16 · 2',
    'In the playground approvals and calls of functions are answered in place, and each step is beside the talk.',
  ],
  ['CON-015', 'issue 16 · 2', 'The inbox holds what waits, oldest first, and lets go of it when it is answered.'],
  [
    'CON-016',
    'issue 16 · 2',
    'A task shows its result and the trace of its steps; a conversation what was said and its events.',
  ],
  ['CON-017', 'issue 16 · 2', 'Scenarios are added and played, and each verdict stands with the talk behind it.'],
]);
