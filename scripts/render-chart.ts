/**
 * `npm run chart`: renders the Helm chart with each values file of `deploy/helm/examples` into `deploy/helm/rendered`,
 * which tests read. It needs Go and two libraries, which are too large for every test run. The first line of each file
 * is the digest of its sources, and a test fails if the chart has changed since.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { madeOf } from './chart-digest.ts';

const helm = join(import.meta.dirname, '../deploy/helm');
const folder = mkdtempSync(join(tmpdir(), 'vestra-chart-'));
try {
  const render = join(folder, 'render');
  build(render);
  mkdirSync(join(helm, 'rendered'), { recursive: true });
  for (const name of readdirSync(join(helm, 'examples'))) {
    const text = execFileSync(render, [join(helm, 'vestra'), join(helm, 'examples', name)], { encoding: 'utf8' });
    // Without spaces at the end of lines, which `npm run fix` would remove.
    const tidy = text.replaceAll(/ +$/gm, '');
    writeFileSync(join(helm, 'rendered', name), `# Made by npm run chart of ${madeOf(helm, name)}\n${tidy}`);
    console.log(`deploy/helm/rendered/${name}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

function build(render: string): void {
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOCACHE: join(folder, 'cache') };
  try {
    execFileSync('go', ['build', '-o', render, join(helm, 'render.go')], { env, stdio: 'inherit' });
  } catch {
    console.error('Install: apt-get install golang-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev');
    process.exit(1);
  }
}
