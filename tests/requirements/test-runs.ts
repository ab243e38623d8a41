import { area } from '../requirement.ts';

export const testRuns = area('test-runs', 'done', [
  [
    'TRUN-001',
    'docs/api/test-runs.md#post-v1deploymentsdeployment_idtest-runs',
    '`POST /v1/deployments/{name}/test-runs` plays every scenario against the latest version.',
  ],
  [
    'TRUN-002',
    'docs/api/test-runs.md#get-v1test-runsrun_id',
    '`GET /v1/test-runs/{run_id}` gives a verdict per scenario.',
  ],
  [
    'TRUN-003',
    'docs/test-reference.md#restarts-and-cancelling',
    'A run that a restart cut off continues by itself, and `resumes` counts how often.',
  ],
  ['TRUN-004', 'docs/api/test-runs.md#testrun', '`error_code` is why a run ended in error.'],
  ['TRUN-005', 'docs/test-reference.md#the-verdict', 'Finished scenarios are not played again when a run resumes.'],
  ['TRUN-006', 'docs/test-reference.md#the-verdict', 'A scenario passes only when every success criterion is met.'],
  ['TRUN-007', 'docs/test-reference.md#the-verdict', 'A scenario fails when any `must_never` line is broken.'],
  [
    'TRUN-008',
    'docs/tests.md#simulated-tools',
    "A declared tool in a test answers its `tool_results` entry and the caller's code is not called.",
  ],
  ['TRUN-009', 'docs/tests.md#simulated-tools', 'A tool with no `tool_results` entry answers an error in a test.'],
  [
    'TRUN-010',
    'docs/tests.md#simulated-tools',
    'An MCP tool is never run for real in a test unless the server marks it read-only.',
  ],
  [
    'TRUN-011',
    'docs/tests.md#simulated-tools',
    "With `approves: true` the test user approves tools of the deployment's own MCP servers.",
  ],
  [
    'TRUN-012',
    'docs/tests.md#simulated-tools',
    'An approved MCP tool in a test plays its `tool_results` entry or does not run.',
  ],
  ['TRUN-013', 'docs/tests.md#simulated-tools', 'With `approves` absent or false the test user denies each approval.'],
  [
    'TRUN-014',
    'docs/tests.md#simulated-tools',
    'Any other wait for approval is declined in a test, also with `approves: true`.',
  ],
  [
    'TRUN-015',
    'docs/tests.md#simulated-tools',
    'A routine asked for in a test is answered as if made, and nothing is scheduled.',
  ],
  ['TRUN-016', 'docs/tests.md#simulated-tools', 'The test user sees only routines made in that test.'],
  [
    'TRUN-017',
    'docs/api/test-runs.md#testrun',
    'A run is `{object: test_run, id, deployment_id, version, mode, status, promote_on_pass, counts, results, resumes, error_code, cost_usd, created_at, started_at, finished_at}`.',
  ],
  [
    'TRUN-018',
    'docs/test-reference.md#the-verdict',
    '`status` of a run goes `queued`, `running`, then `passed`, `failed`, `error` or `cancelled`.',
  ],
  [
    'TRUN-019',
    'docs/api/test-runs.md#testrunevent',
    '`counts` holds `total`, `queued`, `running`, `passed`, `failed`, `error`, and they add up.',
  ],
  [
    'TRUN-020',
    'docs/api/test-runs.md#testrun',
    'A result is `{scenario_id, name, status, criteria, must_never, conversation_id, transcript, duration_ms, cost_usd, error_code}`.',
  ],
  [
    'TRUN-021',
    'docs/api/test-runs.md#testrunevent',
    '`criteria` of a result are `{text, met, reason}`, one per success criterion in order.',
  ],
  [
    'TRUN-022',
    'docs/api/test-runs.md#testrunevent',
    '`must_never` of a result are `{text, broken, reason}`, one per line in order.',
  ],
  ['TRUN-023', 'docs/test-reference.md#the-verdict', '`transcript` of a result is `{role, text}` in the order spoken.'],
  ['TRUN-024', 'docs/test-reference.md#the-verdict', 'Creating a run answers 202 with the run.'],
  [
    'TRUN-025',
    'docs/api/test-runs.md#get-v1deploymentsdeployment_idtest-runs',
    "`GET /v1/deployments/{id}/test-runs` lists the deployment's runs.",
  ],
  [
    'TRUN-026',
    'docs/api/test-runs.md#post-v1test-runsrun_idcancel',
    '`POST /v1/test-runs/{id}/cancel` ends a run as `cancelled`.',
  ],
  ['TRUN-027', 'docs/test-reference.md#the-verdict', 'A test plays at most 12 exchanges.'],
  ['TRUN-028', 'docs/test-reference.md#the-verdict', 'A criterion the judge cannot decide counts as not met.'],
  ['TRUN-029', 'docs/test-reference.md#the-verdict', 'A scenario without criteria does not pass.'],
  ['TRUN-030', 'docs/tests.md#simulated-tools', 'Test conversations appear in no conversation or task list.'],
  ['TRUN-031', 'docs/tests.md#simulated-tools', 'Users of tests appear in no user list and no user count.'],
  ['TRUN-032', 'docs/tests.md#simulated-tools', 'Test conversations send no webhooks.'],
  ['TRUN-033', 'docs/api/test-runs.md#testrunevent', 'The cost of a run is charged and shown in `cost_usd`.'],
  [
    'TRUN-034',
    'docs/test-reference.md#the-verdict',
    'A run with `promote_on_pass` promotes its version when it passes, and only then.',
  ],
  [
    'TRUN-035',
    'docs/test-reference.md#the-verdict',
    'In live mode a verdict by `offline` never promotes: the run ends `error` with `error_code: no_judge_model`.',
  ],
  [
    'TRUN-036',
    'docs/test-reference.md#the-verdict',
    'A run of a deployment without scenarios answers 400 `invalid_request`.',
  ],
  ['TRUN-037', 'docs/test-reference.md#the-verdict', 'The end of a run emits `test_run.completed`.'],
  ['TRUN-038', 'docs/api/test-runs.md#get-v1test-runsrun_id', 'An unknown run id answers 404 `test_run_not_found`.'],
  [
    'TRUN-039',
    'docs/tests.md#following-a-run',
    '`GET /v1/test-runs/{id}/events` streams the state of a run, then each change, and ends with `test_run.completed`.',
  ],
  [
    'TRUN-141',
    'docs/tests.md#simulated-tools',
    'A test of a version with an unreachable server ends in `error` with `mcp_server_error`, and says which server.',
  ],
  [
    'TRUN-142',
    'docs/tests.md#simulated-tools',
    'Tools of an unreachable server work in a test that plays them with `tool_results`.',
  ],
  [
    'TRUN-143',
    'docs/tests.md#simulated-tools',
    'The transcript holds each question that the agent asked and its answer.',
  ],
  ['TRUN-144', 'docs/test-reference.md#the-verdict', 'Text that is too long for the judge is cut with a mark.'],
  [
    'TRUN-420',
    'docs/tests.md#simulated-tools',
    'A call with the arguments of one of `recorded_calls` answers its result, the same call again the next one, and any other call its entry or an error.',
  ],
  [
    'TRUN-421',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'In a replay a version answers the messages of real conversations in their order; the replay shows both answers with the calls that only one side made.',
  ],
  [
    'TRUN-422',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'In a replay tools answer what they answered then, a call that was not made then answers an error, and nothing is run, asked or charged to the user.',
  ],
  [
    'TRUN-423',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'An exchange is `same` if the calls are the same and the answer has the same words or, by the judge, the same meaning.',
  ],
  [
    'TRUN-424',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'A replay can be cancelled, also twice; a conversation that cannot be replayed is `failed` and ends no other.',
  ],
  [
    'TRUN-425',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'A replay accepts only conversations of its deployment, org and mode, none that a test played, and is read in its mode only.',
  ],
  [
    'TRUN-426',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'Erasing a user removes the replays of their conversations.',
  ],
  [
    'TRUN-710',
    'docs/test-reference.md#restarts-and-cancelling',
    'A process that froze while it played a run writes nothing more once another process has taken the run over.',
  ],
  [
    'TRUN-427',
    'docs/tests-from-conversations.md#replay-real-conversations',
    'A replay that a restart cut off continues by itself in its conversations, and sends no message twice.',
  ],
  [
    'TRUN-700',
    'docs/test-reference.md#the-verdict',
    'Entries of the judge that contradict each other about a line leave it undecided, in whatever order they stand.',
  ],
  [
    'TRUN-701',
    'docs/test-reference.md#the-verdict',
    'An entry of the judge whose text is not that of the line does not count.',
  ],
  [
    'TRUN-704',
    'docs/tests.md#several-runs',
    'A scenario with `runs` is played that often, 1 to 5, each time in another conversation, and passes only if every run does.',
  ],
  [
    'TRUN-705',
    'docs/tests.md#several-runs',
    'A scenario that passed only some of its runs fails, and shows `flaky: true` with its counts in the API, the command line and the console.',
  ],
  [
    'TRUN-706',
    'docs/tests.md#playing-as-a-user',
    "A file's test with `as.user_id` reads the notebooks that this user may read, and nothing else of the user.",
  ],
  [
    'TRUN-707',
    'docs/tests.md#playing-as-a-user',
    "In a file's test `as.secrets` names company secrets that stand in for secrets of a user; a secret that a user has stored is never used.",
  ],
  [
    'TRUN-703',
    'docs/deployment-file.md',
    'A file that is applied unchanged after its tests failed in this mode answers that run and plays nothing, unless its scenarios changed; `POST …/promote` plays them again.',
  ],
  [
    'TRUN-702',
    'docs/tests.md#simulated-tools',
    'With `approves: true` the test user approves functions of the version; an approved one plays its entry and no code is called.',
  ],
]);
