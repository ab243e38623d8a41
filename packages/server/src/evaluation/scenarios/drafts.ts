import { notOfTheShape, parsedJson } from '@vestra/agent/question';
import { check } from '@vestra/contract/fault';
import { scenarios } from '@vestra/contract/scenarios';
import { z } from 'zod';
import type { VersionRow } from '../../agents/deployments/index.ts';
import { type ScenarioFields, strayTool } from './scenario.ts';

export type Draft = ScenarioFields;

const results = z.array(z.object({ tool: z.string(), result: z.string() }));

/** What a model is asked to write. */
export const shownAnswer = z.object({
  scenarios: z.array(
    z.object({
      name: z.string(),
      persona: z.string(),
      goal: z.string(),
      success_criteria: z.array(z.string()),
      must_never: z.array(z.string()),
      tool_results: results,
      approves: z.boolean(),
    }),
  ),
});

/** What is read of its answer: each scenario has faults of its own, and those without any are kept. */
export const draftedAnswer = z.object({ scenarios: z.array(z.record(z.string(), z.unknown()).catch({})) });

const mostFaults = 20;

/**
 * What of a model's answer can be used beside what is kept already, and what keeps the rest of it from being used, in words
 * that it can be mended by.
 */
export function readDrafts(
  answer: z.output<typeof draftedAnswer> | null,
  { kept, wanted }: { kept: readonly Draft[]; wanted: number },
  { manifest }: Pick<VersionRow, 'manifest'>,
): { usable: Draft[]; faults: string[] } {
  if (answer === null) return { usable: [], faults: [notOfTheShape] };
  const usable: Draft[] = [];
  const faults: string[] = [];
  for (const [at, given] of answer.scenarios.entries()) {
    const one = readDraft(given, at, manifest);
    if ('faults' in one) faults.push(...one.faults);
    else if ([...kept, ...usable].some(({ name }) => name === one.draft.name)) {
      faults.push(`Two scenarios have the name ${JSON.stringify(one.draft.name)}.`);
    } else usable.push(one.draft);
  }
  const left = wanted - kept.length;
  if (usable.length < left && faults.length === 0) faults.push(`Only ${usable.length} of ${left} are there.`);
  return { usable: usable.slice(0, left), faults: faults.slice(0, mostFaults) };
}

function readDraft(
  given: Record<string, unknown>,
  at: number,
  manifest: VersionRow['manifest'],
): { draft: Draft } | { faults: string[] } {
  const { tool_results: listed, approves, ...rest } = given;
  const played = results.safeParse(listed ?? []);
  if (!played.success) return { faults: [`scenarios.${at}.tool_results: Write a list of {tool, result}.`] };
  const byTool = Object.fromEntries(played.data.map(({ tool, result }) => [tool, parsedJson(result) ?? result]));
  const stray = strayTool(byTool, manifest);
  const checked = check(
    scenarios.create.body,
    {
      ...rest,
      ...(played.data.length > 0 && { tool_results: byTool }),
      ...(approves === true && { approves }),
    },
    'invalid_request',
  );
  const faults = [
    ...(checked.ok ? [] : checked.faults.map(({ param, message }) => `scenarios.${at}.${param}: ${message}`)),
    ...(stray === undefined ? [] : [`scenarios.${at}.tool_results: There is no tool \`${stray}\`.`]),
  ];
  return checked.ok && faults.length === 0 ? { draft: checked.value } : { faults };
}
