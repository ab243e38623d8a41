import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import { type ClientAnswer, latestAnswerTo, noteTalk } from '../../integrations/index.ts';
import { answering, followingAnswer, keepAnswer } from '../chat-translation/answer.ts';
import { type Begun, begin, type Exchange } from '../chat-translation/exchange.ts';
import { frame, holdingBy, streamPieces } from '../chat-translation/held.ts';
import { digestOf, type Question } from '../chat-translation/question.ts';
import type { HoldOpen } from '../held-answer.ts';
import type { AnswerRequest, EdgeRequest } from '../own-client.ts';
import { asFailure, refusalOf } from '../refusal.ts';
import { readServiceUser } from '../service-user.ts';
import { runEvents } from './events.ts';
import { type RunInput, readRun, threadDigest } from './read-run.ts';

type Dependencies = { answer: AnswerRequest; hold: HoldOpen; engine: Engine };

type RunRequest = EdgeRequest & { params: { deployment_id: string } };

/** One run of an agent, as the events of AG-UI. */
export function agUiEndpoint({ answer, hold, engine }: Dependencies) {
  const { db } = engine;
  const holding = holdingBy({ answer, hold, engine, asFailure });

  return holding<RunRequest>(async ({ params, headers, body, caller }, held) => {
    const input = body as RunInput;
    const { id: deploymentId } = await requireDeployment(db, caller.orgId, params.deployment_id);
    const of = { deploymentId, user: readServiceUser(headers) };
    const question = readRun(input, of);
    const requestDigest = digestOf([
      'run',
      caller.actor.id,
      deploymentId,
      of.user ?? null,
      input.threadId,
      input.runId,
    ]);
    const before = await latestAnswerTo(db, caller, requestDigest);
    const { row, events } = before
      ? { row: before, events: followingAnswer(held.exchange, before) }
      : await begun(held.exchange, question, requestDigest);
    if (!before) await noteTalk(db, row, threadDigest(of, input.threadId));
    const writing = runEvents(row, input);
    const frames = (written: ReturnType<typeof writing.begin>) => written.map(frame);
    return streamPieces(held, answering(held.exchange, row, events), {
      begin: () => frames(writing.begin()),
      piece: (piece) => frames(writing.piece(piece)),
      end: async (answered) => frames(writing.end(answered)),
      fail: (error) => {
        const { code, message } = refusalOf(error, held.requestId);
        return frame({ type: 'RUN_ERROR', code, message });
      },
    });
  });

  /** A run that a client sends again is the one that it began, also where both come at once. */
  async function begun(
    exchange: Exchange,
    question: Question,
    requestDigest: string,
  ): Promise<{ row: ClientAnswer; events: Begun['events'] }> {
    const idempotencyKey = exchange.idempotencyKey ?? `ag-ui.${requestDigest}`;
    const begun = await begin({ ...exchange, idempotencyKey }, question);
    const of = { ...begun, kind: 'run_' as const, isKept: false, requestDigest, model: question.model ?? '' };
    return { row: await keepAnswer(db, exchange, question, of), events: begun.events };
  }
}
