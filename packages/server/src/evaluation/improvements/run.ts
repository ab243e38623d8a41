import { Failure, fail } from '@vestra/contract/errors';
import { emit, recordAudit } from '../../account/index.ts';
import { lockDeployment, lockVersions, requireDeployment } from '../../agents/deployments/index.ts';
import { branchRevision, prepareDocument } from '../../agents/notebooks/index.ts';
import { changedKeys, type FixedContent, saveProposedVersion, versionOfRow } from '../../agents/versions/index.ts';
import { findConversation, holdConversation } from '../../engine/conversations/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { allowedConversations } from '../allowed-conversations.ts';
import { type Play, type Player, type PlayFault, type PlayKind, runPlay } from '../player/player.ts';
import { improvementQueue } from '../player/plays.ts';
import { type FileScenario, type ScenarioToPlay, scenariosOfVersion } from '../scenarios/scenarios.ts';
import type { Attempt, ImprovementRow, ImprovementScenarioRow } from '../tables.ts';
import { judgeModelOf } from '../test-runs/judge.ts';
import { draftScenario } from './draft-scenario.ts';
import { titleOfInsight } from './improvements.ts';
import { baselineOf, createReplayOf, createRun, goodConversations, playRun, playTalks, reproducedOf } from './plays.ts';
import { presentForOthers } from './present.ts';
import { isEmptyChange, propose, type ReadProposal, reasonsOf } from './proposal.ts';
import { changedTalks, isAccepted, isComplete, isReproduced, outcomeOf, resultsOfAttempt } from './results.ts';
import { paidByImprovement } from './spending.ts';
import {
  addFlag,
  ratingsOf,
  readImprovement,
  scenariosOfImprovement,
  updateImprovement,
  updateScenario,
} from './store.ts';

/** The parts of the server that an improvement needs besides playing. */
export type Improver = Player & {
  jobs: JobSender;
  fileScenariosOf: (version: Awaited<ReturnType<typeof versionOfRow>>) => FileScenario[];
};

export const runImprovement = (improver: Improver, id: string, signal: AbortSignal): Promise<void> =>
  runPlay(improver, kindOf(improver), id, signal);

const kindOf = (improver: Improver): PlayKind<ImprovementRow> => ({
  ...improvementQueue,
  playItems: (_player, play, signal) => runPhases(improver, play, signal),
  async endOf(tx, _player, { id }, fault) {
    const row = await readImprovement(tx, id);
    const isBudgetReached = fault?.code === 'budget_reached';
    if (fault && !isBudgetReached) return { status: 'error', error_code: fault.code };
    const isAnyLeft = row.attempts.some(isAccepted) || (await scenariosOfImprovement(tx, id)).length > 0;
    // All its conversations were deleted.
    if (!isAnyLeft) return { status: 'error', error_code: 'no_failing_conversations' };
    const hasReproduced = (await reproducedOf(tx, row)).length > 0;
    const outcome = outcomeOf(row.attempts, { hasReproduced, isBudgetReached });
    return { status: 'completed', error_code: null, phase: 'ended', outcome };
  },
  // Each of its test runs and replays has its own result.
  failOpenItems: async () => {},
  async emitCompleted(tx, { id }) {
    const row = await readImprovement(tx, id);
    const { org_id: orgId, mode, deployment_id: deploymentId } = row;
    const data = await presentForOthers(tx, row);
    await emit(tx, { orgId, mode, type: 'improvement.completed', deploymentId, data });
  },
});

/**
 * Runs the phase that the row names until the last one has ended. Each phase stores its result and the next phase in one
 * transaction, so a process that takes over continues with the same one.
 */
async function runPhases(
  improver: Improver,
  play: Play<ImprovementRow>,
  signal: AbortSignal,
): Promise<PlayFault | null> {
  const phases = { reproducing: reproduce, proposing: proposeChange, proving: prove };
  for (;;) {
    const row = await readImprovement(improver.engine.db, play.row.id);
    const isProven = row.phase === 'ended' && row.attempts.some(isAccepted);
    // Plays of an archived deployment have no verdict, which is no result of the proposal.
    if (!isProven && (await isArchived(improver, row))) return { code: 'deployment_archived', message: null };
    if (row.phase === 'ended') return null;
    improver.engine.announcer.notify('test_run', row.id);
    const fault = await phases[row.phase](improver, { ...play, row }, signal);
    if (fault) return fault;
  }
}

const isArchived = async ({ engine }: Improver, { org_id, deployment_id }: ImprovementRow): Promise<boolean> =>
  (await requireDeployment(engine.db, org_id, deployment_id)).status === 'archived';

