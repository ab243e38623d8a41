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
    'PAGE-240',
    'decisions.md · 11',
    'The page speaks English, German, Spanish, French, Portuguese, Hindi, Japanese and Arabic; every word it says is in all of them.',
  ],
]);
