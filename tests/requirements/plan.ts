import { area } from '../requirement.ts';

const put = 'docs/api/deployments.md#put-v1deploymentsdeployment_id';
const file = 'docs/deployment-file.md#plan-a-change';
const cli = 'docs/cli-agents.md#plan-a-change';

export const plan = area('plan', 'done', [
  ['PLAN-700', put, '`dry_run=true` answers a `plan` with every changed field before and after.'],
  ['PLAN-701', file, 'A plan names a secret by its reference and never shows its value.'],
  [
    'PLAN-702',
    put,
    '`uploads` names the keys whose local files a client uploads first: the plan counts them as changed.',
  ],
  ['PLAN-703', file, 'A plan lists all faults of the file together, and the secrets that are missing.'],
  ['PLAN-704', file, 'A plan writes nothing.'],
  ['PLAN-705', file, 'A plan and an apply of the same file agree about every change.'],
  [
    'PLAN-706',
    file,
    'A line that is removed from the file is removed from the deployment, or a warning says why it stays.',
  ],
  ['PLAN-707', file, 'A line that has no effect is a warning.'],
  ['PLAN-708', file, 'An entry of `tools` with both `mcp` and `function`, or with neither, is one fault that says so.'],
  ['PLAN-709', cli, 'Each fault is printed with file, line, column and field name, in the order of the lines.'],
  [
    'PLAN-710',
    cli,
    '`vestra apply --dry-run` and `vestra diff` print the plan, also of local files, and change nothing.',
  ],
  [
    'PLAN-711',
    cli,
    'With `--exit-code` the exit code is 2 if something would change; faults and an unreachable server are 1.',
  ],
  ['PLAN-712', 'docs/knowledge.md', 'All documents are converted before the first one is written.'],
  ['PLAN-713', 'docs/console.md', 'The console shows the plan before it applies a file.'],
  [
    'PLAN-714',
    'docs/going-live.md#plan-in-ci',
    'The GitHub Actions example plans each pull request and applies each merge.',
  ],
  [
    'PLAN-780',
    cli,
    'A plan reports a broken skill folder with file and line, beside the other faults, and by the rules of the upload.',
  ],
  [
    'PLAN-781',
    cli,
    'A plan checks the path of a local file for the computer by the rules of the apply, before the file is uploaded.',
  ],
  ['PLAN-782', cli, 'A plan reports a local file for the computer whose name the upload would refuse.'],
  [
    'PLAN-785',
    cli,
    'The upload of a skill and the plans of both clients accept and refuse the same skills, for the same reasons.',
  ],
]);
