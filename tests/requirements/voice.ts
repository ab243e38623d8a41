import { area } from '../requirement.ts';

export const voice = area('voice', 'open', [
  [
    'VOI-001',
    'decisions.md · 7',
    '`POST /v1/sessions/{id}/voice` with a session token takes `{sdp}` and answers `{object: voice_call, sdp, ends_at}`.',
  ],
  ['VOI-002', 'decisions.md · 7', 'Voice on a session without a conversation answers 400 `conversation_required`.'],
  ['VOI-003', 'decisions.md · 7', 'The call ends at `ends_at`.'],
  ['VOI-004', 'runtime.md · Errors', 'A voice call without `sdp` answers 400 `sdp_required`.'],
  ['VOI-005', 'runtime.md · Sessions', 'A session without `voice` takes no call.'],
  [
    'VOI-006',
    'runtime.md · Sessions',
    "What is said in a call is answered by the same agent in the session's conversation.",
  ],
  ['VOI-007', 'runtime.md · Conversation', 'The cost of a call is charged as `voice`.'],
]);
