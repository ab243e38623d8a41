import { area } from '../requirement.ts';

export const tenancy = area('tenancy', 'done', [
  [
    'TEN-001',
    'docs/requests.md#ids',
    'Every id is its prefix, an underscore and 24 characters of base32, and ids sort by their time of making.',
  ],
  [
    'TEN-002',
    'docs/requests.md#ids',
    'Each resource has the prefix the table of names gives it (`org_ dep_ scn_ trun_ nb_ doc_ skl_ mcp_ conv_ turn_ msg_ task_ int_ call_ bat_ rtn_ mem_ file_ ses_ whk_ whd_ evt_ key_ mbr_ con_ req_ li_ aud_`).',
  ],
  ['TEN-003', 'docs/modes.md', 'One server serves many orgs at once.'],
  [
    'TEN-004',
    'docs/requests.md#org-and-mode',
    'Reading, changing or deleting a row of another org answers 404 on every route, never 403.',
  ],
  ['TEN-005', 'docs/requests.md#org-and-mode', 'No list shows a row of another org.'],
  [
    'TEN-006',
    'docs/modes.md#shared-between-modes',
    'Deployments, versions, scenarios, test runs, notebooks, skills, MCP servers, the org record and members are the same in both modes.',
  ],
  [
    'TEN-007',
    'docs/modes.md',
    'Users of one mode are not seen from the other, and the same user id may exist in both.',
  ],
  ['TEN-008', 'docs/modes.md', 'Conversations, tasks and interactions of one mode answer 404 from the other.'],
  ['TEN-009', 'docs/modes.md', 'Batches and routines of one mode answer 404 from the other.'],
  [
    'TEN-010',
    'docs/modes.md#data-separate-per-mode',
    'Memory, files and sessions of one mode are not reached from the other.',
  ],
  [
    'TEN-011',
    'docs/modes.md#data-separate-per-mode',
    'Webhooks and events of one mode are not reached from the other.',
  ],
  ['TEN-012', 'docs/modes.md#data-separate-per-mode', 'Secrets of one mode are not used in the other.'],
  ['TEN-013', 'docs/modes.md#data-separate-per-mode', 'Keys are listed and managed per mode.'],
  ['TEN-014', 'docs/modes.md#data-separate-per-mode', 'Wallet and usage are separate per mode.'],
  ['TEN-015', 'docs/modes.md#data-separate-per-mode', 'App connections of one mode are not reached from the other.'],
  ['TEN-016', 'docs/modes.md', "A test key's message runs the deployment's `draft_version`."],
  ['TEN-017', 'docs/modes.md', "A live key's message runs the deployment's `live_version`."],
  [
    'TEN-018',
    'docs/modes.md',
    'A live call on a deployment whose `live_version` is null answers 409 `deployment_not_live`.',
  ],
  ['TEN-019', 'docs/modes.md', 'A new conversation on an archived deployment answers 409 `deployment_archived`.'],
  [
    'TEN-020',
    'docs/requests.md#org-and-mode',
    '`Service-Mode` that differs from the mode of the key answers 400 `invalid_mode`.',
  ],
  [
    'TEN-021',
    'docs/requests.md#org-and-mode',
    "`Service-Org` naming another org than the key's answers 403 `org_mismatch`.",
  ],
  [
    'TEN-022',
    'docs/requests.md#org-and-mode',
    'For a console member `Service-Org` and `Service-Mode` choose the org and the mode acted in.',
  ],
  ['TEN-023', 'docs/modes.md', '`name@3` in a request that names a deployment pins that version for the conversation.'],
  ['TEN-024', 'docs/modes.md', 'A pinned version that does not exist answers 400 `invalid_deployment`.'],
  [
    'TEN-025',
    'docs/requests.md#org-and-mode',
    '`Service-Mode` of any value but `live` or `test` answers 400 `invalid_mode`.',
  ],
  [
    'TEN-026',
    'docs/requests.md#org-and-mode',
    '`Service-Org` that is not shaped like an org id answers 400 `invalid_org_header`.',
  ],
  ['TEN-027', 'docs/modes.md', '`GET /v1/me` reports the mode of the key.'],
  [
    'TEN-028',
    'docs/modes.md',
    'A deployment made with a live key is seen with a test key, and runs there at its draft.',
  ],
  [
    'TEN-221',
    'docs/architecture.md#tenancy',
    'Callers of several orgs, modes or sessions whose reads of one conversation are joined into one are each shown their own or 404.',
  ],
  [
    'TEN-029',
    'docs/modes.md',
    '`vestra admin org create --name …` creates a further org; with `--json` it prints `{org_id, test_key, live_key, owner}`.',
  ],
  [
    'TEN-201',
    'docs/modes.md#data-separate-per-mode',
    '`PATCH /v1/org` (except `name`) and `PATCH /v1/limits` apply to the mode of the key only.',
  ],
  ['TEN-202', 'docs/modes.md#data-separate-per-mode', "`GET /v1/me` shows the org's new name with the next call."],
  [
    'TEN-203',
    'docs/modes.md#shared-between-modes',
    'A deployment with a live version is archived and brought back by a live key alone: 403 `live_key_required`.',
  ],
  [
    'TEN-204',
    'docs/modes.md#shared-between-modes',
    'A version with `memory: customer` goes live only if live mode has a `memory_endpoint`: 400 `memory_endpoint_required`.',
  ],
  [
    'TEN-205',
    'docs/modes.md#the-default-deployment',
    'The first promotion with a test key gives the test mode its default, one with a live key both modes that have none.',
  ],
  [
    'TEN-207',
    'docs/modes.md#shared-between-modes',
    'A test run that a live key began is cancelled by a live key alone: 403 `live_key_required`.',
  ],
  [
    'TEN-520',
    'docs/architecture.md#tenancy',
    'If several callers ask for their org at the same moment, each sees its own org and mode, with its own settings and balance.',
  ],
]);
