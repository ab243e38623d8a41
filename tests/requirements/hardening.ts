import { area } from '../requirement.ts';

export const hardening = area('hardening', 'done', [
  [
    'HRD-700',
    'docs/voice-operation.md#sandbox-of-a-call',
    'The process of a call reads its libraries and sends packets; it reaches no data folder, key, environment or database socket, and what it sends to the server is checked.',
  ],
  [
    'HRD-701',
    'docs/voice-operation.md#sandbox-of-a-call',
    'If calls cannot be confined, they are refused with the reason, unless the operator switched the sandbox off.',
  ],
  [
    'HRD-702',
    'docs/backup.md#restoring',
    'A backup with names that lead elsewhere, devices, or links instead of folders is refused with a sentence before anything is written, and homes are unpacked in a sandbox.',
  ],
  [
    'HRD-703',
    'docs/computer-isolation.md#confinement',
    'The kernel bounds the processes of all commands of a computer together, also on a machine without cgroups.',
  ],
  [
    'HRD-704',
    'docs/computer.md#secrets-in-output',
    'A secret is hidden in the output of commands and in results of tool servers as stored, escaped, URL-encoded, as hex and as base64 at any alignment, in time linear in the text.',
  ],
  [
    'HRD-705',
    'docs/mcp-reference.md#write-a-client',
    'Registered clients without a grant push out clients of the same address first, and none of the last ten minutes.',
  ],
  [
    'HRD-708',
    'docs/security.md#bounds-of-a-request',
    'An address without a key has at most 100 unfinished requests in a process, and a body without a key arrives within 30 seconds or the connection is closed.',
  ],
  [
    'HRD-706',
    'docs/several-processes.md#addresses',
    'Forged calls between processes write one line a minute to the log.',
  ],
  ['HRD-707', 'docs/identity-provider.md', 'An ID token from the future, or one that names nobody, signs no one in.'],
  [
    'HRD-711',
    'docs/security.md#bounds-of-a-request',
    'No text takes more than linear time to read: no document, no answer of a tool server, and no reply.',
  ],
  [
    'HRD-710',
    'docs/shares.md#limits-of-callers',
    'In a process, the large bodies that are in progress are bounded for each key, for all sessions of a user, and for each org.',
  ],
  [
    'HRD-709',
    'docs/shares.md#limits-of-callers',
    'The open streams of all keys and sessions of an org are bounded together in a process.',
  ],
]);
