import { failed, type ToolAnswer } from '@vestra/agent/own-tool';
import { Failure, fail } from '@vestra/contract/errors';
import type { Manifest } from '../agents/versions/index.ts';
import { type Engine, reportComputerStart } from '../engine/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import { computerToolDescriptions, computerTools } from './agent-tools.ts';
import type { ComputerRouting, RoutedCall } from './computer-routing.ts';
import type { HostChoice } from './machine/choose-host.ts';
import { hasDeletedFiles, recordOutput } from './placed-files.ts';
import {
  createPreparer,
  type FilledEnvironment,
  fillEnvironment,
  maxOutputBytes,
  missingSecrets,
  type Preparer,
  preparedSkill,
  skillFolder,
  uploadNames,
  uploadPath,
} from './prepare-computer.ts';
import { findSecret } from './redact.ts';
import type { Computers, RunningComputer } from './running-computer.ts';
import { type Owner, recordPrepared } from './store.ts';

/** Computers as the rest of the server uses them: the agent runs tools on one, and a job wakes one early. */
export type AgentComputers = {
  forTask: Engine['taskComputers'];
  /** Throws 503 if this server has no computers. */
  assertAvailable: () => Promise<void>;
  /** Removes copies of deleted files. Without computers on this server it does nothing. */
  tidy: (owner: Owner, signal: AbortSignal) => Promise<void>;
  /** Wakes and prepares the computer, and returns for how many seconds it ran. */
  wake: (owner: Owner, environment: Manifest['environment'], signal: AbortSignal) => Promise<number>;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  files: FileStore;
  computers: Computers;
  routing: ComputerRouting;
  /** The kind of computer in this process, known shortly after startup. */
  choice: Promise<HostChoice>;
  /** Why neither this process nor another one has computers; null if one has. */
  obstacle: () => Promise<string | null>;
  homePath: (given: string) => string | null;
};

