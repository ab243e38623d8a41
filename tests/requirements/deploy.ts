import { area } from '../requirement.ts';

export const deploy = area('deploy', 'done', [
  [
    'DEPLOY-001',
    'docs/production.md · Settings and secrets',
    'Every setting can be given as `<NAME>_FILE`, the path of a file that holds its value; a file that cannot be used stops the start, and nothing of it is shown.',
  ],
]);
