import { area } from '../requirement.ts';

export const voice = area('voice', 'done', [
  [
    'VOI-001',
    'docs/api/sessions.md#voicecall',
    '`POST /v1/sessions/{id}/voice` with a session token takes `{sdp}` and answers `{object: voice_call, sdp, ends_at}`.',
  ],
  [
    'VOI-002',
    'docs/voice.md#rules-of-a-call',
    'Voice on a session without a conversation answers 400 `conversation_required`.',
  ],
  ['VOI-003', 'docs/voice.md#rules-of-a-call', 'The call ends at `ends_at`.'],
  ['VOI-004', 'docs/voice.md#rules-of-a-call', 'A voice call without `sdp` answers 400 `sdp_required`.'],
  ['VOI-005', 'docs/voice.md#rules-of-a-call', 'A session without `voice` accepts no call.'],
  ['VOI-006', 'docs/voice.md#rules-of-a-call', "The same agent answers a call in the session's conversation."],
  ['VOI-007', 'docs/voice.md#end-of-a-call', 'The cost of a call is charged as `voice`.'],
  [
    'VOI-260',
    'docs/voice.md#turns',
    'The agent is silent while the person speaks, and answers once they have finished.',
  ],
  [
    'VOI-261',
    'docs/voice.md#turns',
    'The agent stops at once when a person speaks, and text that it had not spoken does not count as spoken.',
  ],
  [
    'VOI-262',
    'docs/voice.md#turns',
    'A reply is read aloud sentence by sentence while it is written, without signs that nobody speaks.',
  ],
  [
    'VOI-263',
    'docs/voice.md#approvals',
    'An approval is asked aloud and shown; a spoken approval counts only if nothing requires one on the page, a refusal always.',
  ],
  ['VOI-264', 'docs/voice.md#end-of-a-call', 'A cap that is reached in the middle of a call ends it with a sentence.'],
  [
    'VOI-265',
    'docs/voice.md#end-of-a-call',
    'A call ends when nobody speaks, when its process dies, and when its session is revoked or over.',
  ],
  [
    'VOI-266',
    'docs/voice.md#set-up-voice',
    'Without its packages the route answers 503 `model_unavailable` with a sentence about what to do.',
  ],
  [
    'VOI-267',
    'docs/voice.md#speech',
    "A vendor's realtime API hears and speaks instead of the packages if it is configured.",
  ],
  [
    'VOI-268',
    'docs/voice.md#on-the-page',
    'The session page makes a call by mouse and by keyboard and shows whose turn it is.',
  ],
  ['VOI-269', 'docs/voice.md#end-of-a-call', 'A call ends when another of its session begins, in whichever process.'],
  [
    'VOI-420',
    'docs/voice.md#end-of-a-call',
    'If several calls of one session begin at the same moment, in any processes, exactly one stays.',
  ],
  [
    'VOI-421',
    'docs/voice.md#turns',
    'A reply that follows an interruption is said whole, also while the voice is still at what was broken off.',
  ],
  [
    'VOI-422',
    'docs/voice-operation.md#behind-a-firewall',
    'A session with voice gets the STUN and TURN servers, with a password that is valid until it ends; nobody else does.',
  ],
  [
    'VOI-440',
    'docs/voice.md#on-the-page',
    'The page shows that a muted person is not heard, and why each call ended, also if another window took it.',
  ],
  [
    'VOI-441',
    'docs/voice-operation.md#several-processes',
    'Which process holds a call does not matter: what is typed, capped or revoked at another reaches it, and what is said in it is read at any.',
  ],
  ['VOI-270', 'docs/voice.md#end-of-a-call', 'A call whose process dies is over, and no other notices.'],
  [
    'VOI-531',
    'docs/voice.md#end-of-a-call',
    'The page of a call whose server is killed learns it at once and can call again; no process of the call is left behind.',
  ],
  [
    'VOI-532',
    'docs/voice-operation.md#several-processes',
    'After a server was killed the next call is answered by one that is left, with what was said and charged before.',
  ],
  [
    'VOI-533',
    'docs/voice.md#on-the-page',
    'While the network of a call is gone the page shows that it is connecting, not that it listens.',
  ],
  [
    'VOI-534',
    'docs/voice.md#turns',
    'The first words of a reply are said as soon as they are there, up to its first comma.',
  ],
  [
    'VOI-551',
    'docs/voice.md#set-up-voice',
    'A process holds a fixed number of calls, three quarters of them for one org; the next is told when to try again, and a session that calls again counts once.',
  ],
  ['VOI-535', 'docs/voice.md#speech', 'Speech is stored in no file, and the models leave with their folder.'],
  [
    'VOI-610',
    'docs/voice.md#set-up-voice',
    'A process starts one call of a session at a time; the session gets 429 `rate_limited` beyond a few offers a minute, and its calls count in the share of its org.',
  ],
  [
    'VOI-611',
    'docs/voice-operation.md#addresses',
    'A call sends packets only to addresses that the server may call, by UDP; its answer names no TCP port, no loopback address and no address behind a translated one.',
  ],
  [
    'VOI-612',
    'docs/voice.md#rules-of-a-call',
    'An offer that WebRTC cannot read, such as one with a malformed fingerprint, answers 400 `sdp_required`.',
  ],
  [
    'VOI-620',
    'docs/voice.md#on-the-page',
    'The page shows the words of the user at each pause of their speech, and each sentence of the agent when it is heard.',
  ],
  [
    'VOI-621',
    'docs/voice.md#on-the-page',
    'While the agent listens, a meter on the page follows the loudness of the microphone. Whose turn it is is shown and announced.',
  ],
  [
    'VOI-622',
    'docs/voice.md#turns',
    'A pause in the middle of a sentence does not end the turn if the words so far are unfinished, whatever sign the recogniser puts behind them.',
  ],
]);
