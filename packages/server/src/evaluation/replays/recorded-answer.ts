import type { Exchange } from '../../engine/conversations/index.ts';
import type { InteractionRow, Resolution } from '../../engine/interactions/index.ts';
import { standInAnswer } from '../test-runs/stand-in-answer.ts';

/**
 * What comes of a wait in a replay: what the person decided then about the same tool or the same question. Nothing is run
 * after a yes, whoever gave it. What they were not asked then gets a no.
 */
export function recordedAnswer(
  wait: Pick<InteractionRow, 'type' | 'purpose' | 'details' | 'questions'>,
  exchanges: readonly Exchange[],
): Resolution {
  const then = exchanges.flatMap(({ reply, work }) => [...reply.waits, ...work.waits]);
  if (wait.type === 'question') {
    const asked = JSON.stringify(wait.questions?.map(({ question }) => question));
    const same = then.find(
      ({ type, answers, questions }) =>
        type === 'question' && answers !== null && JSON.stringify(questions?.map(({ question }) => question)) === asked,
    );
    return same?.answers
      ? { status: 'resolved', decision: 'answered', answers: same.answers }
      : { status: 'resolved', decision: 'denied' };
  }
  if (wait.type === 'approval') {
    const isSame = ({ type, purpose, details }: InteractionRow) =>
      type === 'approval' && purpose === wait.purpose && details.tool_name === wait.details.tool_name;
    const decided = then.find((each) => isSame(each) && each.decision === 'approved');
    return { status: 'resolved', decision: decided ? 'approved' : 'denied' };
  }
  const decided = standInAnswer(wait, { approves: false });
  return decided === 'ask the user' ? { status: 'resolved', decision: 'denied' } : decided;
}
