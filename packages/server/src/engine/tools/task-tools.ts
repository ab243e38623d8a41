import type { InteractionDraft } from '@vestra/agent/interaction';
import { askingTool, failed, type OwnTool, ownTool, said, text } from '@vestra/agent/own-tool';
import { Failure } from '@vestra/contract/errors';
import { isPlainFileName } from '@vestra/contract/plain-file-name';
import { z } from 'zod';
import { storableText } from '../../platform/db/sql.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { recordFile, storeContent } from '../files/content.ts';
import { presentFile } from '../files/store.ts';
import { type Change, changeConversation } from '../records/change.ts';
import { publishProgress } from '../records/publish.ts';
import type { TaskRow } from '../records/tables.ts';
import { updateTask } from '../records/tasks.ts';
import type { TaskComputer, ToolParts } from './ports.ts';

const maxSteps = 30;
const maxOutputLength = 2 * 1024 * 1024;

const planInput = z.strictObject({
  title: text('A name for the work, a few words; only where it has none or the wrong one.', 120).optional(),
  steps: z
    .array(
      z.strictObject({
        content: text('One step, a short line.', 200),
        status: z.enum(['pending', 'in_progress', 'completed']),
      }),
    )
    .min(1)
    .max(maxSteps),
});

/** Shows the plan as the progress of the task. */
export const updatePlan = (engine: ToolParts, task: TaskRow, run: RunLease): OwnTool =>
  ownTool(
    {
      name: 'update_plan',
      description: 'Show the plan of the work and how far it is. Send the whole plan each time.',
      input: planInput,
      isReadOnly: true,
    },
    async (given) => {
      await changeConversation(engine, task.conversation_id, run, (change) => writePlan(change, task, given));
      return said('The plan is shown.');
    },
  );

/** Also shows a plan that is only proposed, because the person approves what they see. */
export async function writePlan(change: Change, task: TaskRow, given: unknown): Promise<void> {
  const { title, steps } = given as z.output<typeof planInput>;
  const progress = steps.map(({ content, status }) => ({ content: storableText(content), status }));
  const changes = { progress, ...(title !== undefined && { title: storableText(title) }) };
  publishProgress(change, await updateTask(change.tx, task, changes));
}

/** Replaces `update_plan` until the person has approved a plan. */
export const proposePlan = (): OwnTool =>
  askingTool(
    {
      name: 'update_plan',
      description:
        'Show the plan of the work to the person, who must say yes before anything is done. Send it once it is whole.',
      input: planInput,
      isReadOnly: true,
    },
    ({ title, steps }): InteractionDraft => ({
      kind: 'exit_plan',
      type: 'approval',
      summary: `Start this plan of ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}?`,
      moves_money: false,
      requires_present_user: false,
      details: {
        ...(title !== undefined && { title }),
        rows: steps.map(({ content }, at) => ({ label: String(at + 1), value: content })),
      },
      expires_in_s: 24 * 60 * 60,
    }),
  );

const outputInput = z.strictObject({
  filename: text('One plain name with its ending, such as report.md.', 200),
  content: z.string().max(maxOutputLength).describe('The whole text of the file.'),
});
const computerOutputInput = outputInput.partial({ content: true }).extend({
  path: text('A file on the computer. Instead of `content`.', 1000).optional(),
});

/** Gives the person a file with text from the model or, if the task has a computer, a file from there. */
export const saveOutput = (engine: ToolParts, task: TaskRow, run: RunLease, computer: TaskComputer | null): OwnTool =>
  ownTool<z.output<typeof computerOutputInput>>(
    {
      name: 'save_output',
      // The computer may have to be prepared before the file can be read.
      ...(computer && { timeoutS: 3600 }),
      description: computer
        ? 'Give the person a file as a result of the work: its text as `content`, such as a report in Markdown or a table in CSV, or any file of the computer by its `path`.'
        : 'Give the person a text file as a result of the work, such as a report in Markdown or a table in CSV.',
      input: computer ? computerOutputInput : outputInput,
      isReadOnly: false,
    },
    async ({ filename, content, path }, signal) => {
      const name = storableText(filename);
      if (!isPlainFileName(name)) return failed('The name must be one plain file name without slashes.');
      if ((content === undefined) === (path === undefined)) return failed('Give either `content` or `path`.');
      const read = path === undefined ? null : await computer?.readOutput(path, signal);
      const { computerSeconds = 0 } = read ?? {};
      if (read && 'refused' in read) return { ...failed(read.refused), computerSeconds };
      const bytes = read?.bytes ?? Buffer.from(content ?? '', 'utf8');
      const file = await storeOutput(engine, task, run, { name, bytes }).catch(refusalIfNotReady);
      if ('refused' in file) return { ...failed(file.refused), computerSeconds };
      if (path !== undefined) await computer?.noteOutput(path, file);
      return { ...said(`Saved as ${file.filename} (${file.id}, ${file.size_bytes} bytes).`), computerSeconds };
    },
  );

/** The agent may try again if the file store is unreachable, so the task does not fail. */
function refusalIfNotReady(error: unknown): { refused: string } {
  if (error instanceof Failure && error.code === 'not_ready') return { refused: error.message };
  throw error;
}

/** Stores a file as an output of the task. */
export async function storeOutput(
  engine: ToolParts,
  task: TaskRow,
  run: RunLease,
  { name, bytes }: { name: string; bytes: Uint8Array },
) {
  const content = await storeContent(engine.db, engine.files, task.org_id, bytes);
  return changeConversation(engine, task.conversation_id, run, async (change) => {
    const row = await recordFile(
      change.tx,
      engine.files,
      { orgId: task.org_id, mode: task.mode },
      {
        filename: name,
        content,
        user_id: task.user_id,
        source: 'output',
        task_id: task.id,
        conversation_id: task.conversation_id,
      },
    );
    const shown = presentFile(row);
    change.log({ type: 'file.created', taskId: task.id, turnId: task.turn_id, data: { file: shown } });
    change.emit({ type: 'file.created', data: shown });
    return row;
  });
}
