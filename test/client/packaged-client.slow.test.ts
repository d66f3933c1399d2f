import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { addAgent } from '../../harness/agents.ts';
import { clientsFolder, skipWithout } from '../../harness/clients.ts';
import { startService } from '../../harness/service.ts';
import { buildClientPackage } from '../../release/client-package.ts';
import { signedHeaders } from '../../src/core/event/sign.ts';
import { generateWebhookSecret } from '../../src/core/standard-webhooks.ts';

/** The package of the client on each Node that it supports: installed, or with its folder copied. */

const folder = mkdtempSync(join(tmpdir(), 'cueline-package-'));
const service = await startService();
const { key } = await service.key();
const agent = await addAgent(service, { user: 'Explain {{topic}}.' });

before(async () => {
  const built = join(folder, 'built');
  await buildClientPackage(built);
  cpSync(built, join(folder, 'node_modules/cueline-client'), { recursive: true });
  for (const type of ['module', 'commonjs']) {
    const project = join(folder, type);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), JSON.stringify({ type }));
    cpSync(built, join(project, 'client'), { recursive: true });
  }
});
after(async () => {
  rmSync(folder, { recursive: true });
  await service.close();
});

const use = `
async function main() {
  const cueline = createClient({ baseURL: process.env.URL, key: ' ' + process.env.KEY + '\\n' });
  const { status, outputText, executionId } = await cueline.executeAndWait(process.env.AGENT, { topic: 'tides' });
  let streamed = '';
  for await (const { type, data } of cueline.stream(process.env.AGENT, executionId)) if (type === 'text') streamed += data.text;
  const event = await verifyWebhook('{"type":"ping","timestamp":"t","data":{}}', JSON.parse(process.env.HEADERS), process.env.SECRET);
  const refusal = await cueline.status('none', executionId).catch((error) => error);
  console.log(JSON.stringify([status, outputText, streamed, event.type, refusal instanceof CuelineError]));
}
main();
`;
const names = '{ createClient, CuelineError, verifyWebhook }';

/** Programs by the file that they are in. */
const programs = {
  'installed.mjs': `import ${names} from 'cueline-client';`,
  'installed.cjs': `const ${names} = require('cueline-client');`,
  'module/copied.js': `import ${names} from './client/index.mjs';`,
  'module/copied-common.js': `import ${names} from './client/index.js';`,
  'commonjs/copied.js': `const ${names} = require('./client');`,
};

for (const version of ['20', '22', '24']) {
  test(`ES modules and CommonJS on Node ${version}`, {
    skip: skipWithout(`node-${version}`),
  }, async () => {
    const node = join(clientsFolder, `node_modules/node-${version}/bin/node`);
    const secret = generateWebhookSecret();
    const body = '{"type":"ping","timestamp":"t","data":{}}';
    const headers = signedHeaders({ id: 'evt_1', atMs: Date.now(), body }, [secret]);
    const env = {
      URL: service.url,
      KEY: key,
      AGENT: agent.agentId,
      SECRET: secret,
      HEADERS: JSON.stringify(headers),
    };
    for (const [file, beginning] of Object.entries(programs)) {
      writeFileSync(join(folder, file), beginning + use);
      const { stdout } = await promisify(execFile)(node, [join(folder, file)], { env });
      assert.deepEqual(
        JSON.parse(stdout),
        ['success', 'Explain tides.', 'Explain tides.', 'ping', true],
        file,
      );
    }
  });
}

test('the package has no dependencies, and is small', async () => {
  const manifest = JSON.parse(readFileSync(join(folder, 'built/package.json'), 'utf8'));
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
  );
  assert.deepEqual(
    [manifest.version, manifest.dependencies, manifest.scripts],
    [version, undefined, undefined],
  );
  const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json'], {
    cwd: join(folder, 'built'),
  });
  const [packed] = JSON.parse(stdout);
  assert.ok(packed.unpackedSize < 600_000, String(packed.unpackedSize));
});
