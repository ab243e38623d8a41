import { area } from '../requirement.ts';

const page = 'docs/cli-agents.md#init';

export const templates = area('templates', 'done', [
  [
    'TPL-700',
    page,
    '`vestra init --template NAME` writes the template into a new folder and prints the next commands.',
  ],
  ['TPL-701', page, 'Every template applies, passes its tests and answers with the offline stand-in.'],
  ['TPL-702', page, 'The support desk has a test of a refund with approval and one without.'],
  [
    'TPL-703',
    page,
    '`--deployment` and `--out` name the deployment and the folder; a folder with files and an unknown template are refused.',
  ],
  ['TPL-704', page, 'The tool server of the IT desk speaks MCP with the official client and checks its token.'],
]);