export function createAgentComputers(dependencies: Dependencies): AgentComputers {
  const { computers, choice, routing, obstacle } = dependencies;
  const parts = choice.then(({ host }) =>
    host === null ? null : { host, preparer: createPreparer({ ...dependencies, host }) },
  );
  computers.beforeSleep(async ({ folders }) => (await parts)?.host.release(folders));

  /** Runs one part of a task in the process where the computer is awake. */
  const onHost = <More, Answer>(
    name: string,
    run: (computer: AgentComputer, more: More, signal: AbortSignal) => Promise<Answer>,
  ): RoutedCall<Progress & { more: More }, Progress & { answer: Answer }> =>
    routing.route(name, async (owner, { wanted, isPrepared, placedUploads, more }, signal) => {
      const [chosen, here] = [await choice, await parts];
      if (chosen.host === null || !here) throw fail('computer_unavailable', { message: whyNone(chosen) });
      const progress: Progress = { wanted, isPrepared, placedUploads };
      const answer = await run(agentComputer({ ...dependencies, ...here, owner, progress }), more, signal);
      return { ...progress, answer };
    });

  const runTool = onHost('computer.tool', (computer, { name, given }: ToolUse, signal) => {
    const run = computer.tools.find(({ tool }) => tool.definition.name === name)?.run;
    if (!run) throw fail('computer_unavailable', { message: `The computer has no tool ${name}.` });
    return run(given, signal);
  });
  const readOutput = onHost('computer.output', (computer, path: string, signal) => computer.readOutput(path, signal));
  const placeSkill = onHost('computer.skill', (computer, skill: PlacedSkill, signal) =>
    computer.placeSkill(skill, signal),
  );
  const wake = routing.route('computer.wake', (owner, environment: Manifest['environment'], signal) =>
    computers.use(owner, async (computer) => {
      const here = await parts;
      const watch = stopwatch();
      const either = AbortSignal.any([signal, computer.signal]);
      await here?.preparer.prepare(
        computer,
        { environment, conversationId: null, uploads: null, skills: null },
        either,
      );
      return watch();
    }),
  );
  const tidy = routing.route('computer.tidy', (owner, _given: null, signal) =>
    computers.use(owner, async (computer) => {
      await (await parts)?.preparer.tidy(computer, AbortSignal.any([signal, computer.signal]));
    }),
  );

  return {
    async forTask({ tenant, turn, manifest, skills, uploads: uploaded }) {
      if ((await obstacle()) !== null) return null;
      const owner: Owner = { ...tenant, userId: turn.user_id };
      const conversationId = turn.conversation_id;
      const uploads = [...uploaded];
      const wanted = { environment: manifest.environment, conversationId, uploads, skills };
      let isPrepared = false;
      let placedUploads = 0;
      const ask = async <More, Answer>(
        part: RoutedCall<Progress & { more: More }, Progress & { answer: Answer }>,
        more: More,
        signal: AbortSignal,
        refused: (message: string) => Answer,
      ): Promise<Answer> => {
        try {
          const done = await part(owner, { wanted, isPrepared, placedUploads, more }, signal);
          isPrepared = done.isPrepared;
          placedUploads = Math.max(placedUploads, done.placedUploads ?? 0);
          return done.answer;
        } catch (error) {
          if (signal.aborted || !(error instanceof Failure)) throw error;
          return refused(error.message);
        }
      };
      return {
        tools: computerToolDescriptions.map((tool) => ({
          tool,
          run: (given, signal) => ask(runTool, { name: tool.definition.name, given }, signal, failed),
        })),
        addUploads(files) {
          uploads.push(...files);
          const names = uploadNames(uploads.map(({ filename }) => filename)).slice(-files.length);
          return names.map((name) => dependencies.homePath(uploadPath(name)) ?? name);
        },
        noteOutput: async (given, { id, sha256 }) => {
          const path = dependencies.homePath(given);
          if (path !== null) await recordOutput(dependencies.db, owner, { path, sha256, fileId: id, conversationId });
        },
        readOutput: (path, signal) => ask(readOutput, path, signal, (refused) => ({ refused, computerSeconds: 0 })),
        placeSkill: (skill, signal) => ask(placeSkill, skill, signal, (note) => ({ note, computerSeconds: 0 })),
      };
    },
    async assertAvailable() {
      const why = await obstacle();
      if (why !== null) throw fail('computer_unavailable', { message: why });
    },
    wake,
    async tidy(owner, signal) {
      if ((await obstacle()) === null && (await hasDeletedFiles(dependencies.db, owner)))
        await tidy(owner, null, signal);
    },
  };
}

type ToolUse = { name: string; given: Record<string, unknown> };
type TaskComputer = NonNullable<Awaited<ReturnType<Engine['taskComputers']>>>;
type AgentComputer = Omit<TaskComputer, 'noteOutput' | 'addUploads'>;
type PlacedSkill = Parameters<AgentComputer['placeSkill']>[0];

/** How far a task has come with the computer. Each call carries it, because the next may run in another process. */
type Progress = {
  wanted: Parameters<Preparer['prepare']>[1];
  /** The first call of a run prepares the computer. */
  isPrepared: boolean;
  /** The number of uploads that were placed. Tools may add more during the run. A process from before 0.3.0 sends none. */
  placedUploads?: number;
};

const whyNone = (chosen: HostChoice) => ('why' in chosen ? chosen.why : 'The computer cannot be reached.');

type LocalComputer = Dependencies & {
  host: Parameters<typeof computerTools>[0]['host'];
  preparer: Preparer;
  owner: Owner;
  progress: Progress;
};