type Phase = (improver: Improver, play: Play<ImprovementRow>, signal: AbortSignal) => Promise<PlayFault | null>;

const tenantOf = ({ org_id: orgId, mode }: ImprovementRow) => ({ orgId, mode });

const baseOf = (db: Improver['engine']['db'] | Transaction, { deployment_id, base_version }: ImprovementRow) =>
  versionOfRow(db, { id: deployment_id }, base_version);

/** A longer proposal would not be the smallest one. */
const maxOutputTokens = 16_000;

/** A model gets nothing of a conversation that was deleted: `isThere` is asked before each call. */
async function payerOf({ engine }: Improver, row: ImprovementRow, isThere: () => Promise<boolean>) {
  const { manifest } = await baseOf(engine.db, row);
  const model = judgeModelOf(engine, row, manifest.model);
  if (!model) return null;
  const beforeCall = async () => {
    if (!(await isThere())) throw fail('conversation_not_found');
  };
  const account = { tenant: tenantOf(row), model, deploymentId: row.deployment_id, conversationId: null, beforeCall };
  const payer = paidByImprovement(engine, row.id, account);
  return { ...payer, max_output_tokens: Math.min(payer.max_output_tokens, maxOutputTokens) };
}

const noModel: PlayFault = { code: 'no_judge_model', message: null };

/** Writes under the lock of the improvement, unless it was cancelled or continues in another process. */
const write = (
  { engine }: Improver,
  { hold }: Play<ImprovementRow>,
  work: (tx: Transaction) => Promise<unknown>,
): Promise<void> =>
  transaction(engine.db, async (tx) => {
    await hold(tx, 'update');
    await work(tx);
  });

const reproduce: Phase = async (improver, play, signal) => {
  const { row } = play;
  let runId = row.reproduction_run_id;
  if (runId === null) {
    const fault = await draftAll(improver, play, signal);
    if (fault) return fault;
    await write(improver, play, async (tx) => {
      // Under the lock: a conversation that was deleted meanwhile must not be played.
      const drafted = (await scenariosOfImprovement(tx, row.id)).flatMap(toPlay);
      runId = drafted.length === 0 ? null : await createRun(tx, row, row.base_version, drafted);
      await updateImprovement(tx, row.id, runId ? { reproduction_run_id: runId } : { phase: 'ended' });
    });
    if (runId === null) return null;
  }
  const played = await playRun(improver, play, runId, signal);
  if (played.fault) return played.fault;
  if (!played.results.some(isReproduced)) return endPhases(improver, play);
  return playBaseline(improver, play, signal);
};

/** The existing scenarios with the current version: what fails already cannot be broken by a proposal. */
async function playBaseline(
  improver: Improver,
  play: Play<ImprovementRow>,
  signal: AbortSignal,
): Promise<PlayFault | null> {
  const { row } = play;
  let runId = row.baseline_run_id;
  if (runId === null) {
    await write(improver, play, async (tx) => {
      const existing = await existingScenarios(improver, tx, row);
      if (existing.length > 0) runId = await createRun(tx, row, row.base_version, existing);
      await updateImprovement(tx, row.id, runId ? { baseline_run_id: runId } : { phase: 'proposing' });
    });
    if (runId === null) return null;
  }
  const { fault } = await playRun(improver, play, runId, signal);
  if (fault) return fault;
  await write(improver, play, (tx) => updateImprovement(tx, row.id, { phase: 'proposing' }));
  return null;
}

async function existingScenarios(improver: Improver, tx: Transaction, row: ImprovementRow): Promise<ScenarioToPlay[]> {
  const deployment = await requireDeployment(tx, row.org_id, row.deployment_id);
  return scenariosOfVersion(tx, deployment, improver.fileScenariosOf(await baseOf(tx, row)));
}

const toPlay = ({
  scenario,
  scenario_id,
}: Pick<ImprovementScenarioRow, 'scenario' | 'scenario_id'>): ScenarioToPlay[] =>
  scenario === null ? [] : [{ ...scenario, id: scenario_id }];

