import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { withoutCredentials } from '@vestra/agent/credential';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { documentTitle } from '@vestra/contract/notebooks';
import { text } from '@vestra/contract/text';
import { trimEndOf } from '@vestra/contract/trim-end';
import { z } from 'zod';
import { readableNotebooks } from '../../agents/notebooks/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import { readTranscript } from '../../engine/conversations/index.ts';
import { ask, type Engine } from '../../engine/index.ts';
import { personalValues } from '../scenarios/personal-values.ts';
import type { Attempt, Improvement, ImprovementRow, ResultRow } from '../tables.ts';
import { documentsAbout } from './documents.ts';
import type { paidByImprovement } from './spending.ts';

const prompt = readFileSync(join(import.meta.dirname, 'proposal.md'), 'utf8').trim();
const maxTranscript = 8_000;

type Proposal = { read: ReadProposal | null; refused: ProposalFault['kind'][] };

/** Asks the model for a change. `read` is null if nothing that it proposed is within the limits. */
export async function propose(
  engine: Engine,
  improvement: ImprovementRow,
  { version, failures }: { version: { manifest: Manifest; content: FixedContent }; failures: readonly ResultRow[] },
  payer: ReturnType<typeof paidByImprovement>,
  signal: AbortSignal,
): Promise<Proposal> {
  const { db } = engine;
  const { manifest } = version;
  const about = failures.map(({ scenario }) => [scenario.name, scenario.goal, ...scenario.success_criteria].join(' '));
  const documents = await documentsAbout(db, improvement.org_id, version, about.join(' '));
  const reader = { orgId: improvement.org_id, notebookIds: manifest.notebooks, userId: null };
  const notebooks = manifest.notebooks.length === 0 ? [] : await readableNotebooks(db, reader);
  const current: Changeable = { manifest, notebooks, documents };
  const given = withoutCredentials(
    '',
    {
      instructions: manifest.instructions,
      functions: manifest.tools.map(({ function: name, description }) => ({ function: name, description })),
      documents: documents.map(({ notebook, title, text }) => ({ notebook, title, ...(text !== null && { text }) })),
      failures: await Promise.all(failures.map((failure) => describeFailure(engine, failure))),
      tried: improvement.attempts.map(({ change, results }) => ({
        change,
        still_failing: results?.not_fixed.map(({ name, reason }) => ({ name, reason })) ?? [],
        broken: results?.regressions.map(({ name, reason }) => ({ name, reason })) ?? [],
        changed_conversations: results?.changed_conversations ?? 0,
      })),
    },
    Number.POSITIVE_INFINITY,
  );
  const refused = new Set<ProposalFault['kind']>();
  const read = await ask({
    purpose: 'improve',
    prompt,
    messages: [saidByUser(asData(newFence(), 'agent', JSON.stringify(given, null, 1)))],
    // Looser than what is shown, so that a refused key is seen and flagged.
    schema: z.record(z.string(), z.unknown()),
    shown: shownProposal,
    repairs: 1,
    read: (answer, isLast): Reading<ReadProposal | null> => {
      const proposal = readProposal(answer, current);
      if (!('faults' in proposal)) return { value: proposal };
      for (const { kind } of proposal.faults) refused.add(kind);
      return isLast ? { value: null } : { again: unusable(proposal.faults.map(({ message }) => message)) };
    },
    payer,
    signal,
  });
  return { read, refused: [...refused] };
}

/** The words of simulated users and the agent: what the real user wrote was replaced before. */
async function describeFailure({ db }: Engine, { scenario, conversation_id, criteria, must_never }: ResultRow) {
  const transcript = conversation_id === null ? [] : (await readTranscript(db, conversation_id)).witnessed;
  return {
    scenario: scenario.name,
    goal: scenario.goal,
    success_criteria: scenario.success_criteria,
    must_never: scenario.must_never,
    not_met: criteria.filter(({ met }) => !met).map(({ text, reason }) => ({ text, reason })),
    broken: must_never.filter(({ broken }) => broken).map(({ text, reason }) => ({ text, reason })),
    conversation: transcript
      .map(({ speaker, text }) => `${speaker}: ${text}`)
      .join('\n')
      .slice(0, maxTranscript)
      .toWellFormed(),
  };
}

