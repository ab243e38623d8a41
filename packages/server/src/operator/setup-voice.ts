import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { StartFailure } from '../platform/db/start-failure.ts';
import {
  createOfflineSpeech,
  missingPackages,
  packageFolder,
  samplesPerSecond,
  voicePackages,
} from '../voice/index.ts';

type Package = (typeof voicePackages)[number];

export type VoiceSetup = {
  folder: string;
  /** The packages that were downloaded. The others were installed already. */
  fetched: string[];
  /** The text that was recognised from a spoken test sentence. It proves that all packages work together. */
  heard: string;
};

const trial = 'Good morning, how are you today?';

/**
 * Downloads the voice packages with npm, checks each against the digest of this release, and tests them once. It skips
 * packages that are installed already.
 */
export async function setupVoice(folder: string, show: (line: string) => void = () => {}): Promise<VoiceSetup> {
  const wanted: Package[] = [];
  for (const each of voicePackages) if (!(await isThere(folder, each))) wanted.push(each);
  await mkdir(folder, { recursive: true });
  if (wanted.length > 0) await fetchPackages(folder, wanted, show);
  const obstacle = missingPackages(folder, 'offline');
  if (obstacle !== null) throw new StartFailure(obstacle);
  show('Speaking and listening once');
  return { folder, fetched: wanted.map(({ name, version }) => `${name}@${version}`), heard: await tryOut(folder) };
}

export const showVoice = ({ folder, fetched, heard }: VoiceSetup): string =>
  [
    fetched.length === 0 ? 'Everything was there.' : `Added ${fetched.join(', ')}.`,
    `Said “${trial}” and heard “${heard}”.`,
    `Voice is set up in ${folder}. A server that runs takes the next call with it.`,
  ].join('\n');

async function isThere(folder: string, { name, version, files }: Package): Promise<boolean> {
  const place = packageFolder(folder, name);
  if (!files.every((file) => existsSync(join(place, file)))) return false;
  const manifest = await readFile(join(place, 'package.json'), 'utf8').catch(() => '{}');
  return (JSON.parse(manifest) as { version?: string }).version === version;
}

/** Unpacks into a temporary folder and renames it, so that an interrupted setup leaves no partial package. */
async function fetchPackages(folder: string, wanted: readonly Package[], show: (line: string) => void): Promise<void> {
  const unknown = wanted.find(({ integrity }) => integrity === '');
  if (unknown)
    throw new StartFailure(`Voice does not run on ${process.platform} ${process.arch}: there is no ${unknown.name}.`);
  const work = await mkdtemp(join(folder, '.fetching-'));
  try {
    show(`Fetching ${wanted.length} packages`);
    const names = wanted.map(({ name, version }) => `${name}@${version}`);
    const words = ['pack', ...names, '--pack-destination', work, '--ignore-scripts', '--json'];
    const packed = await run('npm', words, work, 'The packages of voice could not be fetched with npm');
    const archives = new Map(
      (JSON.parse(packed) as { name: string; filename: string }[]).map((each) => [each.name, each]),
    );
    for (const each of wanted) {
      show(`Unpacking ${each.name} ${each.version}`);
      const { filename = '' } = archives.get(each.name) ?? {};
      await unpack(join(work, filename.replace(/^@/, '').replaceAll('/', '-')), packageFolder(folder, each.name), each);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function unpack(archive: string, place: string, { name, version, integrity, files }: Package): Promise<void> {
  const digest = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (`sha512-${digest}` !== integrity) {
    throw new StartFailure(`The package ${name} ${version} that npm downloaded is not the one of this release.`);
  }
  const unpacked = `${archive}.unpacked`;
  await mkdir(unpacked);
  const members = files.map((file) => `package/${file}`);
  const words = ['-xzf', archive, '-C', unpacked, '--strip-components=1', '--no-same-owner', ...members];
  await run('tar', words, unpacked, `${name} could not be unpacked`);
  await mkdir(dirname(place), { recursive: true });
  await rm(place, { recursive: true, force: true });
  await rename(unpacked, place);
}

/** Returns standard output. */
async function run(program: string, words: readonly string[], cwd: string, failed: string): Promise<string> {
  const child = spawn(program, words, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', () => reject(new StartFailure(`${failed}: there is no ${program} on this machine.`)));
    child.on('exit', resolve);
  });
  const [code, written, complaint] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new StartFailure(`${failed}:\n${complaint.trim().slice(-1_000)}`);
  return written;
}

async function tryOut(folder: string): Promise<string> {
  const speech = createOfflineSpeech({ folder });
  try {
    const call = speech.open(speech.voices[0] as string);
    const utterance = call.listen();
    for await (const samples of call.speak(trial, new AbortController().signal)) utterance.push(samples);
    utterance.push(new Int16Array(samplesPerSecond / 4));
    const heard = await utterance.text();
    if (!/how are you/i.test(heard))
      throw new StartFailure(`Voice does not work here: it said “${trial}” and heard “${heard}”.`);
    return heard;
  } catch (error) {
    if (error instanceof StartFailure) throw error;
    throw new StartFailure(`Voice does not work here: ${(error as Error).message}`);
  } finally {
    await speech.close();
  }
}
