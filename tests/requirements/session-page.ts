import { area } from '../requirement.ts';

export const sessionPage = area('session-page', 'done', [
  [
    'PAGE-001',
    'runtime.md · What the service does',
    'The page of a chat session sends messages and shows replies as they are typed.',
  ],
  [
    'PAGE-002',
    'runtime.md · What the service does',
    'The page of a chat session shows approvals and questions and sends their answers.',
  ],
  [
    'PAGE-003',
    'runtime.md · What the service does',
    'The page of a `view` screen shows the browser and passes no input to it.',
  ],
  [
    'PAGE-004',
    'runtime.md · What the service does',
    'The page of a `control` screen lets the person drive the browser.',
  ],
  [
    'PAGE-005',
    'runtime.md · What the service does',
    "The page of a session with `memory` shows the user's memories and deletes them.",
  ],
  [
    'PAGE-220',
    'docs/functions.md · In your own server',
    'While one of the company’s functions is at work the page says so, with how far it is and without its arguments, also after a reload and to a screen reader.',
  ],
]);
