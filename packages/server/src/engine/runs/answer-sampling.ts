import { listen } from '@vestra/agent/listen';
import type { Message } from '@vestra/agent/message';
import { ModelFailure, type ModelRequest } from '@vestra/agent/model';
import type { Sample, SampledPrompt } from '../../agents/tool-servers/index.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { changeConversation } from '../records/change.ts';
import type { Subject } from '../records/subject.ts';
import type { Assembled } from './assemble.ts';
import type { Engine } from './ports.ts';
import { createRunMoney, type RunMoney } from './run-money.ts';

/** Of one call of a tool. */
const mostAnswers = 10;
const longestMs = 100_000;

/**
 * The run's own model for a server whose tool is being called. It reads what the server wrote and nothing else. Its cost is
 * the run's and so the user's: held before, under the same caps, and charged at once, whatever becomes of the call.
 */
export function createSampling(
  engine: Engine,
  { subject, run, runMoney }: { subject: Subject; run: Run; runMoney: RunMoney },
  { model, agentRun }: Assembled,
): () => Sample {
  const { turn } = subject;
  const tenant = { orgId: turn.org_id, mode: turn.mode };

  async function answer(prompt: SampledPrompt, signal: AbortSignal): ReturnType<Sample> {
    const either = AbortSignal.any([signal, agentRun.signal]);
    // Tools that only read are called side by side, and each holds its own money.
    const own = createRunMoney(engine, { tenant, subject, run, model, hold: null, signal: either });
    try {
      const request = requestOf(prompt, model.id, either);
      const allowance = await own.mayContinue(request, { msLeft: longestMs });
      if (allowance.kind === 'refused') return { refused: `The model is not asked: ${allowance.stop.message}` };
      const ears = { onText: async () => {}, ended: either, timeUp: AbortSignal.timeout(longestMs) };
      const said = await listen(own.metered(engine.models.model(model.id)), request, ears);
      const { usage } = said;
      if (usage) {
        const micros = await changeConversation(engine, turn.conversation_id, run, (change) =>
          own.charge(change, usage),
        );
        runMoney.spentBeside(micros);
      }
      if (said instanceof ModelFailure) return { refused: 'The model gave no answer.' };
      return { text: said.text, model: model.id, isCut: said.isCut };
    } finally {
      await own.close().catch(() => {});
    }
  }

  return () => {
    let answers = 0;
    return async (prompt, signal) => {
      answers += 1;
      if (answers > mostAnswers) return { refused: `A call asks the model ${mostAnswers} times at most.` };
      return answer(prompt, signal);
    };
  };
}

const requestOf = (
  { system, messages, maxTokens }: SampledPrompt,
  model: string,
  signal: AbortSignal,
): ModelRequest => ({
  model,
  system: system === null ? [] : [system],
  messages: messages.map(
    ({ role, text }): Message =>
      role === 'user' ? { role, parts: [{ kind: 'text', text }] } : { role: 'agent', text, calls: [] },
  ),
  tools: [],
  maxOutputTokens: maxTokens,
  signal,
});
