import { area } from '../requirement.ts';

export const memory = area('memory', 'done', [
  ['MEM-001', 'docs/api/memory.md#memory', 'An item shows `id` (`mem_`), `text`, `kind`, `source`, `observed_at`.'],
  [
    'MEM-002',
    'docs/api/memory.md#post-v1memory',
    '`kind` is one of `identity`, `relationship`, `commitment`, `preference`, `project_state`, `other`.',
  ],
  [
    'MEM-003',
    'docs/api/memory.md#memory',
    '`source` is one of `user_direct`, `tool_observed`, `upload`, `screen`, `agent_inferred`.',
  ],
  [
    'MEM-004',
    'docs/memory-endpoint.md#the-endpoint',
    '`profile` is `{markdown, updated_at}` or null; `updated_at` may be null.',
  ],
  [
    'MEM-005',
    'docs/api/memory.md#get-v1memory',
    '`GET /v1/memory` answers `{profile, data, next_cursor}` with items newest first.',
  ],
  ['MEM-006', 'docs/memory.md#rules-of-the-routes', "Memory routes without `user_id` mean the org's own agent."],
  [
    'MEM-007',
    'docs/api/memory.md#post-v1memory',
    '`POST /v1/memory` accepts `text` (1 to 1000, required) and `kind` (`other` when absent) and answers 201 with the item.',
  ],
  [
    'MEM-008',
    'docs/memory.md#rules-of-the-routes',
    'A bad memory (empty or over 1000 characters, unknown kind) answers 400 `invalid_memory`.',
  ],
  [
    'MEM-009',
    'docs/api/memory.md#get-v1memorysearch',
    '`GET /v1/memory/search` accepts `q` of 1 to 500 and answers `{query, found, text}`.',
  ],
  ['MEM-010', 'docs/memory.md#rules-of-the-routes', 'A search without `q` answers 400 `query_required`.'],
  [
    'MEM-011',
    'docs/api/memory.md#delete-v1memorymemory_id',
    '`DELETE /v1/memory/{memory_id}` answers `{id, deleted: true}` and the agent no longer knows it.',
  ],
  [
    'MEM-012',
    'docs/api/memory.md#delete-v1memory',
    '`DELETE /v1/memory` answers `{user_id, deleted: true, memories_deleted}` with the number removed.',
  ],
  [
    'MEM-013',
    'docs/memory-endpoint.md#the-endpoint',
    'Customer memory without an endpoint answers 400 `memory_endpoint_required`.',
  ],
  ['MEM-014', 'docs/memory.md#rules-of-the-routes', "Memory of one user never reaches another user's agent."],
  [
    'MEM-015',
    'docs/memory.md#rules-of-the-routes',
    "A fact remembered in one conversation is known in the user's next.",
  ],
  ['MEM-016', 'docs/memory.md', 'With `memory: none` the agent stores and recalls nothing.'],
  [
    'MEM-017',
    'docs/memory.md#rules-of-the-routes',
    "With customer memory the org's endpoint is called with `POST {action, user_id, …}`, action `list`, `search`, `add`, `delete` or `delete_all`.",
  ],
  ['MEM-018', 'docs/memory.md#rules-of-the-routes', 'Calls to the memory endpoint are signed like a webhook.'],
  [
    'MEM-019',
    'docs/memory.md#rules-of-the-routes',
    'A memory endpoint that gives no good answer within 5 seconds answers 502 `memory_endpoint_error`.',
  ],
  [
    'MEM-020',
    'docs/memory.md#rules-of-the-routes',
    '`found` is a boolean and `text` the best facts joined by new lines, null when nothing was found.',
  ],
  ['MEM-021', 'docs/memory.md#rules-of-the-routes', 'An unknown memory answers 404 `memory_not_found`.'],
  ['MEM-301', 'docs/memory.md#stored-facts', 'A fact that is stored again without a kind keeps the kind that it has.'],
  [
    'MEM-302',
    'docs/memory.md#source-of-a-fact',
    'Facts from a tool, a file or a page are stored as `tool_observed`, `upload` or `screen`, and never as `user_direct`.',
  ],
  [
    'MEM-303',
    'docs/memory.md#extraction',
    'A conversation counts as read once the model has answered and its facts are stored, both or neither.',
  ],
  [
    'MEM-304',
    'docs/memory.md#extraction',
    'A look that failed, for the model or for money, is tried again later; a long conversation is read in further passes to its end.',
  ],
  [
    'MEM-305',
    'docs/memory-endpoint.md#the-endpoint',
    'A memory endpoint that failed is not asked on behalf of an agent for a minute; the agent learns that it cannot look memory up.',
  ],
  [
    'MEM-719',
    'docs/memory-endpoint.md#the-endpoint',
    'The memory endpoint stays set while a deployment of the mode leaves memory to the customer, and an agent learns that it cannot be reached.',
  ],
  [
    'MEM-306',
    'docs/memory-endpoint.md#the-endpoint',
    'The secret of the memory endpoint is rolled by the API, and shown by no other call.',
  ],
  [
    'MEM-307',
    'docs/memory-endpoint.md#the-endpoint',
    "Erasing a user has the org's memory endpoint delete their facts, retried for a day before the user is gone.",
  ],
  [
    'MEM-640',
    'docs/memory.md#deleting-memories',
    'A deleted memory is not learned again from anything said before the deletion; what the user says later is learned.',
  ],
  [
    'MEM-641',
    'docs/memory.md#rules-of-the-routes',
    'An extraction in flight, one that is retried and a task that continues learn nothing from before a deletion or an erasure.',
  ],
  [
    'MEM-642',
    'docs/memory.md#deleting-memories',
    'The agent cannot remember again what it read before a deletion, until the user says it again.',
  ],
  [
    'MEM-643',
    'docs/memory.md#deleting-memories',
    'Neither a change of `memory_mode` after a deletion nor one during a look brings facts back.',
  ],
  [
    'MEM-644',
    'docs/memory.md#deleting-memories',
    'After a deletion was sent to the memory endpoint, it gets no fact that was learned from earlier text.',
  ],
  ['MEM-700', 'docs/memory.md#rules-of-the-routes', 'A memory endpoint may use its own ids of 1 to 128 characters.'],
  [
    'MEM-701',
    'docs/memory.md#rules-of-the-routes',
    'An item of a memory endpoint that is not a fact is dropped, and the rest of the list is shown.',
  ],
]);
