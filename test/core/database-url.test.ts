import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitDatabaseUrl } from '../../src/core/database-url.ts';

const server = (host: string, port = 5432) => ({ host, port });

test('a URL with one server stays as it is', () => {
  for (const url of [
    'postgres://u:p%40@db:6432/x?sslmode=require',
    'postgres://u@[::1]/x',
    'postgres://u@/x?host=/run',
  ]) {
    const split = splitDatabaseUrl(url);
    assert.equal(split?.url, url);
    assert.equal(split.servers.length, 1);
    assert.equal(split.attributes, null);
  }
  assert.deepEqual(splitDatabaseUrl('postgres://u@[::1]:1/x')?.servers, [server('::1', 1)]);
});

test('servers are listed with their ports, and the URL names the first', () => {
  assert.deepEqual(
    splitDatabaseUrl('postgres://u:p@a:1,b,[::1]:3/x?target_session_attrs=any&y=1'),
    {
      url: 'postgres://u:p@a:1/x?target_session_attrs=any&y=1',
      servers: [server('a', 1), server('b'), server('::1', 3)],
      attributes: 'any',
    },
  );
  const sockets = splitDatabaseUrl('postgres://u@/x?host=/run/a,/run/b&port=7');
  assert.deepEqual(sockets?.servers, [server('/run/a', 7), server('/run/b', 7)]);
  assert.equal(sockets.url, 'postgres://u@/x?host=%2Frun%2Fa&port=7');
  const ports = splitDatabaseUrl('postgres:///x?host=a,b&port=1,2');
  assert.deepEqual(ports?.servers, [server('a', 1), server('b', 2)]);
});

test('what names no server is malformed', () => {
  for (const url of [
    'postgres://a:0/x',
    'postgres://a,b:65536/x',
    'postgres://a:b/x',
    'postgres://a,:1/x',
    'postgres:///x?host=a,b,c&port=1,2',
    'postgres://a,b/x?target_session_attrs=leader',
  ]) {
    assert.equal(splitDatabaseUrl(url), null, url);
  }
});
