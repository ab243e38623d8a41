import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { findDeployment, slugFromName } from '../../agents/deployments/index.ts';
import {
  allMessages,
  findConversation,
  insertConversation,
  lockOwnConversation,
  newConversationRow,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import { type CommittedChange, changeInTransaction, recordExchange } from '../../engine/index.ts';
import type { Caller, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import {
  askNext,
  type Interview,
  type InterviewPorts,
  type InterviewProgress,
  readInterview,
  withAnswer,
} from './interview.ts';

/** Another answer arrived while the model was running, so the question has changed. */
export class StepOvertaken extends Error {
  override readonly name = 'Overtaken';
}

/** The next step from the model, before it is stored. */
export type InterviewStep = {
  conversationId: string;
  /** The number of exchanges before this step; 0 starts the interview. */
  after: number;
  said: string;
  interview: Interview;
  progress: InterviewProgress;
};

export async function prepareBeginning(
  ports: InterviewPorts,
  caller: Caller,
  { deployment: name, describe }: { deployment: string; describe: string },
  signal: AbortSignal,
): Promise<InterviewStep> {
  const deployment = slugFromName(name);
  const found = await findDeployment(ports.engine.db, caller.orgId, deployment);
  if (found?.deployment.slug === deployment) {
    throw fail('slug_taken', {
      param: 'deployment',
      message: `There is a deployment \`${deployment}\` already: send another name.`,
    });
  }
  const interview: Interview = { deployment, description: describe, answers: [], latest: null };
  const conversationId = newId('conv');
  const progress = await askNext(ports, caller, { interview, conversationId }, signal);
  return { conversationId, after: 0, said: describe, interview, progress };
}

export async function prepareAnswer(
  ports: InterviewPorts,
  caller: Caller,
  { conversation: conversationId, answer }: { conversation: string; answer: string },
  signal: AbortSignal,
): Promise<InterviewStep> {
  const found = await findInterview(ports, caller, conversationId);
  if (!found) throw fail('conversation_not_found');
  const interview = withAnswer(found.interview, answer);
  const progress = await askNext(ports, caller, { interview, conversationId }, signal);
  return { conversationId, after: found.turnCount, said: answer, interview, progress };
}

/** Returns null if there is no such conversation, or if it is with an agent. */
export async function findInterview(
  { engine: { db } }: Pick<InterviewPorts, 'engine'>,
  tenant: Tenant,
  conversationId: string,
): Promise<{ interview: Interview; turnCount: number } | null> {
  const conversation = await findConversation(db, tenant, conversationId);
  if (!conversation?.is_hidden || conversation.deployment_id !== null) return null;
  const said = await allMessages(db, conversationId);
  const interview = readInterview(said);
  return interview && { interview, turnCount: said.filter(({ role }) => role === 'user').length };
}

/** Stores a step: its question as a message, with its file as data. */
export async function writeStep(
  tx: Transaction,
  caller: Caller,
  { conversationId, after, said, interview, progress }: InterviewStep,
): Promise<{ turn: TurnRow; committed: CommittedChange }> {
  const conversation =
    after === 0
      ? await insertConversation(tx, newConversationRow(caller, conversationId, { is_hidden: true }))
      : await lockOwnConversation(tx, caller, conversationId);
  if (conversation.turn_count !== after) throw new StepOvertaken();
  const { result, committed } = await changeInTransaction(tx, conversation, (change) =>
    recordExchange(change, {
      origin: 'interview',
      said: { text: said, context: after === 0 ? { deployment: interview.deployment } : null },
      answer: { text: progress.question ?? ready, data: progress },
    }),
  );
  return { turn: result, committed };
}

const ready = 'The deployment file is ready. Apply it, or say what should be different.';

export const presentInterview = async (
  { conversationId, interview: { deployment }, progress: { status, question, file, dropped } }: InterviewStep,
  render: InterviewPorts['render'],
) => ({
  object: 'interview' as const,
  conversation_id: conversationId,
  deployment,
  status,
  question,
  file,
  yaml: file && (await render(file)),
  dropped,
});
