import { area } from '../requirement.ts';

export const insights = area('insights', 'done', [
  [
    'INS-700',
    'docs/insights.md#kinds',
    'An insight groups failed replies of a deployment by their error code, most conversations first.',
  ],
  [
    'INS-701',
    'docs/insights.md#read-an-insight',
    'An insight has its number of events and conversations, their share, every day of the period, and the newest example of up to five conversations.',
  ],
  ['INS-702', 'docs/insights.md#kinds', 'Bad ratings are grouped by the question, and examples quote the note.'],
  [
    'INS-703',
    'docs/insights.md#kinds',
    'Declined approvals are grouped by tool, and expired questions by the question. Answered ones are not reported.',
  ],
  ['INS-704', 'docs/insights.md#kinds', 'Searches of the knowledge that found nothing are grouped by their words.'],
  [
    'INS-705',
    'docs/insights.md#grouping',
    'Tool errors are grouped by tool and text. Numbers and ids do not separate groups.',
  ],
  [
    'INS-706',
    'docs/insights.md#kinds',
    'A message that says nearly the same as an earlier one of the conversation is reported. Short answers are not.',
  ],
  [
    'INS-707',
    'docs/insights.md#kinds',
    'With at least 20 conversations, those that cost or take more than 3 times the median are reported.',
  ],
  [
    'INS-710',
    'docs/insights.md#included-conversations',
    'A report leaves out other orgs and modes, test runs, deleted conversations and erased users.',
  ],
  [
    'INS-711',
    'docs/insights.md#included-conversations',
    'Excerpts and titles hide credentials and card numbers. Titles leave out addresses.',
  ],
  [
    'INS-712',
    'docs/insights.md#read-an-insight',
    'A report compares with the period before, has the same ids for other periods, and pages in a fixed order.',
  ],
  [
    'INS-713',
    'docs/insights.md#read-an-insight',
    'A period of more than 90 days, one that ends before it begins, and an unknown kind are refused.',
  ],
  [
    'INS-715',
    'docs/console.md#building-running-and-paying',
    'The console shows the insights of a deployment with trend and share. An example opens its turn.',
  ],
  [
    'INS-716',
    'docs/insights.md#insights',
    '`vestra insights` prints the insights as a table, and with `--json` as they are.',
  ],
  [
    'INS-714',
    'docs/insights.md#read-an-insight',
    'The conversations of an insight of the last 30 days are found by its id.',
  ],
  [
    'INS-717',
    'docs/insights.md#included-conversations',
    'A report counts conversations that `improvement_conversations` does not allow, and quotes nothing of them.',
  ],
  [
    'INS-718',
    'docs/insights.md#included-conversations',
    'A report of 1,000 conversations or more is cached for a minute, unless something was deleted or hidden.',
  ],
  [
    'INS-719',
    'docs/insights.md#names-of-groups',
    'A model names groups only if asked for, at a bounded cost of kind `insight`, once until the texts change.',
  ],
  [
    'INS-720',
    'docs/insights.md#names-of-groups',
    'A text that tries to steer the name is not read, and a name with a link or an instruction is refused.',
  ],
  [
    'INS-722',
    'docs/insights.md#names-of-groups',
    'A group is named once if several members ask at once or leave, and without money no model is asked.',
  ],
  ['INS-721', 'docs/insights.md#names-of-groups', 'A viewer names no groups, and no model is called.'],
]);
