import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../harness/free-port.ts';
import { deployed } from '../../harness/openai-agents.ts';
import { startService } from '../../harness/service.ts';
import { signedHeaders } from '../../src/core/event/sign.ts';
import { generateWebhookSecret } from '../../src/core/standard-webhooks.ts';

/** Runs the snippets of Cueline's own clients in docs/clients.md, and that of the package's README. */

const service = await startService();
after(service.close);
const { key } = await service.key();
await deployed(service, { user: '{{topic}}' }, { agentName: 'Explainer' });

const root = join(import.meta.dirname, '../..');
const docs = readFileSync(join(root, 'docs/clients.md'), 'utf8');
const readme = readFileSync(join(root, 'clients/typescript/README.md'), 'utf8');
const skip = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not installed';

/** The command that runs the snippet with this heading. The slow suite tests the package; here, its source does. */
function commandOf(text: string, heading: string): [program: string, args: string[]] {
  const [, code = ''] =
    new RegExp(`^\`\`\`${heading}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(text) ?? [];
  if (heading.startsWith('python')) return ['python3', ['-c', code]];
  const client = pathToFileURL(join(root, 'src/client/index.ts')).href;
  const runnable = code
    .replace("'cueline-client'", `'${client}'`)
    .replace('http://127.0.0.1:4000', service.url);
  assert.notEqual(runnable, code);
  return [process.execPath, ['--input-type=module-typescript', '-e', runnable]];
}

function envOf(more: Readonly<Record<string, string>> = {}) {
  const own = {
    PATH: process.env.PATH,
    PYTHONPATH: join(root, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return { ...own, CUELINE_URL: service.url, CUELINE_KEY: key, ...more };
}

async function output(text: string, heading: string): Promise<string> {
  const { stdout } = await promisify(execFile)(...commandOf(text, heading), { env: envOf() });
  return stdout;
}

test('TypeScript', async () => {
  assert.equal(await output(docs, 'ts cueline-client'), 'success tides\nwaves');
  assert.equal(await output(readme, 'ts'), 'success tides undefined\n');
});

test('Python', { skip }, async () => {
  assert.equal(await output(docs, 'python cueline'), 'success tides\nwaves1 success moons\n');
});

for (const heading of ['ts cueline-client receiver', 'python cueline receiver']) {
  test(`${heading}: a signed event is accepted, another one is 401`, {
    skip: heading.startsWith('python') && skip,
  }, async (t) => {
    const [port, secret] = [await freePort(), generateWebhookSecret()];
    const child = spawn(...commandOf(docs, heading), {
      ...{
        env: envOf({ PORT: String(port), SECRET: secret }),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    });
    t.after(() => child.kill());
    const type = 'execution.succeeded';
    const body = JSON.stringify({ type, timestamp: 't', data: { executionId: 'exe_1' } });
    const post = async (by: string) => {
      const headers = signedHeaders({ id: 'evt_1', atMs: Date.now(), body }, [by]);
      for (;;) {
        assert.equal(child.exitCode, null, 'the receiver ended');
        // Until it listens.
        const answer = await fetch(`http://127.0.0.1:${port}/`, {
          method: 'POST',
          headers,
          body,
        }).catch(() => null);
        if (answer) return answer.status;
      }
    };
    assert.deepEqual([await post(generateWebhookSecret()), await post(secret)], [401, 204]);
    const [printed] = await child.stdout.setEncoding('utf8').take(1).toArray();
    assert.equal(printed, 'evt_1 exe_1\n');
  });
}
