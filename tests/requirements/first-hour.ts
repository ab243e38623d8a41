import { area } from '../requirement.ts';

export const firstHour = area('first hour', 'done', [
  [
    'FIRST-700',
    'docs/cli.md#errors',
    'A natural mistake on the command line, in a request or at a start gets a sentence with the next step, no stack and a failing exit code.',
  ],
  [
    'FIRST-701',
    'docs/operating.md#starting-and-stopping',
    'The start checks its address and port before it creates a data folder or a database.',
  ],
  [
    'FIRST-702',
    'docs/operating.md#the-data-folder',
    'A data folder that cannot be created ends the start with one sentence; it never hangs.',
  ],
  [
    'FIRST-703',
    'docs/cli.md#errors',
    'A file that is not YAML gets one fault: the first slip, with its line and a caret.',
  ],
  [
    'FIRST-710',
    'docs/getting-started.md#start-the-server',
    'One minimum version of Node is named everywhere; an older one gets one sentence.',
  ],
  [
    'FIRST-711',
    'docs/sdk.md#install',
    '`@vestra/sdk` and `@vestra/react` are packages without the server. Each installs in an empty folder, type-checks strictly and runs.',
  ],
  ['FIRST-712', 'docs/python.md#install', 'pip alone installs the Python package and builds it.'],
  [
    'FIRST-713',
    'docs/server-reference.md#the-package',
    "The release workflow passes actionlint and GitHub's own parser, and its steps are scripts of this repository.",
  ],
  [
    'FIRST-714',
    'docs/server-reference.md#the-package',
    'Release notes are the section of the changelog for the tag; a tag without one stops the release.',
  ],
  [
    'FIRST-715',
    'docs/server-reference.md#the-package',
    'One program follows Getting started, the README, the five templates and both SDKs in empty folders with the packages alone. Every change and every release runs it.',
  ],
  [
    'FIRST-716',
    'docs/getting-started.md#start-the-server',
    'In a clone, an old Node gets one sentence from `npm install` and `npm start`, before it reads a TypeScript file.',
  ],
  [
    'FIRST-717',
    'docs/server-reference.md#the-package',
    'The release workflow pins every action to a commit, except the publisher of PyPI.',
  ],
  [
    'FIRST-720',
    'docs/cli-agents.md#ask-and-answer',
    'While nobody serves a function, `ask` of the CLI, both SDKs and MCP says how to. It returns the answer once a process does.',
  ],
  [
    'FIRST-790',
    'docs/getting-started.md#from-a-clone',
    'The README shows the console and the chat, light and dark, and the two set-up commands. `npm run pictures` takes the pictures.',
  ],
  ['FIRST-791', 'docs/settings.md', 'The settings page describes every setting.'],
]);
