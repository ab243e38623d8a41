import { permissionFor } from './approval.ts';
import type { ApprovalCategory } from './approval-category.ts';
import { allowedTool } from './call-refusal.ts';
import type { InteractionDraft } from './interaction.ts';
import type { CallSoFar } from './ports.ts';
import type { CallResult, RecordedCall, Wait, WaitPurpose } from './step.ts';
import { isReadOnly, needsApproval, type Tool } from './tool.ts';

/** The next action for a call. */
export type Move =
  | { kind: 'result'; result: CallResult }
  /** An interaction is pending. */
  | { kind: 'stand_by' }
  | { kind: 'ask'; purpose: WaitPurpose; draft: InteractionDraft }
  | ({ kind: 'run'; tool: Tool } & CallSoFar)
  | { kind: 'hand_off' }
  | { kind: 'finish'; text: string; data: unknown };

/** Handles a call that has no result yet. The order matters: each check runs only if all checks before it passed. */
export function nextMove(
  recorded: RecordedCall,
  known: Tool | undefined,
  approvals: readonly ApprovalCategory[],
): Move {
  const { call, waits, isStarted, underWay } = recorded;
  const isUnderWay = underWay !== undefined;
  if (waits.some(({ outcome }) => outcome === null)) return { kind: 'stand_by' };
  if (isStarted && !isUnderWay && !(known && isReadOnly(known))) return refused(outcomeUnknown);
  const answer = waits.find(({ purpose }) => purpose === 'answer');
  if (answer) return { kind: 'result', result: resultOf(answer, known) };
  const allowed = allowedTool(call, known);
  if ('refusal' in allowed) return isUnderWay ? refused(outcomeUnknown) : { kind: 'result', result: allowed.refusal };
  const { tool } = allowed;
  // A call that continues in its tool is informed that nobody answered.
  const unmet = waits.find((wait) => !isMet(wait) && !(isUnderWay && wait.purpose === 'input'));
  if (unmet?.outcome) return refused(`${withoutYes(unmet)} The tool was not called.`);
  if (needsApproval(tool) && !waits.some(isPermission)) {
    return { kind: 'ask', purpose: 'permission', draft: permissionFor(tool, call, approvals) };
  }
  switch (tool.effect.kind) {
    case 'run':
      return { kind: 'run', tool, isAnswered: waits.some(({ purpose }) => purpose === 'input'), underWay };
    case 'ask':
      return { kind: 'ask', purpose: 'answer', draft: tool.effect.draft(call) };
    case 'hand_off':
      return { kind: 'hand_off' };
    case 'finish':
      return { kind: 'finish', ...tool.effect.answer(call) };
  }
}

const outcomeUnknown =
  'This call was started, but its process ended before a result was recorded. Its outcome is unknown: it may have ' +
  'taken effect or not. It was not run again. Find out what happened before you repeat it.';

/** The caller's system received the call and may have acted on it, even though no answer arrived. */
const answerOverdue =
  'No answer came in time. The outcome is unknown: the system that was asked may have done it, or may still do it. It ' +
  'was not asked again. Do not repeat the call; find out what happened, or say that the outcome is unknown.';

const readOverdue =
  'No answer came in time. The system that was asked may have run the call, or may still run it. The call only reads, ' +
  'so it may be repeated.';

const refused = (output: string): Move => ({ kind: 'result', result: { output, isError: true, from: 'run' } });

const isPermission = ({ purpose }: Wait) => purpose === 'permission';

/**
 * Only an approval grants permission. A connection may also be reported as answered, and an input request accepts a
 * refusal too.
 */
function isMet({ purpose, outcome }: Wait): boolean {
  if (outcome?.decision === 'approved') return true;
  if (purpose === 'input') return outcome?.decision === 'answered' || outcome?.decision === 'denied';
  return purpose === 'connection' && outcome?.decision === 'answered' && !outcome.isError;
}

function resultOf(wait: Wait, tool: Tool | undefined): CallResult {
  const { outcome } = wait;
  const isOfPerson = tool?.effect.kind === 'ask' && tool.effect.answeredBy === 'person';
  if (outcome?.decision === 'answered') {
    return { output: outcome.output, isError: outcome.isError, from: isOfPerson ? 'person' : 'tool' };
  }
  if (outcome?.decision === 'approved') {
    return { output: `The ${wait.isOfOrg ? 'company' : 'person'} said yes.`, isError: false, from: 'person' };
  }
  const isOverdueCall = outcome?.decision === 'expired' && !isOfPerson;
  const overdue = tool && isReadOnly(tool) ? readOverdue : answerOverdue;
  return { output: isOverdueCall ? overdue : withoutYes(wait), isError: true, from: 'run' };
}

function withoutYes({ outcome, isOfOrg }: Wait): string {
  switch (outcome?.decision) {
    case 'denied':
      return `The ${isOfOrg ? 'company' : 'person'} said no.${saying(outcome.message)}`;
    case 'cancelled':
      return `The request was withdrawn: go on without this action.${saying(outcome.message)}`;
    case 'expired':
      return `Nobody answered in time.${saying(outcome.message)}`;
    default:
      return 'There was no yes.';
  }
}

const saying = (message: string | null) => (message === null ? '' : ` They wrote: ${JSON.stringify(message)}.`);