/** The computer of a task, in the process where it is awake. */
function agentComputer(work: LocalComputer): AgentComputer {
  const { host, computers, preparer, owner, progress, homePath } = work;
  const { wanted } = progress;

  /** Reports a failed preparation to the agent once. Later calls then run on the computer as it is. */
  async function prepared(computer: RunningComputer, signal: AbortSignal): Promise<ToolAnswer | null> {
    const uploads = wanted.uploads?.length ?? 0;
    if (progress.isPrepared && uploads <= (progress.placedUploads ?? 0)) return null;
    const added = { ...wanted, environment: null, skills: null };
    const obstacle = await preparer.prepare(computer, progress.isPrepared ? added : wanted, signal);
    progress.isPrepared = true;
    progress.placedUploads = uploads;
    if (obstacle === null) return null;
    return failed(
      `The computer could not be prepared, and the call was not run. ${obstacle}\nFurther calls run on the computer as it is.`,
    );
  }

  async function filled(): Promise<FilledEnvironment | ToolAnswer> {
    const answer = await fillEnvironment(work, owner, wanted.environment?.env ?? {});
    return 'missing' in answer ? failed(missingSecrets(answer.missing, owner)) : answer;
  }

  async function onComputer(
    signal: AbortSignal,
    run: (computer: RunningComputer, signal: AbortSignal, filled: FilledEnvironment) => Promise<ToolAnswer>,
    { prepares = true }: { prepares?: boolean } = {},
  ): Promise<ToolAnswer> {
    let watch = () => 0;
    const answer = await computers
      .use(owner, async (computer) => {
        watch = stopwatch();
        await reportComputerStart();
        const either = AbortSignal.any([signal, computer.signal]);
        const obstacle = prepares ? await prepared(computer, either) : null;
        if (obstacle) return obstacle;
        const given = await filled();
        return 'output' in given ? given : run(computer, either, given);
      })
      .catch((error: unknown) => {
        if (signal.aborted || !(error instanceof Failure)) throw error;
        const unknown = watch() > 0 ? ' Whether the call took effect is unknown.' : '';
        return failed(`${error.message}${unknown}`);
      });
    return { ...answer, computerSeconds: watch() };
  }

  return {
    tools: computerTools({ host, homePath, onComputer }),
    async readOutput(given, signal) {
      const path = homePath(given);
      if (path === null) return { refused: 'Name a path in the home folder.', computerSeconds: 0 };
      let found: Uint8Array | null = null;
      const { output, computerSeconds = 0 } = await onComputer(signal, async ({ folders }, either, { secrets }) => {
        const read = await host.readFile(folders, path, { from: 0, maxBytes: maxOutputBytes + 1, signal: either });
        if ('fault' in read) return failed(read.fault);
        if (read.size > maxOutputBytes) return failed('The file is larger than 10 MB.');
        const secret = findSecret(read.bytes, secrets);
        if (secret !== null) return failed(`The file holds the value of the secret ${secret} and is not given away.`);
        found = read.bytes;
        return { output: '', isError: false };
      });
      return found === null ? { refused: output, computerSeconds } : { bytes: found, computerSeconds };
    },
    async placeSkill({ files, ...skill }, signal) {
      const folder = homePath(skillFolder(skill.name));
      const placed = files.map(({ path, content }) => ({
        path: homePath(`${skillFolder(skill.name)}/${path}`) ?? '',
        bytes: Buffer.from(content, 'utf8'),
        isExecutable: path.startsWith('scripts/'),
      }));
      if (folder === null || placed.some(({ path }) => !path.startsWith(`${folder}/`))) {
        return { note: 'Its files could not be put on the computer.', computerSeconds: 0 };
      }
      const { output, computerSeconds = 0 } = await onComputer(
        signal,
        async (computer, either) => {
          await recordPrepared(work.db, computer, [preparedSkill(skill)]);
          const fault = await host.writeFiles(computer.folders, placed, { instead: folder, signal: either });
          if (fault) return failed(`Its files could not be put on the computer. ${fault.fault}`);
          return { output: `Its files lie in ${folder}/ on the computer.`, isError: false };
        },
        { prepares: false },
      );
      return { note: output, computerSeconds };
    },
  };
}

/** Returns the elapsed seconds, to the millisecond. Never zero, so that every use is charged. */
function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => Math.max(1, Math.ceil(performance.now() - startedAt)) / 1000;
}
