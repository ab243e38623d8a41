import { area } from '../requirement.ts';

export const agUi = area('ag-ui', 'done', [
  [
    'AGUI-001',
    'docs/ag-ui.md#rules',
    'A run answers in the events of AG-UI, which its own client reads, and a thread is one conversation of its user.',
  ],
  [
    'AGUI-002',
    'docs/ag-ui.md',
    'Tools of the client are called by its own names, and their results continue the turn.',
  ],
  [
    'AGUI-003',
    'docs/api/ag-ui.md#post-v1aguideployment_id',
    'A wait for a person ends the run as an interrupt with the schema of its answer, and `resume` continues.',
  ],
  ['AGUI-004', 'docs/ag-ui.md', 'Running work is shown as an activity, and its answer when it is done.'],
  [
    'AGUI-531',
    'docs/ag-ui.md#rules',
    'A reader who is slow holds nothing up, costs no memory and gets every event in order.',
  ],
  [
    'AGUI-005',
    'docs/ag-ui.md#rules',
    'A run that is sent again is the one that it began; a failed turn is a run error.',
  ],
]);
