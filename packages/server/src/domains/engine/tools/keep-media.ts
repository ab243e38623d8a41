import type { ToolMedia } from '@vestra/agent/message';
import type { AnsweredMedia } from '@vestra/agent/own-tool';
import type { Run } from '../../../jobs/fence.ts';
import { keepFile } from '../../files/api.ts';
import { changeConversation } from '../records/change.ts';
import type { Subject } from '../records/subject.ts';
import type { Engine } from '../turns/ports.ts';

/** Of one answer: no model looks at more, and each costs as much as a page of text. */
const mostOfAnswer = 8;
const largestRecording = 4 * 1_048_576;

/**
 * Keeps what a tool answered with beside its text, made as small as models see it. It is kept before the answer is
 * recorded, so that whoever goes on with the run after a crash shows the model the same picture. `notes` name what is
 * not kept.
 */
export async function keepMedia(
  engine: Engine,
  { turn, task }: Subject,
  run: Run,
  answered: readonly AnsweredMedia[],
): Promise<{ media: ToolMedia[]; notes: string[] }> {
  const notes: string[] = [];
  const fitting: (Fitting & { fileId?: string })[] = [];
  for (const [at, each] of answered.entries()) {
    const made = at < mostOfAnswer ? await fit(engine, each) : { refused: `at most ${mostOfAnswer} are shown at once` };
    if ('refused' in made)
      notes.push(`[${each.mediaType}, ${each.content.byteLength} bytes, is not shown: ${made.refused}]`);
    // One that was made smaller is another file than the one that the person has.
    else fitting.push({ ...made, ...(each.fileId && made.content === each.content && { fileId: each.fileId }) });
  }
  const media: ToolMedia[] = [];
  for (const { fileId, content, mediaType, width, height } of fitting) {
    const id = fileId ?? (await keep(engine, { turn, task }, run, { mediaType, content }));
    media.push({ fileId: id, mediaType, bytes: content.byteLength, width, height });
  }
  return { media, notes };
}

type Fitting = { mediaType: string; content: Uint8Array; width: number | null; height: number | null };

async function fit(
  { fitPicture }: Engine,
  { mediaType, content }: AnsweredMedia,
): Promise<Fitting | { refused: string }> {
  if (!mediaType.startsWith('audio/')) return fitPicture(content);
  if (content.byteLength > largestRecording) return { refused: 'the recording is too large' };
  return { mediaType, content, width: null, height: null };
}

async function keep(
  engine: Engine,
  { turn, task }: Subject,
  run: Run,
  { mediaType, content }: { mediaType: string; content: Uint8Array },
): Promise<string> {
  const { id } = await changeConversation(engine, turn.conversation_id, run, (change) =>
    keepFile(
      change.tx,
      engine.files,
      { orgId: turn.org_id, mode: turn.mode },
      {
        filename: `tool.${mediaType.split('/')[1] ?? 'bin'}`,
        bytes: content,
        user_id: turn.user_id,
        source: 'tool',
        task_id: task?.id ?? null,
        conversation_id: turn.conversation_id,
      },
    ),
  );
  return id;
}
