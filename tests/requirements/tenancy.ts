import { area } from '../requirement.ts';

export const tenancy = area('tenancy', 'done', [
  [
    'TEN-001',
    'decisions.md · 1',
    'Every id is its prefix, an underscore and 24 characters of base32, and ids sort by their time of making.',
  ],
  [
    'TEN-002',
    'decisions.md · 1',
    'Each resource has the prefix the table of names gives it (`org_ dep_ scn_ trun_ nb_ doc_ skl_ mcp_ conv_ turn_ msg_ task_ int_ call_ bat_ rtn_ mem_ file_ ses_ whk_ whd_ evt_ key_ mbr_ con_ req_ li_ aud_`).',
  ],
  ['TEN-003', 'decisions.md · 2', 'One server serves many orgs at once.'],
  [
    'TEN-004',
    'decisions.md · 2',
    'Reading, changing or deleting a row of another org answers 404 on every route, never 403.',
  ],
  ['TEN-005', 'decisions.md · 2', 'No list shows a row of another org.'],
  [
    'TEN-006',
    'decisions.md · 2',
    'Deployments, versions, scenarios, test runs, notebooks, skills, MCP servers, the org record and members are the same in both modes.',
  ],
  [
    'TEN-007',
    'decisions.md · 2',
    'Users of one mode are not seen from the other, and the same user id may exist in both.',
  ],
  ['TEN-008', 'decisions.md · 2', 'Conversations, tasks and interactions of one mode answer 404 from the other.'],
  ['TEN-009', 'decisions.md · 2', 'Batches and routines of one mode answer 404 from the other.'],
  ['TEN-010', 'decisions.md · 2', 'Memory, files and sessions of one mode are not reached from the other.'],
  ['TEN-011', 'decisions.md · 2', 'Webhooks and events of one mode are not reached from the other.'],
  ['TEN-012', 'decisions.md · 2', 'Secrets of one mode are not used in the other.'],
  ['TEN-013', 'decisions.md · 2', 'Keys are listed and managed per mode.'],
  ['TEN-014', 'decisions.md · 2', 'Wallet and usage are kept per mode.'],
  ['TEN-015', 'decisions.md · 2', 'App connections of one mode are not reached from the other.'],
  ['TEN-016', 'decisions.md · 2', "A test key's message runs the deployment's `draft_version`."],
  ['TEN-017', 'decisions.md · 2', "A live key's message runs the deployment's `live_version`."],
  [
    'TEN-018',
    'decisions.md · 2',
    'A live call on a deployment whose `live_version` is null answers 409 `deployment_not_live`.',
  ],
  ['TEN-019', 'decisions.md · 2', 'A new conversation on an archived deployment answers 409 `deployment_archived`.'],
  ['TEN-020', 'decisions.md · 2', '`Service-Mode` that differs from the mode of the key answers 400 `invalid_mode`.'],
  ['TEN-021', 'decisions.md · 2', "`Service-Org` naming another org than the key's answers 403 `org_mismatch`."],
  [
    'TEN-022',
    'decisions.md · 2',
    'For a console member `Service-Org` and `Service-Mode` choose the org and the mode acted in.',
  ],
  [
    'TEN-023',
    'decisions.md · 2',
    '`name@3` where a request names a deployment pins that version for the conversation.',
  ],
  ['TEN-024', 'decisions.md · 2', 'A pinned version that does not exist answers 400 `invalid_deployment`.'],
  [
    'TEN-025',
    'runtime.md · Authentication',
    '`Service-Mode` of any value but `live` or `test` answers 400 `invalid_mode`.',
  ],
  [
    'TEN-026',
    'runtime.md · Authentication',
    '`Service-Org` that is not shaped like an org id answers 400 `invalid_org_header`.',
  ],
  ['TEN-027', 'runtime.md · Authentication', '`GET /v1/me` reports the mode of the key.'],
  [
    'TEN-028',
    'decisions.md · 9',
    'A deployment made with a live key is seen with a test key, and runs there at its draft.',
  ],
  [
    'TEN-221',
    'architecture.md · Hot paths',
    'Callers of several orgs, modes or sessions whose reads of one conversation are joined into one are each shown their own or 404.',
  ],
  [
    'TEN-029',
    'decisions.md · 10',
    '`vestra admin org create --name …` makes a further org; with `--json` it prints `{org_id, test_key, live_key, owner}`.',
  ],
  [
    'TEN-201',
    'decisions.md · 11',
    'What `PATCH /v1/org` (but `name`) and `PATCH /v1/limits` set holds in the mode of the key alone.',
  ],
  ['TEN-202', 'decisions.md · 11', "`GET /v1/me` shows the org's new name with the next call."],
  [
    'TEN-203',
    'decisions.md · 11',
    'A deployment with a live version is archived and brought back by a live key alone: 403 `live_key_required`.',
  ],
  [
    'TEN-204',
    'decisions.md · 11',
    'A version with `memory: customer` goes live only where live mode has a `memory_endpoint`: 400 `memory_endpoint_required`.',
  ],
  [
    'TEN-205',
    'decisions.md · 11',
    'The first promotion with a test key gives the test mode its default, one with a live key both modes that have none.',
  ],
  [
    'TEN-207',
    'decisions.md · 11',
    'A test run that a live key began is cancelled by a live key alone: 403 `live_key_required`.',
  ],
  [
    'TEN-520',
    'decisions.md · 2',
    'Of callers who ask for their org at the same moment, each is shown its own org and mode, with its own settings and balance.',
  ],
]);
