import { area } from '../requirement.ts';

export const packages = area('package', 'done', [
  [
    'PKG-001',
    'docs/server-reference.md#the-package',
    'The package `vestra` installs with scripts off into an empty folder: at most 130 MB beside your own database and 230 MB with the embedded one.',
  ],
  [
    'PKG-002',
    'docs/server-reference.md#the-package',
    'The package runs on Node 22 and 24: what Node 22 lacks has a stand-in with the same result.',
  ],
  [
    'PKG-003',
    'docs/server-reference.md#the-package',
    '`vestra start` from the package is the server itself: it answers, searches, reads documents, and ends on SIGTERM with its database.',
  ],
  [
    'PKG-004',
    'docs/server-reference.md#the-package',
    'The package holds the session page and the API reference built; no file of theirs comes from elsewhere.',
  ],
  [
    'PKG-005',
    'docs/server-reference.md#the-package',
    'Without an embedded database and without DATABASE_URL, the start prints in one sentence what to set or install; with DATABASE_URL it runs.',
  ],
  [
    'PKG-006',
    'docs/server-reference.md#the-package',
    'If the pages are not built, the operator is told at the start and no customer reads a command.',
  ],
  [
    'PKG-007',
    'docs/server-reference.md#the-package',
    'The command line and the SDK of the package work in your own folder.',
  ],
  [
    'PKG-008',
    'docs/server-reference.md#the-package',
    'Nothing that is installed with the package or bundled into it is under a copyleft licence.',
  ],
  [
    'PKG-531',
    'docs/server-reference.md#the-package',
    'Until its first answer a start reads at most 2.5 MB of code in at most 60 files: what that answer does not need comes with its first use.',
  ],
  [
    'PKG-551',
    'docs/server-reference.md#the-package',
    "A start uses Node's parts as Node compiled them: until it is over no flag is set that makes V8 refuse them.",
  ],
  [
    'PKG-552',
    'docs/server-reference.md#the-package',
    'The pages of the package are those for people who use them, whatever NODE_ENV it was built under.',
  ],
  [
    'PKG-553',
    'docs/server-reference.md#the-package',
    'On Linux, the threads of the server share one area of memory, so that what they return is used again.',
  ],
  [
    'PKG-532',
    'docs/server-reference.md#the-package',
    'Building again never takes a page away from a server that runs from the same tree.',
  ],
  [
    'PKG-320',
    'docs/sdk.md',
    'The package `@vestra/sdk` runs under plain Node, imported or required, without TypeScript and zod; all that runs anywhere is in its root.',
  ],
  [
    'PKG-321',
    'docs/sdk.md#types',
    'Its types hold in a strict project: events and interactions are known by their `type`, resources have names, codes are completed; every block of its page compiles.',
  ],
  ['PKG-322', 'docs/sdk.md', "An editor shows the contract's description of every call and of each option."],
  ['PKG-323', 'docs/sdk.md', 'Every block of its page runs against a server.'],
  [
    'PKG-324',
    'docs/sdk.md',
    'The built package can be published: it names its sources, has public access with provenance, version ranges and its page, and contains no test file.',
  ],
  [
    'PKG-660',
    'docs/getting-started.md#start-the-server',
    'On a Node older than 22.18 the command prints one sentence with both versions and ends with 1.',
  ],
]);