/** Drafts a scenario for each conversation that has none yet. */
async function draftAll(
  improver: Improver,
  play: Play<ImprovementRow>,
  signal: AbortSignal,
): Promise<PlayFault | null> {
  const { engine } = improver;
  const { row } = play;
  const version = await baseOf(engine.db, row);
  const title = await titleOfInsight(engine.db, row);
  const open = (await scenariosOfImprovement(engine.db, row.id)).filter((each) => !each.scenario && !each.is_left_out);
  for (const each of open) {
    const tenant = tenantOf(row);
    if (!(await allowedConversations(engine.db, tenant, [each.source_id])).has(each.source_id)) {
      // The settings changed after it was created.
      await write(improver, play, (tx) => updateScenario(tx, each, { is_left_out: true }));
      continue;
    }
    const isThere = async () => (await findConversation(engine.db, tenant, each.source_id)) !== undefined;
    const payer = await payerOf(improver, row, isThere);
    if (!payer) return noModel;
    const ratings = await ratingsOf(engine.db, tenant, [each.source_id]);
    const notes = ratings.filter(({ rating }) => rating === 'bad').flatMap(({ note }) => note ?? []);
    const complaints = [...(title === null ? [] : [title]), ...notes];
    const draft = await draftScenario(
      engine,
      tenant,
      { conversationId: each.source_id, complaints, version },
      payer,
      signal,
    ).catch((error: unknown) => {
      // The conversation is empty, or was deleted meanwhile.
      const isGone = error instanceof Failure && ['conversation_not_found', 'invalid_request'].includes(error.code);
      if (isGone) return { scenario: null, isSteering: false };
      throw error;
    });
    await write(improver, play, async (tx) => {
      // Locked, so that a concurrent deletion runs before this or removes the scenario too.
      if (!(await holdConversation(tx, tenant, each.source_id))) return;
      await updateScenario(tx, each, draft.scenario ? { scenario: draft.scenario } : { is_left_out: true });
      if (draft.isSteering) await addFlag(tx, row.id, { conversation_id: each.source_id, reason: 'steering' });
    });
  }
  return null;
}

async function endPhases(improver: Improver, play: Play<ImprovementRow>): Promise<null> {
  await write(improver, play, (tx) => updateImprovement(tx, play.row.id, { phase: 'ended' }));
  return null;
}

const proposeChange: Phase = async (improver, play, signal) => {
  const { engine } = improver;
  const { row } = play;
  const failures = await reproducedOf(engine.db, row);
  if (failures.length === 0) return endPhases(improver, play);
  const areThere = async () => (await reproducedOf(engine.db, row)).length === failures.length;
  const payer = await payerOf(improver, row, areThere);
  if (!payer) return noModel;
  const version = await baseOf(engine.db, row);
  const proposal = await propose(engine, row, { version, failures }, payer, signal).catch((error: unknown) => {
    if (error instanceof Failure && error.code === 'conversation_not_found') return null;
    throw error;
  });
  // A conversation was deleted: the phase begins again with the others.
  if (proposal === null) return null;
  const isUsable = proposal.read !== null && !isEmptyChange(proposal.read.change);
  await transaction(engine.db, async (tx) => {
    // Versions are locked before any row, to avoid deadlocks with promotions.
    if (isUsable) await lockVersions(tx, row.org_id);
    const deployment = isUsable ? await lockDeployment(tx, row.org_id, row.deployment_id) : null;
    await play.hold(tx, 'update');
    // Again under the lock: the rows have nothing of a conversation that was deleted during the model call.
    const { attempts } = await readImprovement(tx, row.id);
    const left = await reproducedOf(tx, row);
    if (left.length === 0) {
      await updateImprovement(tx, row.id, { phase: 'ended' });
      return;
    }
    // The proposal may repeat the words of a deleted conversation, so the phase begins again without it.
    if (left.length < failures.length) return;
    for (const reason of proposal.refused) {
      if (reason !== 'shape') await addFlag(tx, row.id, { conversation_id: null, reason });
    }
    const cannotFix = reasonsOf(proposal, left);
    if (!deployment || !proposal.read) {
      const results = resultsOfAttempt({ ...nothingPlayed, reproduced: left, cannotFix });
      const attempt = { ...emptyAttempt, cannot_fix: cannotFix, results };
      await updateImprovement(tx, row.id, { attempts: [...attempts, attempt], phase: 'ended' });
      return;
    }
    const saved = await saveProposal(improver, tx, { row, deployment, base: version, read: proposal.read });
    const drafted = (await scenariosOfImprovement(tx, row.id)).flatMap(toPlay);
    const reproduced = drafted.filter(({ id }) => left.some(({ scenario_id }) => scenario_id === id));
    // Those that the current version played: one that was edited or deleted since cannot be compared.
    const existing = (await baselineOf(tx, row)).flatMap(toPlay);
    const talks = await goodConversations(tx, row, saved);
    const attempt: Attempt = {
      ...emptyAttempt,
      version: saved,
      change: proposal.read.change,
      cannot_fix: cannotFix,
      proof_run_id: await createRun(tx, row, saved, [...reproduced, ...existing]),
      replay_id: await createReplayOf(
        tx,
        row,
        saved,
        talks.map(({ id, user_id }) => ({ source_id: id, user_id })),
      ),
    };
    await updateImprovement(tx, row.id, { attempts: [...attempts, attempt], phase: 'proving' });
  });
  return null;
};

