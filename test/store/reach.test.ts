import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { connectionTo } from '../../src/store/reach.ts';

test('whatever asks for TLS has the server checked, without a warning', async (t) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
    for (const query of [`sslmode=${mode}`, `connect_timeout=1&sslmode=${mode}&keepalives=1`]) {
      assert.deepEqual(tlsOf(`postgres://u@db/cueline?${query}`), {});
    }
  }
  assert.deepEqual(tlsOf('postgres://u@db/cueline?sslmode=no-verify'), {
    rejectUnauthorized: false,
  });
  assert.deepEqual(tlsOf('postgres://u@db/cueline?sslmode=require&uselibpqcompat=true'), {
    rejectUnauthorized: false,
  });
  assert.equal(tlsOf('postgres://u@db/cueline?sslmode=disable'), false);
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});

test('a certificate that is not there is said in one line', () => {
  assert.throws(
    () => connectionTo('postgres://u@db/cueline?sslmode=verify-full&sslrootcert=/nope/ca.pem'),
    {
      name: 'StartFailure',
      message:
        "DATABASE_URL cannot be used: ENOENT: no such file or directory, open '/nope/ca.pem'.",
    },
  );
});

function tlsOf(url: string): unknown {
  return (new pg.Client(connectionTo(url)) as unknown as { ssl: unknown }).ssl;
}
