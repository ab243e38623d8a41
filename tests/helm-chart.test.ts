import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as prometheus from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { settingNames } from '@vestra/server/platform/config/config';
import { CronJob } from 'kubernetes-models/batch/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

const root = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: manifests of many kinds, which published schemas validate below.
const manifestsIn = (example: string): any[] =>
  parseAllDocuments(read(`deploy/helm/rendered/${example}`)).map((document) => document.toJS());
const manifests = manifestsIn('production.yaml');
const find = (kind: string, name: string) =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name) ?? expect.fail(`no ${kind} ${name}`);
const podsOf = () => manifests.flatMap(({ spec }) => spec?.template ?? spec?.jobTemplate?.spec.template ?? []);
const isSubset = (part: object, all: Record<string, unknown>) =>
  Object.entries(part).every(([name, value]) => all[name] === value);

describe('monitoring in the chart', () => {
  const monitor = find('ServiceMonitor', 'vestra');
  const [endpoint] = monitor.spec.endpoints;

  it('passes the published schemas of the Prometheus operator and of Kubernetes [OPS-742, OPS-743, OPS-744]', () => {
    new prometheus.ServiceMonitor(monitor).validate();
    new prometheus.PrometheusRule(find('PrometheusRule', 'vestra')).validate();
    new CronJob(find('CronJob', 'vestra-backup')).validate();
    // The schemas refuse what they should.
    const wrong = { ...monitor, spec: { ...monitor.spec, endpoints: [{ ...endpoint, interval: 30 }] } };
    expect(() => new prometheus.ServiceMonitor(wrong).validate()).toThrow(/interval/);
  });

  it('scrapes every pod of the server and no other, ready or not, with the token of the settings [OPS-742]', () => {
    const services = manifests.filter(
      ({ kind, metadata }) => kind === 'Service' && isSubset(monitor.spec.selector.matchLabels, metadata.labels),
    );
    expect(services).toHaveLength(1);
    const [{ spec, metadata }] = services;
    expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: true });
    const port = spec.ports.find((each: { name: string }) => each.name === endpoint.port);
    const reached = podsOf().map((pod) => {
      const ports = pod.spec.containers[0].ports ?? [];
      const isSelected = isSubset(spec.selector, pod.metadata.labels);
      return [
        pod.spec.containers[0].name,
        isSelected && ports.some((each: { name: string }) => each.name === port.targetPort),
      ];
    });
    expect(reached.toSorted()).toEqual([
      ['backup', false],
      ['vestra', true],
      ['vestra', true],
      ['vestra', true],
    ]);
    expect(endpoint).toMatchObject({
      path: '/metrics',
      authorization: { credentials: { name: 'vestra-settings', key: 'VESTRA_METRICS_TOKEN' } },
    });
    expect(settingNames).toContain('VESTRA_METRICS_TOKEN');
    // Alerts select `job="vestra"`.
    expect(metadata.labels[monitor.spec.jobLabel]).toBe('vestra');
  });

  it('has exactly the alerts of deploy/prometheus/alerts.yaml [OPS-743]', () => {
    const { groups } = parse(read('deploy/prometheus/alerts.yaml'));
    expect(groups[0].rules.length).toBeGreaterThan(20);
    expect(find('PrometheusRule', 'vestra').spec).toEqual({ groups });
  });
});

describe('backups in the chart', () => {
  const { spec } = find('CronJob', 'vestra-backup');
  const pod = spec.jobTemplate.spec.template;
  const [container] = pod.spec.containers;

  it('run one at a time and delete old ones only after a new one is complete [OPS-744]', () => {
    expect(spec).toMatchObject({ schedule: '30 3 * * *', timeZone: 'Europe/Berlin', concurrencyPolicy: 'Forbid' });
    expect(pod.spec.restartPolicy).toBe('Never');
    expect(container.command).toEqual(['tini', '--', 'sh', '-c']);
    expect(container.args).toEqual([
      "vestra admin backup /backups && find /backups -maxdepth 1 -name 'vestra-*.tar' -mtime +14 -delete",
    ]);
    const claimed = pod.spec.volumes.find(({ name }: { name: string }) => name === 'backups').persistentVolumeClaim;
    expect(find('PersistentVolumeClaim', claimed.claimName).metadata.annotations).toEqual({
      'helm.sh/resource-policy': 'keep',
    });
  });

  it('read the database, the key and the files of the server, and are confined like it [OPS-744]', () => {
    const server = find('Deployment', 'vestra-worker').spec.template.spec;
    const ofRole = new Set(['HOST', 'PORT', 'POD_IP', 'VESTRA_OPERATOR_PORT', 'VESTRA_ROLE', 'VESTRA_INTERNAL_URL']);
    const shared = server.containers[0].env.filter(
      ({ name }: { name: string }) => !ofRole.has(name) && !/COMPUTER|DRAIN/.test(name),
    );
    expect(container.env).toEqual(shared);
    expect(container.envFrom).toEqual(server.containers[0].envFrom);
    expect(container.securityContext).toEqual(server.containers[0].securityContext);
    expect(pod.spec.securityContext).toEqual(server.securityContext);
    expect(pod.spec.automountServiceAccountToken).toBe(false);
    expect(container.volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(
      pod.spec.volumes.map(({ name }: { name: string }) => name).sort(),
    );
    expect(find('NetworkPolicy', 'vestra-backup').spec.podSelector.matchLabels).toEqual(pod.metadata.labels);
    expect(find('NetworkPolicy', 'vestra-backup').spec.ingress).toBeUndefined();
  });

  it('are off, like monitoring, unless the values enable them [OPS-744]', () => {
    for (const example of readdirSync(join(root, 'deploy/helm/examples')).filter(
      (name) => name !== 'production.yaml',
    )) {
      const kinds = manifestsIn(example).map(({ kind }) => kind);
      expect(kinds.filter((kind) => /CronJob|Monitor|PrometheusRule/.test(kind))).toEqual([]);
    }
  });
});
