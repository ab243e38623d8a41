import {
  type Task as A2aTask,
  type Artifact,
  type Message,
  type Part,
  Role,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { fail } from '@vestra/contract/errors';
import type { Interaction, StoredFile, Task } from '@vestra/sdk/resources';
import type { StreamEvent } from '@vestra/sdk/stream';

type TaskParts = {
  /** Pending interactions, oldest first. */
  open: readonly Interaction[];
  artifacts: readonly Artifact[];
  history: readonly Message[];
};

/** The contract allows tasks without a conversation; the protocol has no null. */
export const contextOf = ({ conversation_id }: { conversation_id: string | null }) => conversation_id ?? '';

export const presentTask = (task: Task, { open, artifacts, history }: TaskParts): A2aTask => ({
  id: task.id,
  contextId: contextOf(task),
  status: statusOf(task, open),
  artifacts: [...artifacts],
  history: [...history],
  metadata: { title: task.title, progress: task.progress, outcome: task.outcome },
});

export function statusOf(task: Task, open: readonly Interaction[]): TaskStatus {
  const state = stateOf(task, open);
  const parts = saidWith(task, open);
  const about = { contextId: contextOf(task), taskId: task.id };
  return {
    state,
    message: parts.length === 0 ? undefined : agentMessage(open[0]?.id ?? `${task.id}-status`, about, parts),
    timestamp: task.updated_at,
  };
}

export function workingStatus(event: StreamEvent, taskId: string, progress: Task['progress']): TaskStatus {
  const { seq, created_at } = event;
  const contextId = contextOf(event);
  const current = progress.find(({ status }) => status === 'in_progress');
  return {
    state: TaskState.TASK_STATE_WORKING,
    message: current && agentMessage(`${taskId}-${seq}`, { contextId, taskId }, [textPart(current.content)]),
    timestamp: created_at,
  };
}

/** A stopped task is canceled in this protocol. A task ended by a limit has failed. */
function stateOf({ status, error }: Task, open: readonly Interaction[]): TaskState {
  if (status === 'done') return TaskState.TASK_STATE_COMPLETED;
  if (status === 'failed' && error?.code === 'stopped') return TaskState.TASK_STATE_CANCELED;
  if (status === 'failed') return TaskState.TASK_STATE_FAILED;
  if (open.length > 0) return waitingState(open);
  return status === 'queued' ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING;
}

export const waitingState = (open: readonly Interaction[]) =>
  open.every(({ type }) => type === 'connect')
    ? TaskState.TASK_STATE_AUTH_REQUIRED
    : TaskState.TASK_STATE_INPUT_REQUIRED;

export const isOver = ({ status }: Task) => status === 'done' || status === 'failed';

function saidWith(task: Task, open: readonly Interaction[]): Part[] {
  if (task.error) return [textPart(task.error.message), dataPart({ error: task.error })];
  if (isOver(task)) return [];
  if (open.length > 0) return open.flatMap(askingParts);
  const current = task.progress.find(({ status }) => status === 'in_progress');
  return current ? [textPart(current.content)] : [];
}

/** A sentence for a person, and the data that a program needs to answer. */
export function askingParts(interaction: Interaction): Part[] {
  const { id, questions = [], summary, ...rest } = interaction;
  const asked = questions.map(({ question, options }) =>
    options.length === 0 ? question : `${question} (${options.join(', ')})`,
  );
  return [
    textPart(asked.length === 0 ? summary : asked.join('\n')),
    dataPart({ interaction_id: id, summary, questions, ...rest }),
  ];
}

/** The result as text, and as data if the request had a schema. */
export function resultArtifacts({ result: { text, data } }: Pick<Task, 'result'>): Artifact[] {
  return [
    ...(text === null || text === '' ? [] : [artifact('result', 'Result', [textPart(text)])]),
    ...(data === null || data === undefined ? [] : [artifact('data', 'Structured result', [dataPart(data)])]),
  ];
}

export function fileArtifact({ id, filename, mime_type }: StoredFile, url: string): Artifact {
  const name = filename ?? id;
  return artifact(id, name, [linkPart(url, { filename: name, mediaType: mime_type ?? 'application/octet-stream' })]);
}

const artifact = (artifactId: string, name: string, parts: Part[]): Artifact => ({
  artifactId,
  name,
  description: '',
  parts,
  metadata: undefined,
  extensions: [],
});

type IncomingFile = { filename: string; mediaType: string; bytes: Uint8Array<ArrayBuffer> };

export type IncomingParts = { texts: string[]; data: unknown[]; files: IncomingFile[] };

export function readParts({ parts }: Message): IncomingParts {
  const read: IncomingParts = { texts: [], data: [], files: [] };
  for (const [at, { content, filename, mediaType }] of parts.entries()) {
    if (content?.$case === 'text') read.texts.push(content.value);
    else if (content?.$case === 'data') read.data.push(content.value);
    else if (content?.$case === 'raw') {
      read.files.push({ filename: filename || `file-${at + 1}`, mediaType, bytes: new Uint8Array(content.value) });
    } else if (content?.$case === 'url') throw refusedLink(at);
    else throw new RequestMalformedError(`message.parts.${at} has neither text, raw, url nor data.`);
  }
  return read;
}

/** Fetching an address that a caller names would expose our network. */
const refusedLink = (at: number) =>
  fail('unsupported_media_type', {
    param: `message.parts.${at}.url`,
    message: 'Send the bytes of a file, or upload it with POST /v1/files and name it in metadata.attachments.',
  });

const bare = { metadata: undefined, filename: '', mediaType: '' };

export const textPart = (value: string): Part => ({
  ...bare,
  content: { $case: 'text', value },
  mediaType: 'text/plain',
});

export const dataPart = (value: unknown): Part => ({
  ...bare,
  content: { $case: 'data', value },
  mediaType: 'application/json',
});

const linkPart = (url: string, { filename, mediaType }: { filename: string; mediaType: string }): Part => ({
  ...bare,
  content: { $case: 'url', value: url },
  filename,
  mediaType,
});

export const agentMessage = (
  messageId: string,
  { contextId, taskId = '' }: { contextId: string; taskId?: string },
  parts: Part[],
): Message => ({
  messageId,
  contextId,
  taskId,
  role: Role.ROLE_AGENT,
  parts,
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
});
