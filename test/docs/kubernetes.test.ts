import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/process/config/config.ts';

/** What `deploy/kubernetes.yaml` says of Cueline. `kubernetes.slow.test.ts` checks what it says to Kubernetes. */

const read = (file: string) => readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
const text = read('deploy/kubernetes.yaml');
const manifests = parseAllDocuments(text).map((one) => one.toJS());
const named = (kind: string, name: string) =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name);
const pods = [
  named('Job', 'cueline-migrate'),
  named('Deployment', 'cueline-api'),
  named('Deployment', 'cueline-worker'),
].map(({ spec }) => spec.template.spec);

test('each pod has a valid configuration, with its secrets from files', () => {
  const secrets: Record<string, string> = {
    DATABASE_URL: 'postgres://cueline:secret@postgres.example.com/cueline',
    CUELINE_SECRET: 'a secret that is used only by tests',
    CUELINE_OWNER_PASSWORD: 'a password of the owner',
  };
  for (const { containers } of pods) {
    const [{ args, env, image }] = containers;
    assert.equal(image, `registry.example.com/cueline:${JSON.parse(read('package.json')).version}`);
    const filled: Record<string, string> = {};
    for (const { name, value } of env) {
      const variable = name.replace(/_FILE$/, '');
      filled[variable] = variable === name ? value : (secrets[variable] ?? '');
      assert.notEqual(name, 'CUELINE_SECRET');
      if (variable === name) continue;
      const [, file] = /^\/run\/secrets\/cueline\/(.*)$/.exec(value) ?? [];
      assert.ok(text.includes(`--from-file=${file}`), value);
    }
    const config = readConfig(filled);
    assert.deepEqual(config.warnings, []);
    if (args[0] !== 'migrate') {
      assert.deepEqual([config.host, config.port, config.migrate], ['0.0.0.0', 4000, 'manual']);
    }
  }
});

test('a pod is probed, and has the time to drain', () => {
  const { drainMs } = readConfig({});
  for (const { containers, terminationGracePeriodSeconds } of pods.slice(1)) {
    const [{ readinessProbe, livenessProbe, startupProbe, lifecycle }] = containers;
    assert.equal(readinessProbe.httpGet.path, '/readyz');
    assert.equal(livenessProbe.httpGet.path, '/healthz');
    assert.equal(startupProbe.httpGet.path, '/healthz');
    const sleepSeconds = lifecycle?.preStop.sleep.seconds ?? 0;
    assert.ok(terminationGracePeriodSeconds >= sleepSeconds + drainMs / 1_000 + 10);
  }
});

test('the service and the budgets select the pods', () => {
  assert.deepEqual(named('Service', 'cueline').spec.selector, { app: 'cueline', component: 'api' });
  for (const name of ['cueline-api', 'cueline-worker']) {
    const deployment = named('Deployment', name).spec;
    assert.deepEqual(deployment.template.metadata.labels, deployment.selector.matchLabels);
    const budget = named('PodDisruptionBudget', name).spec;
    assert.deepEqual(budget.selector, deployment.selector);
    assert.ok(budget.maxUnavailable < deployment.replicas);
  }
});
