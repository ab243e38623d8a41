import { failed, type ToolAnswer } from '@vestra/agent/own-tool';
import { Failure, fail } from '@vestra/contract/errors';
import type { Manifest } from '../agents/versions/index.ts';
import { computerRuns, type Engine } from '../engine/index.ts';
import type { Database } from '../platform/db/pool.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { Vault } from '../platform/secrets/vault.ts';
import { computerToolDescriptions, computerTools } from './agent-tools.ts';
import type { Holders, Work } from './computer-routing.ts';
import type { HostChoice } from './machine/choose-host.ts';
import {
  createPreparer,
  type Filled,
  fillEnvironment,
  notStored,
  type Preparer,
  preparedSkill,
  skillFolder,
} from './prepare-computer.ts';
import { secretIn } from './redact.ts';
import type { Awake, Computers } from './running-computer.ts';
import { type Owner, recordPrepared } from './store.ts';

/** What others do with computers: work runs on one, and one is woken before it is needed. */
export type ComputerWork = {
  ofWork: Engine['workComputers'];
  /** Throws 503 where this server has none. */
  assertThere: () => Promise<void>;
  /** Wakes and prepares; answers for how many seconds it ran. */
  wake: (owner: Owner, environment: Manifest['environment'], signal: AbortSignal) => Promise<number>;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  files: FileStore;
  computers: Computers;
  holders: Holders;
  /** What computers are made of in this process. Known a moment after the start. */
  choice: Promise<HostChoice>;
  /** Why there are no computers, here or in another process; null where there are. */
  obstacle: () => Promise<string | null>;
  homePath: (given: string) => string | null;
};

const largestOutput = 10 * 1024 * 1024;

export function createComputerWork(dependencies: Dependencies): ComputerWork {
  const { computers, choice, holders, obstacle } = dependencies;
  const parts = choice.then(({ host }) =>
    host === null ? null : { host, preparer: createPreparer({ ...dependencies, host }) },
  );
  computers.beforeSleep(async ({ place }) => (await parts)?.host.rest(place));

  /** One part of a piece of work, done where the computer is awake. */
  const onHost = <More, Answer>(
    name: string,
    run: (computer: WorkComputer, more: More, signal: AbortSignal) => Promise<Answer>,
  ): Work<Progress & { more: More }, Progress & { answer: Answer }> =>
    holders.atHolder(name, async (owner, { wanted, isPrepared, more }, signal) => {
      const [chosen, here] = [await choice, await parts];
      if (chosen.host === null || !here) throw fail('computer_unavailable', { message: whyNone(chosen) });
      const progress: Progress = { wanted, isPrepared };
      const answer = await run(workComputer({ ...dependencies, ...here, owner, progress }), more, signal);
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
  const wake = holders.atHolder('computer.wake', (owner, environment: Manifest['environment'], signal) =>
    computers.use(owner, async (computer) => {
      const here = await parts;
      const watch = stopwatch();
      const either = AbortSignal.any([signal, computer.signal]);
      await here?.preparer.prepare(computer, { environment, uploads: null, skills: null }, either);
      return watch();
    }),
  );

  return {
    async ofWork({ tenant, turn, manifest, skills, attachments }) {
      if ((await obstacle()) !== null) return null;
      const owner: Owner = { ...tenant, userId: turn.user_id };
      const wanted = { environment: manifest.environment, uploads: attachments, skills };
      let isPrepared = false;
      const ask = async <More, Answer>(
        part: Work<Progress & { more: More }, Progress & { answer: Answer }>,
        more: More,
        signal: AbortSignal,
        refused: (message: string) => Answer,
      ): Promise<Answer> => {
        try {
          const done = await part(owner, { wanted, isPrepared, more }, signal);
          isPrepared = done.isPrepared;
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
        readOutput: (path, signal) => ask(readOutput, path, signal, (refused) => ({ refused, computerSeconds: 0 })),
        placeSkill: (skill, signal) => ask(placeSkill, skill, signal, (note) => ({ note, computerSeconds: 0 })),
      };
    },
    async assertThere() {
      const why = await obstacle();
      if (why !== null) throw fail('computer_unavailable', { message: why });
    },
    wake,
  };
}

type ToolUse = { name: string; given: Record<string, unknown> };
type WorkComputer = NonNullable<Awaited<ReturnType<Engine['workComputers']>>>;
type PlacedSkill = Parameters<WorkComputer['placeSkill']>[0];

/** How far a piece of work has come with the computer. It goes along with each call: the next may be done elsewhere. */
type Progress = {
  wanted: Parameters<Preparer['prepare']>[1];
  /** The first call of a run prepares. */
  isPrepared: boolean;
};

const whyNone = (chosen: HostChoice) => ('why' in chosen ? chosen.why : 'The computer cannot be reached.');

type WorkHere = Dependencies & {
  host: Parameters<typeof computerTools>[0]['host'];
  preparer: Preparer;
  owner: Owner;
  progress: Progress;
};

/** The computer of a piece of work, in the process where it is awake. */
function workComputer(work: WorkHere): WorkComputer {
  const { host, computers, preparer, owner, progress, homePath } = work;
  const { wanted } = progress;

  /** Where preparing fails the agent is told once, and then works with what is there. */
  async function prepared(computer: Awake, signal: AbortSignal): Promise<ToolAnswer | null> {
    if (progress.isPrepared) return null;
    const obstacle = await preparer.prepare(computer, wanted, signal);
    progress.isPrepared = true;
    if (obstacle === null) return null;
    return failed(
      `The computer could not be prepared, and the call was not run. ${obstacle}\nFurther calls run on the computer as it is.`,
    );
  }

  async function filled(): Promise<Filled | ToolAnswer> {
    const answer = await fillEnvironment(work, owner, wanted.environment?.env ?? {});
    return 'missing' in answer ? failed(notStored(answer.missing, owner)) : answer;
  }

  async function onComputer(
    signal: AbortSignal,
    run: (computer: Awake, signal: AbortSignal, filled: Filled) => Promise<ToolAnswer>,
    { prepares = true }: { prepares?: boolean } = {},
  ): Promise<ToolAnswer> {
    let watch = () => 0;
    const answer = await computers
      .use(owner, async (computer) => {
        watch = stopwatch();
        await computerRuns();
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
      const { output, computerSeconds = 0 } = await onComputer(signal, async ({ place }, either, { secrets }) => {
        const read = await host.readFile(place, path, { from: 0, maxBytes: largestOutput + 1, signal: either });
        if ('fault' in read) return failed(read.fault);
        if (read.size > largestOutput) return failed('The file is larger than 10 MB.');
        const secret = secretIn(read.bytes, secrets);
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
          const fault = await host.writeFiles(computer.place, placed, { instead: folder, signal: either });
          if (fault) return failed(`Its files could not be put on the computer. ${fault.fault}`);
          return { output: `Its files lie in ${folder}/ on the computer.`, isError: false };
        },
        { prepares: false },
      );
      return { note: output, computerSeconds };
    },
  };
}

/** Says how many seconds have passed, to the millisecond and never none at all. */
function stopwatch(): () => number {
  const startedAt = performance.now();
  return () => Math.max(1, Math.ceil(performance.now() - startedAt)) / 1000;
}