/** Why a scenario cannot be fixed, by scenario id. */
export function reasonsOf(
  { read }: Proposal,
  failures: readonly { scenario_id: string; scenario: { name: string } }[],
): Record<string, string> {
  const given = failures.flatMap(({ scenario_id, scenario }) => {
    const found = read?.cannotFix.find((each) => each.scenario === scenario.name);
    return found ? [[scenario_id, found.reason] as const] : [];
  });
  if (read && !isEmptyChange(read.change)) return Object.fromEntries(given);
  const reason = read ? noChange : nothingUsable;
  return {
    ...Object.fromEntries(failures.map(({ scenario_id }) => [scenario_id, reason])),
    ...Object.fromEntries(given),
  };
}

const noChange = 'The model proposed no other change.';
const nothingUsable = 'The model proposed no change that is within the limits.';

/** The texts that a proposal may change. `text` is null for documents that the model was not shown. */
export type Changeable = {
  manifest: Manifest;
  notebooks: readonly { id: string; name: string }[];
  documents: readonly { notebook_id: string; title: string; text: string | null }[];
};

type ProposalFault = { kind: 'shape' | 'outside_limits' | 'address'; message: string };

export type ReadProposal = {
  change: NonNullable<Attempt['change']>;
  manifest: Manifest;
  /** Why a scenario cannot be fixed, by its name. */
  cannotFix: { scenario: string; reason: string }[];
};

const reason = text(1, 2000);
const shape = z.strictObject({
  instructions: text(0, 8000).nullable(),
  instructions_reason: z.string().max(2000),
  tools: z.array(z.strictObject({ function: z.string(), description: text(1, 1024), reason })).max(50),
  documents: z
    .array(z.strictObject({ notebook: z.string(), title: documentTitle, text: text(1, 100_000), reason }))
    .max(20),
  cannot_fix: z.array(z.strictObject({ scenario: z.string(), reason })).max(50),
});

/** The schema that the model is shown. */
const shownProposal = shape;

/**
 * Reads a proposal of a model. The server enforces the limits here, whatever the prompt or a conversation said: a
 * proposal with anything else in it is refused as a whole.
 */
export function readProposal(given: unknown, current: Changeable): ReadProposal | { faults: ProposalFault[] } {
  const stray = strayKeys(given);
  if (stray.length > 0) return { faults: stray.map((key) => outside(`\`${key}\` cannot be changed.`)) };
  const read = shape.safeParse(given);
  if (!read.success) {
    const faults = read.error.issues.slice(0, 10).map(({ path, message, code }): ProposalFault => {
      const where = path.join('.');
      return code === 'unrecognized_keys'
        ? outside(`${where}: ${message}`)
        : { kind: 'shape', message: `${where}: ${message}` };
    });
    return { faults };
  }
  const { instructions, instructions_reason, tools, documents, cannot_fix: cannotFix } = read.data;
  const { manifest } = current;
  const faults: ProposalFault[] = [];
  for (const { function: name } of tools) {
    if (!manifest.tools.some((tool) => tool.function === name))
      faults.push(outside(`There is no function \`${name}\`.`));
  }
  const targets = documents.map((document) => targetOf(document, current));
  for (const target of targets) if ('kind' in target) faults.push(target);
  if (faults.length > 0) return { faults };

  const next = {
    ...manifest,
    instructions: instructions ?? manifest.instructions,
    tools: manifest.tools.map((tool) => {
      const described = tools.findLast((each) => each.function === tool.function);
      return described ? { ...tool, description: described.description } : tool;
    }),
  };
  const change: ReadProposal['change'] = {
    instructions:
      next.instructions === manifest.instructions
        ? null
        : { before: manifest.instructions, after: next.instructions, reason: instructions_reason || 'Not given.' },
    tools: manifest.tools.flatMap(({ function: name, description: before }, at) => {
      const after = next.tools[at]?.description as string;
      if (after === before) return [];
      return [
        { function: name, before, after, reason: tools.findLast((each) => each.function === name)?.reason ?? '' },
      ];
    }),
    documents: documents.flatMap(({ title, text: after, reason: why }, at) => {
      const { notebook_id, notebook, before } = targets[at] as Target;
      return before === after ? [] : [{ notebook_id, notebook, title, before, after, reason: why }];
    }),
  };
  const limits = pathsOutside(manifest, next).map((path) => outside(`\`${path}\` cannot be changed.`));
  const added = addedBy(change, current);
  return limits.length + added.length > 0 ? { faults: [...limits, ...added] } : { change, manifest: next, cannotFix };
}

