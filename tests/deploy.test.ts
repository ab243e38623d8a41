import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routes } from '@vestra/contract/api';
import { readConfig, settingNames } from '@vestra/server/platform/config/config';
import { Ajv } from 'ajv';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { madeOf } from '../scripts/chart-digest.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { version } = JSON.parse(read('package.json'));
/** Packages that `npm run setup:system` installs for computers and browsers. Those only tests need come after. */
const [ofComputers = ''] = read('scripts/install-system.ts').split('const wantedByTests');
const systemPackages = [...ofComputers.matchAll(/package: '([^']+)'/g)].map(([, name]) => name).sort();
const graceSeconds = Number(
  /VESTRA_STOP_SECONDS: .+\.default\((\d+)\)/.exec(read('packages/server/src/platform/config/config.ts'))?.[1],
);

describe('.env.example', () => {
  const lines = read('deploy/.env.example').split('\n');
  const shown = lines.flatMap((line) => /^#?([A-Z][A-Z0-9_]*)=(.*)$/.exec(line)?.slice(1, 3) ?? []);
  const names = shown.filter((_, at) => at % 2 === 0);

  it('shows every setting once and nothing else, each commented out [DEPLOY-002]', () => {
    expect(names.toSorted()).toEqual(settingNames.toSorted());
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  it('contains values that a server accepts [DEPLOY-002]', () => {
    const given = Object.fromEntries(names.map((name, at) => [name, shown[at * 2 + 1]]));
    const { VESTRA_VERTEX_LOCATION: _, GOOGLE_APPLICATION_CREDENTIALS: _file, ...rest } = given;
    const keys = Object.fromEntries(
      names.filter((name) => !given[name] && /_KEY|_TOKEN/.test(name)).map((name) => [name, 'x'.repeat(16)]),
    );
    expect(readConfig({ ...rest, ...keys }).port).toBe(4600);
  });
});

describe('the settings page', () => {
  it('describes every setting once and nothing else [FIRST-791]', () => {
    const rows = read('docs/settings.md').matchAll(/^\| (`[^|]+) \|/gm);
    const names = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
    expect(names.toSorted()).toEqual(settingNames.toSorted());
  });
});

describe('the Dockerfile', () => {
  const text = read('deploy/Dockerfile');
  const steps = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter(Boolean);
  const stages = text.split(/^FROM /m).slice(1);

  it('is one that a builder understands [DEPLOY-003]', () => {
    expect(validate(text).map(({ message }) => message)).toEqual([]);
  });

  it('installs the packages of computers in the versions that this repository names [DEPLOY-003]', () => {
    const tools = steps.find((step) => step.includes(' bubblewrap ')) ?? '';
    const names = /--no-install-recommends (.*?)&&/.exec(tools)?.[1]?.trim().split(/\s+/);
    expect(names?.toSorted()).toEqual(systemPackages);
    expect(steps).toContain(`ARG NODE_VERSION=${read('.node-version').trim()}`);
    expect(
      steps.filter((step) => step.startsWith('ARG VERSION')).every((step) => step === `ARG VERSION=${version}`),
    ).toBe(true);
    // Lists of packages that lie in a layer are weight, and old ones a trap.
    for (const step of steps.filter((each) => each.includes('apt-get')))
      expect(step).toContain('rm -rf /var/lib/apt/lists/*');
  });

  it('runs as an account that is not root, has a health check, and copies only the package [DEPLOY-003]', () => {
    const [api = '', whole = ''] = stages.slice(-2);
    for (const stage of [api, whole]) expect(stage.trimEnd()).toMatch(/\nUSER vestra$/);
    for (const word of ['HEALTHCHECK', 'STOPSIGNAL SIGTERM', 'VOLUME /data', 'ENTRYPOINT ["tini"'])
      expect(stages[0]).toContain(word);
    const taken = steps.filter((step) => /^(COPY|ADD) (?!--from=package)/.test(step));
    expect(taken).toEqual(['COPY vestra-${VERSION}.tgz /tmp/vestra.tgz']);
    expect(api).not.toContain('apt-get');
  });
});

describe('compose.yaml', () => {
  const { services, secrets, volumes } = parse(read('deploy/compose.yaml'));

  it('starts the server after the database, restarts both, and gives the server time to end [DEPLOY-004]', () => {
    expect(services.vestra.depends_on.postgres.condition).toBe('service_healthy');
    expect([services.vestra.restart, services.postgres.restart]).toEqual(['unless-stopped', 'unless-stopped']);
    expect(Number.parseInt(services.vestra.stop_grace_period, 10)).toBeGreaterThan(graceSeconds);
    expect(services.vestra.image).toContain(`vestra:${version}`);
    expect(services.vestra.ports).toEqual(['127.0.0.1:4600:4600']);
  });

  it('hands secrets over as files alone, each of which is there [DEPLOY-004]', () => {
    for (const service of Object.values<{ environment: object; secrets: string[] }>(services)) {
      for (const [name, value] of Object.entries(service.environment)) {
        if (!/URL|KEY|PASSWORD/.test(name)) continue;
        expect(name).toMatch(/_FILE$/);
        expect(service.secrets).toContain(value.replace('/run/secrets/', ''));
      }
      for (const name of service.secrets) expect(secrets[name].file).toBe(`./secrets/${name}`);
    }
    const files = Object.keys(services.vestra.environment).map((name) => name.replace(/_FILE$/, ''));
    expect(settingNames).toEqual(expect.arrayContaining(files));
    expect(Object.keys(volumes)).toEqual(['data', 'postgres']);
    expect(read('.gitignore')).toMatch(/^deploy\/secrets\/$/m);
  });

  it('confines the server and blocks system calls it does not need [DEPLOY-004]', () => {
    expect(services.vestra).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    const { defaultAction, syscalls } = JSON.parse(read('deploy/seccomp.json'));
    expect([defaultAction, syscalls[0].action]).toEqual(['SCMP_ACT_ALLOW', 'SCMP_ACT_ERRNO']);
    const refused: string[] = syscalls[0].names;
    expect(refused).toEqual(expect.arrayContaining(['bpf', 'init_module', 'kexec_load', 'keyctl', 'io_uring_setup']));
    // bubblewrap makes a computer of these.
    for (const name of ['clone', 'clone3', 'unshare', 'mount', 'pivot_root', 'umount2', 'sethostname'])
      expect(refused).not.toContain(name);
  });
});

describe('the systemd unit', () => {
  const valuesIn = (file: string, name: string) =>
    read(`deploy/systemd/${file}`)
      .split('\n')
      .filter((line) => line.startsWith(`${name}=`))
      .map((line) => line.slice(name.length + 1));
  const valuesOf = (name: string) => valuesIn('vestra.service', name);

  it('gives the server time to end, restarts it, and hands secrets over as credentials [DEPLOY-005]', () => {
    expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(graceSeconds);
    expect(valuesOf('Restart')).toEqual(['always']);
    const set = valuesOf('Environment').map((each) => each.split('=')[0]?.replace(/_FILE$/, ''));
    expect(settingNames).toEqual(expect.arrayContaining(set.filter((name) => name !== 'NODE_ENV')));
    expect(valuesOf('LoadCredential').map((each) => each.split(':')[0])).toEqual(['database-url', 'master-key']);
  });

  it('allows bubblewrap, Chromium and V8 the system calls they need, and no others [DEPLOY-005]', () => {
    for (const name of ['MemoryDenyWriteExecute', 'ProtectKernelTunables', 'ProcSubset', 'ProtectHostname'])
      expect(valuesOf(name)).toEqual([]);
    expect(valuesOf('RestrictNamespaces')).toEqual(['user mnt pid ipc net uts cgroup']);
    for (const name of ['NoNewPrivileges', 'ProtectHome', 'PrivateTmp', 'PrivateDevices'])
      expect(valuesOf(name)).toEqual(['yes']);
    expect([valuesOf('ProtectSystem'), valuesOf('CapabilityBoundingSet')]).toEqual([['strict'], ['']]);
  });

  it('puts computers in cgroups if its drop-in file sets them, and backs up with the same secrets and folder [DEPLOY-480]', () => {
    const inCgroups = 'computers-in-cgroups.conf';
    expect(valuesIn(inCgroups, 'Environment')).toEqual(['VESTRA_CGROUP=own']);
    expect(readConfig({ VESTRA_CGROUP: 'own' }).computer.cgroup).toBe('own');
    expect(valuesIn(inCgroups, 'Delegate')[0]?.split(' ')).toEqual(expect.arrayContaining(['memory', 'pids', 'cpu']));
    for (const name of ['User', 'LoadCredential', 'Environment', 'EnvironmentFile', 'WorkingDirectory'])
      expect(valuesIn('vestra-backup.service', name)).toEqual(valuesOf(name));
  });

  it.skipIf(!existsSync('/usr/bin/systemd-analyze')).each(['vestra.service', 'vestra-backup.service'])(
    'is well formed, and exposes little, by systemd’s own measure: %s [DEPLOY-005]',
    (name) => {
      const file = join(root, 'deploy/systemd', name);
      const said = spawnSync('systemd-analyze', ['security', '--offline=yes', '--threshold=30', file], {
        encoding: 'utf8',
      });
      expect([said.status, said.stderr]).toEqual([0, '']);
    },
  );
});

describe('the Helm chart', () => {
  const helm = join(root, 'deploy/helm');
  const examples = readdirSync(join(helm, 'examples'));
  const rendered = (name: string) => read(`deploy/helm/rendered/${name}`);
  // biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds, whose shape the compiler is asked about below.
  const manifestsIn = (name: string): any[] => parseAllDocuments(rendered(name)).map((document) => document.toJS());
  // biome-ignore lint/suspicious/noExplicitAny: likewise.
  const podsIn = (name: string): any[] =>
    manifestsIn(name)
      .filter(({ spec }) => spec?.template)
      .map(({ spec }) => spec.template);

  it.each(examples)('was rendered as it stands with %s; otherwise run npm run chart [DEPLOY-006]', (name) => {
    expect(rendered(name).split('\n', 1)[0]).toBe(`# Made by npm run chart of ${madeOf(helm, name)}`);
  });

  it('has the version of the server it starts [DEPLOY-006]', () => {
    expect(parse(read('deploy/helm/vestra/Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('renders nothing that Kubernetes does not know, in any field [DEPLOY-006]', () => {
    const kinds = {
      Deployment: 'apps/v1',
      StatefulSet: 'apps/v1',
      Service: 'core/v1',
      ServiceAccount: 'core/v1',
      PersistentVolumeClaim: 'core/v1',
      HorizontalPodAutoscaler: 'autoscaling/v2',
      PodDisruptionBudget: 'policy/v1',
      Ingress: 'networking/v1',
      NetworkPolicy: 'networking/v1',
      CronJob: 'batch/v1',
    } as Record<string, string>;
    const ofPrometheus = ['ServiceMonitor', 'PrometheusRule'];
    const folder = mkdtempSync(join(tmpdir(), 'vestra-chart-'));
    try {
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
      // Otherwise one in a folder above would say how modules are found.
      writeFileSync(join(folder, 'package.json'), '{}');
      const manifests = examples.flatMap(manifestsIn);
      expect(new Set(manifests.map(({ kind }) => kind))).toEqual(new Set([...Object.keys(kinds), ...ofPrometheus]));
      const operator = '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
      const imports = [
        ...Object.entries(kinds).map(([kind, group]) => `import type { ${kind} } from 'kubernetes-types/${group}';`),
        ...ofPrometheus.map((kind) => `import type { I${kind} as ${kind} } from '${operator}/${kind}';`),
      ];
      const checks = manifests.map(
        (manifest, at) => `export const m${at}: ${manifest.kind} = ${JSON.stringify(manifest)};`,
      );
      writeFileSync(join(folder, 'manifests.ts'), [...imports, ...checks].join('\n'));
      const words = [
        '--noEmit',
        '--strict',
        '--skipLibCheck',
        '--ignoreConfig',
        '--module',
        'nodenext',
        join(folder, 'manifests.ts'),
      ];
      const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, {
        encoding: 'utf8',
        cwd: folder,
      });
      expect([status, stdout]).toEqual([0, '']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it.each(examples)('confines every pod of %s and asks whether it lives and is ready [DEPLOY-007]', (name) => {
    for (const { spec } of podsIn(name)) {
      const [container] = spec.containers;
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, runAsUser: 10001 },
      });
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.livenessProbe.httpGet).toEqual({ path: '/health/live', port: 'operator' });
      expect(container.readinessProbe.httpGet).toEqual({ path: '/health/ready', port: 'operator' });
      const drain = container.env.find((each: { name: string }) => each.name === 'VESTRA_DRAIN_SECONDS').value;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(drain) + graceSeconds);
      // Only computers are let near the kernel's namespaces.
      const isComputers = container.env.some((each: { value?: string }) => each.value === 'computers');
      expect([container.securityContext.procMount, spec.hostUsers]).toEqual(
        isComputers ? ['Unmasked', false] : [undefined, undefined],
      );
      const mounted = container.volumeMounts.map((each: { name: string }) => each.name);
      const claimed = name === 'production.yaml' && isComputers ? ['data'] : [];
      expect([...spec.volumes.map((each: { name: string }) => each.name), ...claimed].sort()).toEqual(
        mounted.toSorted(),
      );
    }
  });

  it.each(examples)(
    'leads every selector and target of %s to what it renders, and shows no secret [DEPLOY-007]',
    (name) => {
      const manifests = manifestsIn(name);
      const labels = podsIn(name).map(({ metadata }) =>
        Object.entries(metadata.labels).map((entry) => entry.join('=')),
      );
      const selectsSome = (selector: object) =>
        labels.some((each) => Object.entries(selector).every((entry) => each.includes(entry.join('='))));
      const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      for (const { kind, spec } of manifests) {
        if (kind === 'Service') expect(selectsSome(spec.selector)).toBe(true);
        if (kind === 'PodDisruptionBudget') expect(selectsSome(spec.selector.matchLabels)).toBe(true);
        if (kind === 'HorizontalPodAutoscaler')
          expect(names).toContain(`${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`);
        if (kind === 'Ingress') expect(names).toContain(`Service/${spec.rules[0].http.paths[0].backend.service.name}`);
      }
      expect(new Set(names).size).toBe(names.length);
      for (const { spec } of podsIn(name)) {
        for (const { name: setting, value } of spec.containers[0].env) {
          if (setting !== 'POD_IP') expect(settingNames).toContain(setting.replace(/_FILE$/, ''));
          if (/KEY|SECRET|TOKEN|DATABASE_URL/.test(setting))
            expect([setting, value]).toEqual([
              expect.stringMatching(/_FILE$/),
              expect.stringMatching(/^\/run\/secrets\//),
            ]);
        }
      }
    },
  );

  it('accepts the values it documents and rejects others [DEPLOY-008]', () => {
    const check = new Ajv({ strict: false }).compile(JSON.parse(read('deploy/helm/vestra/values.schema.json')));
    for (const name of examples)
      expect([name, check(parse(read(`deploy/helm/examples/${name}`))), check.errors]).toEqual([name, true, null]);
    const needed = { database: { existingSecret: 'a' }, masterKey: { existingSecret: 'b' } };
    expect(check({ ...parse(read('deploy/helm/vestra/values.yaml')), ...needed })).toBe(true);
    for (const wrong of [
      {},
      { ...needed, databse: {} },
      { ...needed, masterKey: { existingSecret: '' } },
      // A large number that is not in quotes would be rendered as 1e+06.
      { ...needed, settings: { VESTRA_REQUESTS_PER_MINUTE: 1_000_000 } },
      { ...needed, settings: { VESTRA_MASTER_KEY: 'in the open' } },
      { ...needed, api: { replicas: -1 } },
      { ...needed, files: { bucket: 'https://bucket.example' } },
    ]) {
      expect([wrong, check(wrong)]).toEqual([wrong, false]);
    }
  });
});

describe('the page about production', () => {
  const page = read('docs/production.md');
  const blocks = [...page.matchAll(/^```sh (\w+)\n([\s\S]*?)^```$/gm)].map(([, way = '', text = '']) => ({
    way,
    text,
  }));
  const all = (way: string) =>
    blocks
      .filter((block) => block.way === way)
      .map(({ text }) => text)
      .join('\n');

  it('holds commands that a shell can read, of files and a version that are there [DEPLOY-009]', () => {
    expect(new Set(blocks.map(({ way }) => way))).toEqual(new Set(['build', 'machine', 'compose', 'kubernetes']));
    for (const { text } of blocks) execFileSync('bash', ['-n'], { input: text });
    for (const [path] of page.matchAll(/(?<=[ (/])deploy\/[\w./-]*\w/g))
      expect([path, existsSync(join(root, path))]).toEqual([path, true]);
    for (const [, named] of page.matchAll(
      /vestra(?:-api)?[:-](\d+\.\d+\.\d+)(?!\d)(?=[ .\n]*(?:tgz|dist|--target|$))/gm,
    ))
      expect(named).toBe(version);
  });

  it('installs the packages of computers [DEPLOY-009]', () => {
    const words = all('machine').replaceAll('\\\n', ' ').split(/\s+/);
    expect(systemPackages.filter((name) => !words.includes(name as string))).toEqual([]);
  });
});

it('proxies let the largest body pass, and wait longer than the longest silence [DEPLOY-014]', () => {
  const largest = Math.max(...routes.map(({ route: { bodyLimit = 0 } }) => bodyLimit));
  const megabytes = (text: string) =>
    Number(/(?:client_max_body_size|max_size|proxy-body-size:) (\d+)m/i.exec(text)?.[1]) * 1e6;
  const files = ['deploy/proxies/nginx.conf', 'deploy/proxies/Caddyfile', 'deploy/helm/vestra/values.yaml'];
  for (const file of files) expect([file, megabytes(read(file)) > 1.5 * largest]).toEqual([file, true]);
  expect(globSync('deploy/proxies/*', { cwd: root }).every((file) => read(file).includes('120s'))).toBe(true);
});
