import type { CallResult, ModelStep } from '@vestra/agent/step';
import { describe, expect, it } from 'vitest';
import type { MessageRow } from '../records/tables.ts';
import type { FileReading } from '../tools/conversation-files.ts';
import { linesOf, passagesOf } from './extract-memories.ts';

const message = (role: MessageRow['role'], text: string, of: Partial<MessageRow> = {}) =>
  ({ role, text, turn_id: 'turn_1', task_id: null, attachments: [], ...of }) as MessageRow;

const step = (...calls: [name: string, given: unknown, result: Partial<CallResult> | null][]) =>
  ({
    kind: 'model',
    calls: calls.map(([name, given, result], at) => ({
      call: { id: `call_${at}`, name, arguments: given },
      result: result && { output: 'Shown.', isError: false, from: 'tool', ...result },
    })),
  }) as unknown as ModelStep;

const said = [
  message('user', 'Book a table'),
  message('agent', 'I am on it.'),
  message('work', 'Booked.', { task_id: 'task_1' }),
];

describe('input of the memory extraction', () => {
  it('attributes an answer to the person unless it repeats the agent’s questions', () => {
    const person = (output: string) => ({ output, from: 'person' as const });
    const recorded = new Map([
      ['turn_1', [step(['ask_question', { question: 'How many?' }, person('Six')])]],
      ['task_1', [step(['ask_question', { question: 'When?', also: [{ question: 'Where?' }] }, person('When?\n8')])]],
    ]);
    expect(linesOf(said, recorded)).toEqual([
      { by: 'user', text: 'Book a table' },
      { by: 'agent', text: 'How many?' },
      { by: 'user', text: 'Six' },
      { by: 'agent', text: 'I am on it.' },
      { by: 'agent', text: 'Asked, and was answered:\nWhen?\n8' },
      { by: 'agent', text: 'Booked.' },
    ]);
  });

  it('names the source of each passage, and leaves out known content and failed calls [MEM-302]', async () => {
    const recorded = new Map([
      [
        'turn_1',
        [
          step(
            ['get_customer', {}, {}],
            ['mcp__crm__find', {}, {}],
            ['recall', {}, {}],
            ['search_notebooks', {}, {}],
            ['ask_question', {}, { from: 'person' }],
            ['get_order', {}, { isError: true }],
            ['get_order', {}, { from: 'run' }],
            ['get_order', {}, null],
          ),
        ],
      ],
      ['task_1', [step(['browser_open', {}, {}], ['read_conversation_file', {}, {}], ['run_command', {}, {}])]],
    ]);
    const tenant = { orgId: 'org_1', mode: 'test' } as const;
    const passages = await passagesOf({} as FileReading, tenant, said, recorded);
    expect(passages.map(({ name, source }) => [name, source])).toEqual([
      ['get_customer', 'tool_observed'],
      ['mcp__crm__find', 'tool_observed'],
      ['browser_open', 'screen'],
      ['read_conversation_file', 'upload'],
      ['run_command', 'tool_observed'],
    ]);
  });
});
