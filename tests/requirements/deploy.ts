import { area } from '../requirement.ts';

export const deploy = area('deploy', 'done', [
  [
    'DEPLOY-001',
    'docs/production.md#settings-and-secrets',
    'Every setting can be given as `<NAME>_FILE`, the path of a file that holds its value; a file that cannot be used stops the start, and nothing of it is shown.',
  ],
  [
    'DEPLOY-002',
    'docs/production.md#settings-and-secrets',
    '`deploy/.env.example` shows every setting and nothing else.',
  ],
  [
    'DEPLOY-003',
    'docs/production.md#containers-with-compose',
    'The image contains only the package and the programs of `npm run setup:system`, runs as an account that is not root and reports its health; `--target api` lacks the programs.',
  ],
  [
    'DEPLOY-004',
    'docs/production.md#containers-with-compose',
    'compose.yaml starts the server after its database, hands secrets over as files, confines it and lets it end.',
  ],
  [
    'DEPLOY-005',
    'docs/production.md#one-machine-with-systemd',
    "The unit confines the server as far as users' computers and browsers still work, passes secrets as credentials and lets it end.",
  ],
  ['DEPLOY-006', 'docs/production.md#kubernetes', 'Kubernetes knows every field that the chart renders.'],
  [
    'DEPLOY-007',
    'docs/production.md#kubernetes',
    'Every pod of the chart is confined and has probes; selectors and targets lead to what is rendered; secrets are referred to and never shown.',
  ],
  ['DEPLOY-008', 'docs/production.md#kubernetes', 'Values that the chart does not have are refused.'],
  [
    'DEPLOY-009',
    'docs/production.md#one-machine-with-systemd',
    'The page holds commands that can be carried out as they stand, with files and versions that are there.',
  ],
  ['DEPLOY-010', 'docs/reverse-proxies.md', 'Through each proxy a stream arrives as it is written.'],
  [
    'DEPLOY-011',
    'docs/reverse-proxies.md',
    'Through each proxy the largest upload passes, and what is too large is refused by the server.',
  ],
  ['DEPLOY-012', 'docs/reverse-proxies.md', 'Behind each proxy a forged `X-Forwarded-For` counts for nothing.'],
  ['DEPLOY-013', 'docs/reverse-proxies.md', 'Each proxy passes upgrades on, and closes `/metrics` and `/internal/`.'],
  [
    'DEPLOY-014',
    'docs/reverse-proxies.md',
    'The files for proxies fit the sizes of the contract and the silence of streams.',
  ],
  [
    'DEPLOY-480',
    'docs/production.md#one-machine-with-systemd',
    'Files beside the unit have the kernel hold the limits of computers, and make a backup every night.',
  ],
]);
