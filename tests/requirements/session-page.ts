import { area } from '../requirement.ts';

export const sessionPage = area('session-page', 'done', [
  [
    'PAGE-001',
    'docs/session-page.md#the-page',
    'The page of a chat session sends messages and shows replies as they are typed.',
  ],
  [
    'PAGE-002',
    'docs/session-page.md#the-page',
    'The page of a chat session shows approvals and questions and sends their answers.',
  ],
  [
    'PAGE-003',
    'docs/session-screen.md#the-screen',
    'The page of a `view` screen shows the browser and passes no input to it.',
  ],
  ['PAGE-004', 'docs/sessions.md', 'The page of a `control` screen lets the person drive the browser.'],
  [
    'PAGE-005',
    'docs/session-page.md#the-page',
    "The page of a session with `memory` shows the user's memories and deletes them.",
  ],
  [
    'PAGE-220',
    'docs/functions.md#in-your-own-server',
    "While one of the company's functions runs the page shows it, with its progress and without its arguments, also after a reload and to a screen reader.",
  ],
  [
    'PAGE-240',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'The page has English, German, Spanish, French, Portuguese, Hindi, Japanese and Arabic, each complete.',
  ],
  [
    'PAGE-241',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "An approval shows once what is done and with what: arguments with labels, money and dates as people of the page's language write them, a mark if money moves, and until when it can be answered.",
  ],
  [
    'PAGE-242',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "An approval of the company shows as waiting for the company, without a button and without arguments, and then with the company's decision.",
  ],
  [
    'PAGE-243',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    "A fault is shown in the page's language and names no address; a reply that failed can be requested again, and a screen reader announces it.",
  ],
  [
    'PAGE-244',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'The first load is under 200 kB gzipped; what shows a screen is fetched by a session that has one.',
  ],
  [
    'PAGE-760',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'The texts of the page and of calls are idiomatic in each language, with one form of address.',
  ],
  ['PAGE-770', 'docs/session-page.md', 'Everything on the page works with a keyboard alone, and the focus is visible.'],
  [
    'PAGE-771',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'The page has the typeface and the mark of the server. Its typeface loads after its scripts, for the scripts that it has, and text is shown before it arrives.',
  ],
  [
    'PAGE-772',
    'docs/session-page.md',
    'A page of one message has the typeface, the mark and the colours of the others: a chat on a site that may not embed it, an unknown session, an old download, the end of the sign-in of an app.',
  ],
  ['PAGE-245', 'docs/session-reference.md#rules-of-tokens-and-pages', 'The page works in Firefox.'],
  [
    'PAGE-201',
    'docs/session-reference.md#rules-of-tokens-and-pages',
    'After a reload the page of a session has the same conversation, the same unsent text and the same position.',
  ],
  [
    'PAGE-202',
    'docs/embedding.md#3-the-element',
    '`<vestra-session>` and `@vestra/react` ask `getSession()` for the next session before one ends; the page continues with it without a reload.',
  ],
  [
    'PAGE-203',
    'docs/embedding.md',
    'A session that has ended, after sleep or a lost network, is followed by the next; what was sent meanwhile is sent once.',
  ],
  [
    'PAGE-204',
    'docs/embedding.md#without-the-element',
    "A session of another user or conversation, an expired or revoked one, and what comes from another window or origin takes nobody's place.",
  ],
  [
    'PAGE-205',
    'docs/embedding.md#without-the-element',
    'The element emits `ready`, `ended`, `handoff`, `resize` and `unread`; both sides check origin and source.',
  ],
  [
    'PAGE-206',
    'docs/embedding.md#appearance',
    'The page adopts scheme, colours, fonts, radius and language of the page around it, and shows the opening of its session.',
  ],
]);
