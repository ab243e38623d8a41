import { area } from '../requirement.ts';

const section = 'decisions.md · 11';

export const agUi = area('ag-ui', 'done', [
  [
    'AGUI-001',
    section,
    'A run answers in the events of AG-UI, which its own client reads, and a thread is one conversation of its user.',
  ],
  [
    'AGUI-002',
    section,
    'Tools of the client’s become tool calls of its own names, and their results go on with the turn.',
  ],
  [
    'AGUI-003',
    section,
    'What waits for a person ends the run as an interrupt with the schema of its answer, and `resume` goes on.',
  ],
  ['AGUI-004', section, 'Work that goes on is shown as an activity, and its answer when it is done.'],
  ['AGUI-531', section, 'A reader who is slow holds nothing up, costs no memory and gets every event in order.'],
  ['AGUI-005', section, 'A run that is sent again is the one that it began; a failed turn is a run error.'],
]);
