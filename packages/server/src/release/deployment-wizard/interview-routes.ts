import { fail } from '@vestra/contract/errors';
import { presentTurn, type TurnRow } from '../../engine/conversations/index.ts';
import { announce, type CommittedChange as ConversationCommit } from '../../engine/index.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { type CommittedResponse, type Handlers, Reply } from '../../platform/http/handler.ts';
import { commitPrepared } from '../../platform/http/idempotency.ts';
import type { InterviewPorts } from './interview.ts';
import {
  findInterview,
  type InterviewStep,
  prepareAnswer,
  prepareBeginning,
  presentInterview,
  StepOvertaken,
  writeStep,
} from './steps.ts';

type InterviewRequest = {
  caller: Caller;
  headers: Headers;
  commit: <Body>(work: (tx: Transaction) => Promise<Body | Reply<Body>>) => Promise<CommittedResponse<Body>>;
};

/** More than an interview has questions. Each try lost to a concurrent answer. */
const maxTries = 12;

/** Concurrent answers are taken one after the other, each for the question that is current then. */
async function commitStep<Body>(
  { engine }: InterviewPorts,
  call: InterviewRequest,
  prepare: () => Promise<InterviewStep>,
  present: (step: InterviewStep, turn: TurnRow) => Promise<Body | Reply<Body>>,
): Promise<CommittedResponse<Body>> {
  for (let tries = 1; ; tries++) {
    let done: ConversationCommit | undefined;
    try {
      const answer = await commitPrepared(call, prepare, async (tx, step) => {
        const { turn, committed } = await writeStep(tx, call.caller, step);
        done = committed;
        return present(step, turn);
      });
      if (done) announce(engine.announcer, done);
      return answer;
    } catch (error) {
      if (!(error instanceof StepOvertaken)) throw error;
      if (tries === maxTries) throw fail('timeout');
    }
  }
}

type Interview = Required<Handlers<'deployments'>>['interview'];
type Send = Required<Handlers<'conversations'>>['send'];

/** Begins an interview or answers its current question. */
export async function takeStep(
  ports: InterviewPorts,
  incoming: Parameters<Interview>[0],
): Promise<Awaited<ReturnType<Interview>>> {
  const { caller, body, signal } = incoming;
  const { deployment, describe, conversation, answer } = body;
  if (deployment !== undefined && describe !== undefined) {
    return commitStep(
      ports,
      incoming,
      () => prepareBeginning(ports, caller, { deployment, describe }, signal),
      (step) => presentInterview(step, ports.render),
    );
  }
  if (conversation === undefined || answer === undefined) throw fail('describe_or_answer');
  return commitStep(
    ports,
    incoming,
    () => prepareAnswer(ports, caller, { conversation, answer }, signal),
    async (step) => new Reply(await presentInterview(step, ports.render), { status: 200 }),
  );
}

/** Returns undefined if the conversation is no interview. */
export async function answerByMessage(
  ports: InterviewPorts,
  incoming: Parameters<Send>[0],
): Promise<Awaited<ReturnType<Send>> | undefined> {
  const { caller, params, body, signal } = incoming;
  const conversation = params.conversation_id;
  if (caller.session || !(await findInterview(ports, caller, conversation))) return undefined;
  const answer = readAnswer(body);
  return commitStep(
    ports,
    incoming,
    () => prepareAnswer(ports, caller, { conversation, answer }, signal),
    async (_step, turn) => new Reply(presentTurn(turn, { interactions: [], costMicros: 0n }), { status: 200 }),
  );
}

function readAnswer({ message = '', stream }: { message?: string | undefined; stream: boolean }): string {
  if (message.trim() === '') throw fail('message_required', { param: 'message' });
  if (!stream) return message;
  throw fail('invalid_request', {
    param: 'stream',
    message: 'The answers of an interview are not streamed: follow the events of its conversation.',
  });
}
