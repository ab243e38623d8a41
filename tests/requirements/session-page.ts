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
    'PAGE-201',
    'decisions.md · 11',
    'Loaded again, the page of a session goes on with the same conversation, the same unsent text and at the same place.',
  ],
  [
    'PAGE-202',
    'decisions.md · 11',
    '`<vestra-session>` and `@vestra/react` ask `getSession()` for the next session before one ends; the page goes on with it without being loaded again.',
  ],
  [
    'PAGE-203',
    'decisions.md · 11',
    'A session whose time is over, after sleep or a lost network, goes on with the next; what was sent meanwhile is sent once.',
  ],
  [
    'PAGE-204',
    'decisions.md · 11',
    "A session of another user or conversation, an expired or revoked one, and what comes from another window or origin takes nobody's place.",
  ],
  [
    'PAGE-205',
    'decisions.md · 11',
    'The element tells `ready`, `ended`, `handoff`, `resize` and `unread`; both sides check origin and source.',
  ],
  [
    'PAGE-206',
    'decisions.md · 11',
    'The page takes scheme, colours, fonts, radius and language of the page around it, and says the opening of its session.',
  ],
]);
