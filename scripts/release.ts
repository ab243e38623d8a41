/**
 * The steps of a release, each a command of the workflow `.github/workflows/release.yml`. `node scripts/release.ts try`
 * runs all of them as far as this machine can, and publishes nothing.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseNotes } from './release-notes.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const packages = ['vestra', 'vestra-sdk', 'vestra-react'].map((name) => `dist/${name}-${version}.tgz`);

const steps: Record<string, (words: readonly string[]) => void> = {
  check: ([tag = `v${version}`]) => checkTag(tag),
  notes: writeNotes,
  pack: () => run('npm', 'run', '--silent', 'pack'),
  python: () => run('npm', 'run', '--silent', 'build:python'),
  npm: (words) => publish(words),
  try: tryAll,
};

const [step = '', ...words] = process.argv.slice(2);
const chosen = steps[step];
if (!chosen) stop(`There is no step \`${step}\`. There are: ${Object.keys(steps).join(', ')}.`);
chosen(words);

/** The tag, the packages and the Python client must have one version, and the changelog a section for it. */
function checkTag(tag: string): void {
  if (tag !== `v${version}`) stop(`The tag is ${tag}, and package.json has ${version}: tag v${version}.`);
  const python = /VERSION = "([^"]+)"/.exec(read('packages/python/src/vestra/_version.py'))?.[1];
  if (python !== version) stop(`The Python client has version ${python}, not ${version}: run \`npm run fix\`.`);
  releaseNotes(read('docs/changelog.md'), version);
  console.log(`${tag} can be released.`);
}

function writeNotes(): void {
  mkdirSync(join(root, 'dist'), { recursive: true });
  writeFileSync(join(root, 'dist/release-notes.md'), releaseNotes(read('docs/changelog.md'), version));
  console.log('wrote dist/release-notes.md');
}

/** A package that this version has already is skipped, so that a workflow that failed halfway can run again. */
function publish(words: readonly string[]): void {
  const isTry = words.includes('--dry-run');
  for (const file of packages) {
    if (!existsSync(join(root, file))) stop(`There is no ${file}: run \`node scripts/release.ts pack\` first.`);
    const name = file.includes('vestra-sdk') ? '@vestra/sdk' : file.includes('-react') ? '@vestra/react' : 'vestra';
    if (!isTry && isPublished(name)) console.log(`${name}@${version} is published already.`);
    else if (isTry) run('npm', 'publish', `./${file}`, '--dry-run', '--access', 'public', '--no-provenance');
    else run('npm', 'publish', `./${file}`, '--access', 'public', '--provenance');
  }
}

function isPublished(name: string): boolean {
  const { stdout } = spawnSync('npm', ['view', `${name}@${version}`, 'version'], { encoding: 'utf8' });
  return stdout.trim() === version;
}

function tryAll(): void {
  checkTag(`v${version}`);
  writeNotes();
  steps.pack?.([]);
  run('npm', 'run', '--silent', 'newcomer', '--', '--packed');
  publish(['--dry-run']);
  steps.python?.([]);
  const files = globSync(`*${version}*`, { cwd: join(root, 'dist') });
  console.log(`The release has these files: ${files.sort().join(', ')}.`);
  const hasDocker = spawnSync('docker', ['version'], { stdio: 'ignore' }).status === 0;
  if (hasDocker) run('docker', 'build', '--file', 'deploy/Dockerfile', 'dist');
  else console.log('skipped: the image, because Docker does not run here (`npm run image:try` checks it without).');
  console.log('skipped: publishing, signatures and the release page, which only the workflow can do.');
}

function run(command: string, ...given: string[]): void {
  const { status } = spawnSync(command, given, { cwd: root, stdio: 'inherit' });
  if (status !== 0) stop(`\`${[command, ...given].join(' ')}\` failed.`);
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function stop(message: string): never {
  console.error(message);
  process.exit(1);
}