const outside = (message: string): ProposalFault => ({ kind: 'outside_limits', message });

function strayKeys(given: unknown): string[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  return Object.keys(given).filter((key) => !(key in shape.shape));
}

type Target = { notebook_id: string; notebook: string; before: string | null };

/** A document that the model has not read must not be replaced: its text would be lost. */
function targetOf(
  { notebook: named, title }: { notebook: string; title: string },
  { notebooks, documents }: Changeable,
): Target | ProposalFault {
  const notebook = notebooks.find(({ id, name }) => id === named || name === named);
  if (!notebook) return outside(`The deployment reads no notebook \`${named}\`.`);
  const known = documents.filter((each) => each.notebook_id === notebook.id && each.title === title);
  if (known.length > 1) return outside(`Several documents are titled \`${title}\`.`);
  if (known[0]?.text === null) return outside(`The text of \`${title}\` was not shown, so it cannot be replaced.`);
  return { notebook_id: notebook.id, notebook: notebook.name, before: known[0]?.text ?? null };
}

/**
 * Lists the paths in which two manifests differ, other than the instructions and the descriptions of functions. It
 * compares everything, so that a setting that is added later is protected as well.
 */
export function pathsOutside(before: Manifest, after: Manifest): string[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])] as (keyof Manifest)[];
  const differing = keys.filter(
    (key) => key !== 'instructions' && key !== 'tools' && !isDeepStrictEqual(before[key], after[key]),
  );
  const bare = (tools: Manifest['tools']) => tools.map(({ description: _text, ...tool }) => tool);
  return isDeepStrictEqual(bare(before.tools), bare(after.tools)) ? differing : [...differing, 'tools'];
}

const addressPatterns = [
  /\bhttps?:\/\/[^\s<>"'`)\]}]+/giu,
  /\b(?:[\p{L}\p{N}-]{1,63}\.){1,8}[a-z]{2,24}(?:\/[^\s<>"'`)\]}]*)?/giu,
  /\$\{[^}\s]{1,200}\}/gu,
];

/** Names of files look like hosts. */
const isFileName = (address: string) => /^[^/]+\.(?:md|txt|pdf|ya?ml|json|csv|docx?|xlsx?|html?)$/i.test(address);

/** Links, hosts, email addresses, telephone and account numbers, and references to secrets. */
export function addressesIn(given: string): string[] {
  const links = addressPatterns
    .flatMap((pattern) => given.match(pattern) ?? [])
    .map((each) => trimEndOf(each, '.,;:!?'));
  const numbers = personalValues({ given }, []).map(({ value }) => value);
  return [...new Set([...links.filter((each) => !isFileName(each)), ...numbers].map((each) => each.toLowerCase()))];
}

/**
 * A proposal may not add an address that the deployment does not have: one from a conversation would lead every user to
 * wherever its author wants.
 */
function addedBy(change: ReadProposal['change'], { manifest, documents }: Changeable): ProposalFault[] {
  const before = [
    manifest.instructions,
    ...manifest.tools.map(({ description }) => description),
    ...documents.map((document) => document.text ?? ''),
  ];
  const known = new Set(before.flatMap(addressesIn));
  const after = [
    change.instructions?.after ?? '',
    ...change.tools.map((each) => each.after),
    ...change.documents.flatMap((each) => [each.title, each.after]),
  ];
  const added = after.flatMap(addressesIn).filter((address) => !known.has(address));
  return [...new Set(added)].map((address) => ({
    kind: 'address',
    message: `Do not add \`${address}\`: neither the instructions nor a document has this address.`,
  }));
}

export const isEmptyChange = ({ instructions, tools, documents }: NonNullable<Improvement['change']>): boolean =>
  instructions === null && tools.length === 0 && documents.length === 0;
