import type { TaskTrace, TurnTrace } from '@vestra/sdk/resources';
import type { Terminal } from '../terminal.ts';
import { cut, plain, showMoney, showValue, widthOf } from './show-value.ts';

type Look = Pick<Terminal, 'columns' | 'paint'>;
type Trace = TurnTrace | TaskTrace;
type Line = { at: string; words: string; facts: string; isError: boolean };

/**
 * Shows a reply or task as a tree in time order: each model call with tokens and cost, each tool call with its
 * arguments. `work` is the task that the reply handed off to, as a branch.
 */
export function showTrace(look: Look, head: string, trace: Trace, work: TaskTrace | null = null): string {
  const lines = [...trace.turns.map(modelLine), ...trace.steps.map(toolLine)].sort((one, other) =>
    one.at < other.at ? -1 : 1,
  );
  const missing = trace.missing_tools.map(({ server, reason }): Line => {
    return { at: '', words: `without the tools of ${plain(server)}`, facts: plain(reason), isError: true };
  });
  const own = [...lines, ...missing];
  const branches = own.map((line, at) => branchOf(look, line, at === own.length - 1 && !work));
  const below = work ? showTrace(look, `work ${work.task_id}`, work).trimEnd().split('\n') : [];
  const nested = below.map((line, at) => (at === 0 ? `└─ ${line}` : `   ${line}`));
  return `${[titleOf(look, head, trace), ...branches, ...nested].map((line) => fitted(look, line)).join('\n')}\n`;
}

function titleOf({ paint }: Look, head: string, { totals, turns, steps }: Trace): string {
  const facts = [tookOf([...turns, ...steps]), tokensOf(totals), showMoney(totals.cost_usd)].filter(Boolean);
  return `${paint('bold', head)}  ${paint('dim', facts.join(' · '))}`;
}

function branchOf({ paint }: Look, { words, facts, isError }: Line, isLast: boolean): string {
  const mark = isError ? `${paint('red', '✖')} ` : '';
  return `${isLast ? '└─' : '├─'} ${mark}${words}${facts ? `  ${paint('dim', facts)}` : ''}`;
}

function modelLine(call: Trace['turns'][number]): Line {
  const { model, status, error, started_at: at, duration_ms, cost_usd } = call;
  const facts = [durationOf(duration_ms), tokensOf(call), showMoney(cost_usd)].filter(Boolean);
  const isError = status === 'failed';
  return {
    at,
    words: [model ?? 'a model', error]
      .filter((each) => each !== null)
      .map(plain)
      .join(': '),
    facts: facts.join(' · '),
    isError,
  };
}

function toolLine(step: Trace['steps'][number]): Line {
  const { name, input_summary, output_summary, is_error: isError, started_at: at, duration_ms } = step;
  const said = isError ? output_summary : input_summary;
  const words = [name ?? 'a tool', said].filter((each) => each !== null).map((each) => oneLine(plain(each)));
  return { at, words: words.join(': '), facts: durationOf(duration_ms) || 'not ended', isError };
}

/** From the first start to the last end. */
function tookOf(parts: readonly { started_at: string; duration_ms: number | null }[]): string {
  const begun = parts.map(({ started_at }) => Date.parse(started_at));
  const ended = parts.map(({ started_at, duration_ms }) => Date.parse(started_at) + (duration_ms ?? 0));
  return parts.length === 0 ? '' : durationOf(Math.max(...ended) - Math.min(...begun));
}

const durationOf = (ms: number | null) => (ms === null ? '' : showValue('_ms', ms));

const tokensOf = ({ input_tokens, output_tokens }: { input_tokens: number; output_tokens: number }) =>
  `${input_tokens.toLocaleString('en-US')} → ${output_tokens.toLocaleString('en-US')} tokens`;

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

/** A wrapped line breaks the tree. A coloured line is cut only if its visible text is too long. */
const fitted = ({ columns }: Look, line: string) =>
  columns === null || widthOf(plain(line)) <= columns ? line : cut(plain(line), columns);
