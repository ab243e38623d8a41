import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, parsedJson, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { decisionOf, ownNameOf } from '@vestra/agent/tool';
import { Failure, fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import { scenarios } from '@vestra/contract/scenarios';
import { z } from 'zod';
import { getVersion, requireDeployment, type VersionRow } from '../../agents/deployments/index.ts';
import { documentTitles, readableNotebooks } from '../../agents/notebooks/index.ts';
import { readableSkills } from '../../agents/skills/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import { ask, type Engine, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { type ScenarioFields, strayTool } from './scenarios.ts';

const prompt = readFileSync(join(import.meta.dirname, 'generate.md'), 'utf8').trim();

/**
 * Lets a model draft scenarios for a version. Returns only drafts that the create route accepts. Usable drafts are kept
 * and only the rest is requested again, so there may be fewer than requested.
 */
export async function generateScenarios(
  engine: Engine,
  tenant: Tenant,
  { reference, count, version: wanted }: { reference: string; count: number; version: number | undefined },
  signal: AbortSignal,
): Promise<ScenarioDraft[]> {
  const deployment = await requireDeployment(engine.db, tenant.orgId, reference);
  const version = await getVersion(engine.db, deployment, wanted ?? deployment.newest_version);
  const model = usableModel(engine.models, tenant.mode, version.manifest.model);
  const paid = paidByOrg(engine, { tenant, model, deploymentId: deployment.id, conversationId: null });
  // A test of the newest version uses the current notebooks and skills, not the saved ones.
  const fixed = version.version === deployment.newest_version ? null : version.content;
  const settings = JSON.stringify(await describeVersion(engine, tenant, version, fixed, signal), null, 1);
  const kept: ScenarioDraft[] = [];
  const drafting = ask({
    purpose: 'draft_scenarios',
    prompt,
    messages: [saidByUser(`Count: ${count}\n\n${asData(newFence(), 'settings', settings)}`)],
    schema: draftedAnswer,
    shown: shownAnswer,
    repairs: 2,
    read: (answer, isLast): Reading<ScenarioDraft[]> => {
      const { usable, faults } = readDrafts(answer, { kept, wanted: count }, version);
      kept.push(...usable);
      if (kept.length === count || (isLast && kept.length > 0)) return { value: kept };
      if (isLast) throw fail('model_error', { message: `The model drafted no usable scenarios. ${faults[0]}` });
      return { again: restOf(count, kept, faults) };
    },
    payer: forWaitingCaller(paid),
    signal,
  });
  return drafting.catch((error: unknown) => {
    // Drafts from before the failure are still valid.
    if (error instanceof Failure && kept.length > 0) return kept;
    throw error;
  });
}

function restOf(count: number, kept: readonly ScenarioDraft[], faults: readonly string[]): string {
  const names = kept.map(({ name }) => JSON.stringify(name)).join(', ');
  return [
    unusable(faults),
    ...(kept.length === 0 ? [] : [`These are kept: ${names}. Do not write them again.`]),
    `Count: ${count - kept.length}\nWrite ${kept.length === 0 ? 'all scenarios again' : 'the missing ones alone'}.`,
  ].join('\n\n');
}

type ScenarioDraft = ScenarioFields;

const results = z.array(z.object({ tool: z.string(), result: z.string() }));

/** The schema that the model is shown. */
const shownAnswer = z.object({
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

/** The schema for reading its answer is looser, so that one faulty scenario does not reject the others. */
const draftedAnswer = z.object({ scenarios: z.array(z.record(z.string(), z.unknown()).catch({})) });

const maxFaults = 20;

/** Splits an answer into usable drafts and faults, phrased so that the model can fix them. */
function readDrafts(
  answer: z.output<typeof draftedAnswer> | null,
  { kept, wanted }: { kept: readonly ScenarioDraft[]; wanted: number },
  { manifest }: Pick<VersionRow, 'manifest'>,
): { usable: ScenarioDraft[]; faults: string[] } {
  if (answer === null) return { usable: [], faults: [notOfTheShape] };
  const usable: ScenarioDraft[] = [];
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
  return { usable: usable.slice(0, left), faults: faults.slice(0, maxFaults) };
}

function readDraft(
  given: Record<string, unknown>,
  at: number,
  manifest: VersionRow['manifest'],
): { draft: ScenarioDraft } | { faults: string[] } {
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

/**
 * The settings of a version for the model that drafts tests, with its saved knowledge and skills or, with `fixed:
 * null`, the current ones. Unreachable servers are left out.
 */
async function describeVersion(
  { db, serverTools }: Pick<Engine, 'db' | 'serverTools'>,
  tenant: Tenant,
  { manifest, content }: { manifest: Manifest; content: FixedContent },
  fixed: FixedContent | null,
  signal: AbortSignal,
) {
  const { instructions, language, tools, mcp_servers, mcp_tool_policy, approvals, notebooks, skills } = manifest;
  const loaded =
    mcp_servers.length === 0
      ? []
      : (
          await serverTools.load(
            tenant,
            {
              ...{ userId: null, servers: mcp_servers, policies: mcp_tool_policy },
              ...{ mayHaveMoved: fixed === null, fixed: content.servers },
            },
            signal,
          )
        ).tools;
  return {
    instructions,
    language,
    functions: tools.map(({ function: name, description, input, read_only, run_without_asking }) => ({
      tool: name,
      description,
      input,
      asks_for_a_yes: !read_only && !run_without_asking,
    })),
    server_tools: loaded
      .filter(({ tool }) => decisionOf(tool) !== 'refuse')
      .map(({ tool }) => ({
        tool: `${tool.server}.${ownNameOf(tool)}`,
        description: tool.definition.description,
        input: tool.definition.inputSchema,
        asks_for_a_yes: decisionOf(tool) === 'wait',
      })),
    approvals,
    notebooks: await describeNotebooks(db, tenant, notebooks, fixed),
    skills: (await readableSkills(db, tenant.orgId, skills, fixed?.skills ?? null)).map(({ name, description }) => ({
      name,
      description,
    })),
  };
}

const maxTitles = 200;

/** Only notebooks that a test can read, since it has no user. */
async function describeNotebooks(
  db: Engine['db'],
  { orgId }: Tenant,
  notebookIds: Manifest['notebooks'],
  fixed: FixedContent | null,
) {
  if (notebookIds.length === 0) return [];
  const reader = { orgId, notebookIds, revisions: fixed?.notebooks ?? null, userId: null };
  const titles = await documentTitles(db, reader, maxTitles);
  return (await readableNotebooks(db, reader)).map(({ id, name, description }) => ({
    name,
    description,
    documents: titles.filter(({ notebook_id }) => notebook_id === id).map(({ title }) => title),
  }));
}
