import type { ReasoningLevel } from '@vestra/agent/model';
import type { JsonRecord } from './json.ts';
import type { WireRequest } from './wire.ts';

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high';
const efforts: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high'];

/** The least effort of OpenAI's models that cannot stop reasoning. The others accept `none`, but not `minimal`. */
const leastEfforts: readonly (readonly [RegExp, Effort])[] = [
  [/^gpt-5-pro/, 'high'],
  [/^gpt-[\d.]+-pro/, 'medium'],
  [/^gpt-5(-mini|-nano)?(-20\d\d|$)/, 'minimal'],
  [/^o\d|^gpt-6-astra|^gpt-6\.1-sol|-cyber|-codex-spark/, 'low'],
];

/** `reasoning` of OpenAI's Responses, https://developers.openai.com/api/docs/guides/reasoning. */
export function effortForOpenai({ modelId, reasoning }: Pick<WireRequest, 'modelId' | 'reasoning'>): JsonRecord {
  if (reasoning === null) return {};
  const wanted: Effort = reasoning === 'off' ? 'none' : reasoning;
  const least = leastEfforts.find(([model]) => model.test(modelId))?.[1] ?? 'none';
  return { reasoning: { effort: efforts.indexOf(wanted) < efforts.indexOf(least) ? least : wanted } };
}

/** `reasoning_effort` of chat completions. Ollama, vLLM and Groq read `none` as off. */
export const effortForCompatible = ({ reasoning }: Pick<WireRequest, 'reasoning'>): JsonRecord =>
  reasoning === null ? {} : { reasoning_effort: reasoning === 'off' ? 'none' : reasoning };

const budgets: Record<Exclude<ReasoningLevel, 'off'>, number> = { low: 2_048, medium: 8_192, high: 16_384 };

type ForAnthropic = Pick<
  WireRequest,
  'modelId' | 'reasoning' | 'maxOutputTokens' | 'mustCallTool' | 'isReasoningLeftOut'
>;

/**
 * `thinking` and `effort` of Anthropic, https://platform.claude.com/docs/en/build-with-claude/effort. From 4.6 on,
 * models choose how long they think, and the effort guides them. Before, each request has a budget. `adaptive` is what
 * the model gets by default.
 */
export function thinkingForAnthropic(
  { modelId, reasoning, maxOutputTokens, mustCallTool, isReasoningLeftOut }: ForAnthropic,
  adaptive: JsonRecord | null,
): { thinking: JsonRecord | null; effort: Exclude<ReasoningLevel, 'off'> | null } {
  const [family, version] = claudeOf(modelId);
  if (reasoning === null) return { thinking: adaptive, effort: null };
  if (reasoning === 'off') {
    const way = waysToStop.find(([model, from]) => model === family && version >= from);
    const off = way === undefined ? 'disabled' : way[2];
    return off === null ? { thinking: adaptive, effort: 'low' } : { thinking: { type: off }, effort: null };
  }
  if (version >= 4.06) {
    // A forced tool and thinking exclude each other.
    return { thinking: mustCallTool ? adaptive : (adaptive ?? { type: 'adaptive' }), effort: reasoning };
  }
  const budget_tokens = Math.min(budgets[reasoning], Math.floor(maxOutputTokens / 2));
  // With a budget, calls in the history need their thoughts.
  const isPossible = budget_tokens >= 1_024 && !mustCallTool && !isReasoningLeftOut;
  return { thinking: isPossible ? { type: 'enabled', budget_tokens } : null, effort: null };
}

/** Null: this family cannot stop thinking from this version on. Others are asked with `disabled`. */
const waysToStop: readonly (readonly [family: string, from: number, type: string | null])[] = [
  ['fable', 0, null],
  ['opus', 5.01, null],
  ['sonnet', 5.01, 'between_tools'],
];

/** `claude-opus-4-6` is ['opus', 4.06], so that 4.10 would follow 4.9. */
function claudeOf(modelId: string): [family: string, version: number] {
  const [, family = '', major = '0', minor = '0'] = /claude-([a-z]+)-(\d+)(?:-(\d{1,2})(?!\d))?/.exec(modelId) ?? [];
  return [family, Number(major) + Number(minor) / 100];
}

const budgetsOfGemini: Record<ReasoningLevel, number> = { off: 0, low: 2_048, medium: 8_192, high: 24_576 };
const hasMinimal = /^gemini-(3-flash|3\.1-flash|3\.[56]-flash|flash)/;

/** `thinkingConfig` of Gemini: a budget before the third generation and a level since, https://ai.google.dev/gemini-api/docs/thinking. */
export function thinkingForGoogle({ modelId, reasoning }: Pick<WireRequest, 'modelId' | 'reasoning'>): JsonRecord {
  if (reasoning === null) return {};
  if (/^gemini-[12]\b/.test(modelId)) {
    const least = modelId.includes('-pro') ? 128 : 0;
    return { thinkingConfig: { thinkingBudget: Math.max(least, budgetsOfGemini[reasoning]) } };
  }
  const least = hasMinimal.test(modelId) ? 'MINIMAL' : 'LOW';
  return { thinkingConfig: { thinkingLevel: reasoning === 'off' ? least : reasoning.toUpperCase() } };
}
