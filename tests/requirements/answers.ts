import { area } from '../requirement.ts';

export const answers = area('answers', 'done', [
  [
    'ANS-001',
    'docs/api/interactions.md#post-v1interactionsinteraction_idanswer',
    '`POST /v1/interactions/{interaction_id}/answer` answers the interaction, resolved.',
  ],
  ['ANS-002', 'docs/interactions.md#kinds', 'An approval takes `approve: true` and the tool runs.'],
  ['ANS-003', 'docs/interactions.md#kinds', 'An approval takes `approve: false` and the tool does not run.'],
  [
    'ANS-004',
    'docs/api/interactions.md#post-v1interactionsinteraction_idanswer',
    'A question accepts `answers`, exactly one per question in order.',
  ],
  ['ANS-005', 'docs/interactions.md#kinds', 'A question accepts `approve: false` as a refusal to answer.'],
  ['ANS-006', 'docs/interactions.md#kinds', 'A hand-off accepts `decision` `done`, `could_not` or `not_now`.'],
  ['ANS-007', 'docs/interactions.md#kinds', 'A hand-off that asks for a value takes `answers`.'],
  [
    'ANS-008',
    'docs/interaction-reference.md#wrong-answers',
    "A tool call accepts `output`, which reaches the agent as the tool's result.",
  ],
  [
    'ANS-009',
    'docs/interaction-reference.md#wrong-answers',
    "A tool call accepts `error`, which reaches the agent as the tool's failure.",
  ],
  [
    'ANS-010',
    'docs/interaction-reference.md#wrong-answers',
    'An approval that moves money or acts for the user without `present_user: true` answers 400 `present_user_required`.',
  ],
  [
    'ANS-011',
    'docs/interaction-reference.md#wrong-answers',
    'An approval that needs a person in person, without `present_user: true`, answers 400 `present_user_required`.',
  ],
  [
    'ANS-012',
    'docs/interaction-reference.md#wrong-answers',
    "Approving a tool of the org's MCP servers without `present_user: true` answers 400 `present_user_required`.",
  ],
  [
    'ANS-013',
    'docs/interaction-reference.md#wrong-answers',
    'Approving a function that is neither read-only nor run-without-asking, without `present_user: true`, answers 400 `present_user_required`.',
  ],
  ['ANS-014', 'docs/interactions.md#approval-requirements', 'A no never needs `present_user`.'],
  [
    'ANS-015',
    'docs/interaction-reference.md#wrong-answers',
    'The yes to a `hands_approval` without its `nonce`, or with another, answers 400 `nonce_mismatch`.',
  ],
  [
    'ANS-016',
    'docs/interactions.md#approval-requirements',
    'Approving an ability install answers 400 `install_ability_instead`; a refusal is accepted.',
  ],
  [
    'ANS-017',
    'docs/interaction-reference.md#wrong-answers',
    'An approval with `answers` answers 400 `answers_not_expected`.',
  ],
  [
    'ANS-018',
    'docs/interaction-reference.md#wrong-answers',
    'An approval with `decision` answers 400 `decision_not_expected`.',
  ],
  [
    'ANS-019',
    'docs/interaction-reference.md#wrong-answers',
    'An approval with `output`, `error` or nothing answers 400 `answer_mismatch`.',
  ],
  [
    'ANS-020',
    'docs/interaction-reference.md#wrong-answers',
    'A question with nothing or `approve: true` answers 400 `answers_required`.',
  ],
  [
    'ANS-021',
    'docs/interaction-reference.md#wrong-answers',
    'A question with the wrong number of answers answers 400 `answers_mismatch`.',
  ],
  [
    'ANS-022',
    'docs/interaction-reference.md#wrong-answers',
    'A question with `decision` answers 400 `decision_not_expected`.',
  ],
  [
    'ANS-023',
    'docs/interaction-reference.md#wrong-answers',
    'A question with `output` or `error` answers 400 `answer_mismatch`.',
  ],
  [
    'ANS-024',
    'docs/interaction-reference.md#wrong-answers',
    'A hand-off with `approve`, `output`, `error` or nothing answers 400 `answer_mismatch`.',
  ],
  [
    'ANS-025',
    'docs/interaction-reference.md#wrong-answers',
    'A tool call with `answers` answers 400 `answers_not_expected`.',
  ],
  [
    'ANS-026',
    'docs/interaction-reference.md#wrong-answers',
    'A tool call with `decision` answers 400 `decision_not_expected`.',
  ],
  [
    'ANS-027',
    'docs/interaction-reference.md#wrong-answers',
    'A tool call with `approve`, with both `output` and `error`, or with nothing answers 400 `answer_mismatch`.',
  ],
  [
    'ANS-028',
    'docs/interaction-reference.md#wrong-answers',
    'A connect interaction with any body answers 400 `connect_app_instead`.',
  ],
  [
    'ANS-029',
    'docs/interaction-reference.md#wrong-answers',
    'Answering a settled interaction answers 409 `already_answered`.',
  ],
  [
    'ANS-030',
    'docs/interaction-reference.md#wrong-answers',
    'Answering an expired interaction answers 409 `interaction_expired`.',
  ],
  [
    'ANS-031',
    'docs/interaction-reference.md#wrong-answers',
    'If two answers come at once, exactly one wins; the other gets 409 `already_answered`.',
  ],
  [
    'ANS-032',
    'docs/interaction-reference.md#sources-of-interactions',
    'A `plan_limit` is read only: every answer to it is refused.',
  ],
]);
