import { area } from '../requirement.ts';

export const reasoning = area('reasoning', 'done', [
  [
    'RSN-001',
    'docs/reasoning-and-pictures.md#reasoning',
    "The server sends a model's reasoning back to it unchanged and in its place, from step to step and from turn to turn.",
  ],
  [
    'RSN-002',
    'docs/reasoning-and-pictures.md#reasoning',
    "A model's reasoning goes to no other model: it is dropped if the model changes.",
  ],
  [
    'RSN-003',
    'docs/reasoning-and-pictures.md#vendor-refusals',
    'If a vendor refuses reasoning, the server sends the request once more without it, before anything was said.',
  ],
  [
    'RSN-004',
    'docs/reasoning-and-pictures.md#reasoning',
    'At most 256 KB of reasoning of one answer is stored, all of it or nothing.',
  ],
  [
    'RSN-005',
    'docs/reasoning-and-pictures.md#vendor-refusals',
    'Claude from 5.1 on is asked to leave out thoughts that no longer fit what stands before them.',
  ],
  [
    'RSN-006',
    'docs/reasoning-and-pictures.md#reasoning',
    "A model's reasoning is stored with its step and goes back to it after the process was killed.",
  ],
  [
    'RSN-007',
    'docs/reasoning-and-pictures.md#reasoning',
    "A model's reasoning is in no response, event, trace, span, log or transcript.",
  ],
  [
    'RSN-008',
    'docs/reasoning-and-pictures.md#reasoning',
    "A model's reasoning is erased with the conversation, and with its step when traces are pruned.",
  ],
  [
    'RSN-009',
    'docs/reasoning-and-pictures.md#vendor-refusals',
    'A call that never had a result is sent to a model with a result that says so.',
  ],
  [
    'RSN-010',
    'docs/reasoning-and-pictures.md#answers-that-are-cut-off',
    'An answer that reached its length limit is continued once, is one text, and is marked only if that did not help.',
  ],
]);
