import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';

/** The configuration that the proof `failover` runs is the one that the docs show. */

const root = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

test('the docs contain the files of the cluster as they are', () => {
  const docs = read('docs/operations/scale.md');
  for (const file of ['patroni.yml', 'haproxy.cfg']) {
    const indented = read(`deploy/cluster/${file}`).replaceAll(/^(?=.)/gm, '    ');
    assert.ok(docs.includes(indented), file);
  }
});

test('compose.yaml of the cluster gives every value that the files need', () => {
  const { services } = parse(read('deploy/cluster/compose.yaml'), { merge: true });
  for (const [file, names] of [
    ['patroni.yml', ['node1', 'node2', 'node3']],
    ['haproxy.cfg', ['haproxy']],
  ] as const) {
    const needed = [...read(`deploy/cluster/${file}`).matchAll(/\$\{(\w+)\}/g)].map(
      ([, name]) => name,
    );
    for (const name of names) {
      for (const value of needed)
        assert.ok(services[name].environment[value ?? ''], `${name}: ${value}`);
    }
  }
  for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.equal(service.read_only, true, name);
    assert.ok(service.mem_limit && service.pids_limit, name);
  }
});

test('compose.yaml of the cluster names what to set', () => {
  const text = read('deploy/cluster/compose.yaml');
  const named = text.slice(0, text.indexOf('\nx-'));
  for (const [, name = ''] of text.matchAll(/\$\{(\w+):\?/g)) assert.ok(named.includes(name), name);
});
