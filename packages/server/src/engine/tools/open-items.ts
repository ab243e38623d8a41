import { failed, type OwnTool, ownTool, said, type ToolAnswer, text } from '@vestra/agent/own-tool';
import { newId } from '@vestra/contract/ids';
import { z } from 'zod';
import { recordAudit } from '../../account/index.ts';
import { agentOrigin, type Tenant } from '../../platform/caller.ts';
import { storableText } from '../../platform/db/sql.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { questionText } from '../records/history-store.ts';
import { findInteraction } from '../records/interactions.ts';
import { titleOf } from '../records/previews.ts';
import type { InteractionRow, MessageRow, TaskRow } from '../records/tables.ts';
import { findTask, insertNote } from '../records/tasks.ts';
import { readAnswer } from '../turns/interaction-answer.ts';
import { resolveInteraction } from '../turns/interactions.ts';
import { stopTask } from '../turns/stop.ts';
import type { ToolParts } from './ports.ts';

/** Open tasks and questions of a conversation. The agent refers to them by their number in these lists. */
export type OpenItems = {
  work: readonly TaskRow[];
  /** Questions that can be answered in words. Approvals are excluded: nobody approves through the agent. */
  questions: readonly { row: InteractionRow; of: string; question: string }[];
};

export function openItemsOf(openTasks: readonly TaskRow[], pending: readonly InteractionRow[]): OpenItems {
  const titleOfTask = (taskId: string | null) => {
    const task = openTasks.find(({ id }) => id === taskId);
    return task ? titleOf(task) : 'work without a title';
  };
  const inWords = pending.filter(
    ({ type, details, is_hidden }) =>
      !is_hidden && (type === 'question' || (type === 'handoff' && details.asks_for_value === true)),
  );
  return {
    work: openTasks,
    questions: inWords.map((row) => ({
      row,
      of: row.task_id === null ? 'you, in an earlier reply' : `the work “${titleOfTask(row.task_id)}”`,
      question: (row.questions ?? []).map(questionText).join(' ') || row.summary,
    })),
  };
}

/** The open items as the prompt lists them after the message. */
export const presentOpenItems = ({ work, questions }: OpenItems, pending: readonly InteractionRow[]) => ({
  openWork: work.map((task, at) => ({
    number: at + 1,
    title: titleOf(task),
    status: task.status,
    waitsFor: pending.filter(({ task_id }) => task_id === task.id).map(({ summary }) => summary),
  })),
  openQuestions: questions.map(({ of, question }, at) => ({ number: at + 1, of, question })),
});

const numberOf = (what: string) => z.int().min(1).describe(`The number of the ${what}, as it is listed as open.`);

/** Tools that pass the person's message on to open items. Empty if nothing is open. */
export function openItemTools(
  engine: ToolParts,
  of: { tenant: Tenant; run: RunLease; asked: MessageRow; conversationId: string },
  { work, questions }: OpenItems,
): OwnTool[] {
  const { tenant, run, asked, conversationId } = of;
  const change = (make: (change: Change) => Promise<ToolAnswer>) =>
    changeConversation(engine, conversationId, run, make);

  /** Reads the task again, since another message, a page or the task itself may have ended it meanwhile. */
  const onWork = (number: number, act: (change: Change, task: TaskRow) => Promise<ToolAnswer>) =>
    change(async (changing) => {
      const task = await findTask(changing.tx, tenant, work[number - 1]?.id ?? '');
      if (!task) return failed(`There is no open work ${number}.`);
      if (task.status === 'done' || task.status === 'failed') return failed('This work has ended meanwhile.');
      return act(changing, task);
    });

  return [
    ...(questions.length === 0 ? [] : [passOnAnswer(engine, { tenant, asked, change }, questions)]),
    ...(work.length === 0
      ? []
      : [
          ownTool<z.output<typeof tellInput>>(
            {
              name: 'tell_work',
              description:
                "Pass the person's message on to open work that should take it into account, word for word. The work continues with it.",
              input: tellInput,
              isReadOnly: false,
            },
            ({ work: number, note }) =>
              onWork(number, async ({ tx }, task) => {
                await insertNote(tx, task.id, newId('msg'), noteText(asked.text, note));
                return said('It was passed on: the work reads it before its next step.');
              }),
          ),
          ownTool<z.output<typeof stopInput>>(
            {
              name: 'stop_work',
              description: 'Stop open work that the person does not want any more.',
              input: stopInput,
              isReadOnly: false,
            },
            ({ work: number }) =>
              onWork(number, async (changing, task) => {
                await stopTask(engine, changing, task, 'The person asked in the chat to stop it.');
                return said('The work was stopped. What it had done until then stays done.');
              }),
          ),
        ]),
  ];
}

const tellInput = z.strictObject({
  work: numberOf('work'),
  note: text('What the work must know to understand the message, where it does not say so itself.', 2000).optional(),
});
const stopInput = z.strictObject({ work: numberOf('work') });

const noteText = (message: string, note: string | undefined) =>
  storableText(
    [
      'The person has said this while you work. Take it into account from now on:',
      message.trim() === '' ? '[nothing in words]' : message,
      ...(note === undefined ? [] : [`(What it is about: ${note})`]),
    ].join('\n'),
  );

const answerInput = z.strictObject({ question: numberOf('question') });

/** The answer is always the person's own message, so that an injected prompt cannot answer for them. */
const passOnAnswer = (
  engine: ToolParts,
  {
    tenant,
    asked,
    change,
  }: {
    tenant: Tenant;
    asked: MessageRow;
    change: (make: (change: Change) => Promise<ToolAnswer>) => Promise<ToolAnswer>;
  },
  questions: OpenItems['questions'],
): OwnTool =>
  ownTool<z.output<typeof answerInput>>(
    {
      name: 'pass_on_answer',
      description:
        "The person's message answers an open question: pass it on, word for word. The reply or task that asked continues with it.",
      input: answerInput,
      isReadOnly: false,
    },
    ({ question: number }) =>
      change(async (changing) => {
        const open = questions[number - 1];
        if (!open) return failed(`There is no open question ${number}.`);
        if (asked.text.trim() === '') return failed('The message has no words that could be an answer.');
        const row = await findInteraction(changing.tx, tenant, open.row.id);
        if (row?.status !== 'pending') return failed('This was answered meanwhile.');
        const answers = (row.questions ?? []).map(() => asked.text);
        const { kind, decision } = await resolveInteraction(engine, changing, row, readAnswer(row, { answers }));
        // The routes record the same audit entry for an answer.
        await recordAudit(changing.tx, agentOrigin(tenant), {
          action: 'interaction.answered',
          target: { type: 'interaction', id: row.id },
          details: { kind, decision },
        });
        return said(
          row.task_id === null
            ? 'It was passed on. The earlier reply continues right after this one and reports the result: end with one short line.'
            : 'It was passed on, and the work continues with it: end with one short line.',
        );
      }),
  );
