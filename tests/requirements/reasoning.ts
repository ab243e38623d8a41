import { area } from '../requirement.ts';

export const reasoning = area('reasoning', 'done', [
  [
    'RSN-001',
    'docs/reasoning-and-pictures.md#reasoning',
    'What a model thought goes back to it unchanged and in its place, from step to step and from turn to turn.',
  ],
  [
    'RSN-002',
    'docs/reasoning-and-pictures.md#reasoning',
    'What a model thought goes to no other model: it is dropped where the model changes.',
  ],
  [
    'RSN-003',
    'docs/reasoning-and-pictures.md#what-a-vendor-refuses',
    'Where a vendor refuses what was thought, it is asked once more without any of it, before anything was said.',
  ],
  [
    'RSN-004',
    'docs/reasoning-and-pictures.md#reasoning',
    'Of one answer at most 256 KB of reasoning are kept, all of it or nothing.',
  ],
  [
    'RSN-005',
    'docs/reasoning-and-pictures.md#what-a-vendor-refuses',
    'Claude from 5.1 on is asked to leave out thoughts that no longer fit what stands before them.',
  ],
  [
    'RSN-006',
    'docs/reasoning-and-pictures.md#reasoning',
    'What a model thought is stored with its step and goes back to it after the process was killed.',
  ],
  [
    'RSN-007',
    'docs/reasoning-and-pictures.md#reasoning',
    'What a model thought is in no answer, event, trace, span, log or transcript.',
  ],
  [
    'RSN-008',
    'docs/reasoning-and-pictures.md#reasoning',
    'What a model thought is erased with the conversation, and with its step when traces are pruned.',
  ],
  [
    'RSN-009',
    'docs/reasoning-and-pictures.md#what-a-vendor-refuses',
    'A call that never had a result is shown to a model with one that says so.',
  ],
  [
    'RSN-010',
    'docs/reasoning-and-pictures.md#answers-that-are-cut-off',
    'An answer that ran into its limit of length is gone on with once, is one text, and is marked only where that did not help.',
  ],
]);
