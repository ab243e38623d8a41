import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '@vestra/agent/credential';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { z } from 'zod';
import { readableNotebooks } from '../../agents/notebooks/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import { readTranscript } from '../../engine/conversations/index.ts';
import { ask, type Engine } from '../../engine/index.ts';
import type { ImprovementRow, ResultRow } from '../tables.ts';
import { documentsAbout } from './documents.ts';
import {
  type Changeable,
  isEmptyChange,
  type ProposalFault,
  type ReadProposal,
  readProposal,
  shownProposal,
} from './proposal.ts';
import type { paidByImprovement } from './spending.ts';

const prompt = readFileSync(join(import.meta.dirname, 'propose.md'), 'utf8').trim();
const maxTranscript = 8_000;

export type Proposal = { read: ReadProposal | null; refused: ProposalFault['kind'][] };

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