const nothingPlayed = { baseline: [], proof: [], talks: [], control: [] };

const emptyAttempt: Attempt = {
  version: null,
  change: null,
  cannot_fix: {},
  proof_run_id: null,
  replay_id: null,
  control_replay_id: null,
  results: null,
};

/** Saves the proposal as a version that nothing runs, with revisions of its documents that nothing else reads. */
async function saveProposal(
  improver: Improver,
  tx: Transaction,
  {
    row,
    deployment,
    base,
    read,
  }: {
    row: ImprovementRow;
    deployment: Awaited<ReturnType<typeof lockDeployment>>;
    base: Awaited<ReturnType<typeof baseOf>>;
    read: ReadProposal;
  },
): Promise<number> {
  const notebooks: Record<string, number> = { ...base.content.notebooks };
  for (const [notebookId, documents] of Map.groupBy(read.change.documents, ({ notebook_id }) => notebook_id)) {
    const prepared = documents.map(({ title, after }) =>
      prepareDocument({ title, text: after, contentType: 'text/plain', param: 'text' }),
    );
    const place = { orgId: row.org_id, notebookId, from: notebooks[notebookId] as number };
    notebooks[notebookId] = await branchRevision(tx, place, prepared, improver.jobs);
  }
  const content: FixedContent = { ...base.content, notebooks };
  const changed = [
    ...changedKeys(base.manifest, read.manifest),
    ...(read.change.documents.length > 0 ? ['knowledge'] : []),
  ];
  const { version } = await saveProposedVersion(tx, {
    deployment,
    manifest: read.manifest,
    content,
    fileObjects: base.file_objects,
    changed,
    note: `Proposed by ${row.id}, round ${row.attempts.length + 1}.`,
    createdBy: row.author,
  });
  const origin: Origin = { ...tenantOf(row), actor: row.author, requestId: null, ip: null };
  await recordAudit(tx, origin, {
    action: 'improvement.proposed',
    target: { type: 'improvement', id: row.id },
    details: { deployment_id: row.deployment_id, version, changed },
  });
  return version;
}

const prove: Phase = async (improver, play, signal) => {
  const { row } = play;
  const attempt = row.attempts.at(-1) as Attempt;
  const proof = await playRun(improver, play, attempt.proof_run_id as string, signal);
  if (proof.fault) return proof.fault;
  const replay = await playTalks(improver, play, attempt.replay_id, signal);
  if (replay.fault) return replay.fault;
  const changed = changedTalks(replay.talks, []);
  let controlId = attempt.control_replay_id;
  if (controlId === null && changed.length > 0) {
    await write(improver, play, async (tx) => {
      controlId = await createReplayOf(
        tx,
        row,
        row.base_version,
        changed.map(({ source_id, user_id }) => ({ source_id, user_id })),
      );
      const attempts = withLast(await readImprovement(tx, row.id), { control_replay_id: controlId });
      await updateImprovement(tx, row.id, { attempts });
    });
  }
  const control = await playTalks(improver, play, controlId, signal);
  if (control.fault) return control.fault;
  await write(improver, play, async (tx) => {
    // Under the lock: the rows have nothing of a conversation that was deleted while this was played.
    const current = await readImprovement(tx, row.id);
    const results = resultsOfAttempt({
      reproduced: await reproducedOf(tx, row),
      baseline: await baselineOf(tx, row),
      proof: proof.results,
      talks: replay.talks,
      control: control.talks,
      cannotFix: (current.attempts.at(-1) as Attempt).cannot_fix,
    });
    const attempts = withLast(current, { control_replay_id: controlId, results });
    const isOver = attempts.length >= row.rounds || isComplete(attempts.at(-1) as Attempt);
    await updateImprovement(tx, row.id, { attempts, phase: isOver ? 'ended' : 'proposing' });
  });
  return null;
};

const withLast = ({ attempts }: ImprovementRow, changes: Partial<Attempt>): Attempt[] =>
  attempts.map((each, at) => (at === attempts.length - 1 ? { ...each, ...changes } : each));
