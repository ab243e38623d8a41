import { check } from '@vestra/contract/fault';
import { scenarios } from '@vestra/contract/scenarios';
import { z } from 'zod';
import type { VersionRow } from '../deployments/api.ts';
import { type ScenarioFields, strayTool } from './scenario.ts';

export type Draft = ScenarioFields;

const answer = z.object({ scenarios: z.array(z.record(z.string(), z.unknown())) });
const results = z.array(z.object({ tool: z.string(), result: z.string() }));

const mostFaults = 20;

/** What the model drafted, or everything that keeps it from being used, in words that it can mend it by. */
export function readDrafts(
  text: string,
  count: number,
  { manifest }: Pick<VersionRow, 'manifest'>,
): { ok: true; drafts: Draft[] } | { ok: false; faults: string[] } {
  const read = answer.safeParse(parsed(text));
  if (!read.success) return { ok: false, faults: ['It is not JSON of the asked shape.'] };
  const all = read.data.scenarios.slice(0, count).map((given, at) => readDraft(given, at, manifest));
  const faults = all.flatMap((each) => ('faults' in each ? each.faults : []));
  if (all.length < count) faults.unshift(`There are ${all.length} scenarios: write ${count}.`);
  const names = all.flatMap((each) => ('draft' in each ? [each.draft.name] : []));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) faults.push(`Two scenarios have the name ${JSON.stringify(twice)}.`);
  if (faults.length > 0) return { ok: false, faults: faults.slice(0, mostFaults) };
  return { ok: true, drafts: all.flatMap((each) => ('draft' in each ? [each.draft] : [])) };
}

function readDraft(
  given: Record<string, unknown>,
  at: number,
  manifest: VersionRow['manifest'],
): { draft: Draft } | { faults: string[] } {
  const { tool_results: listed, approves, ...rest } = given;
  const played = results.safeParse(listed ?? []);
  if (!played.success) return { faults: [`scenarios.${at}.tool_results: Write a list of {tool, result}.`] };
  const byTool = Object.fromEntries(played.data.map(({ tool, result }) => [tool, parsed(result) ?? result]));
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
